import type { AuditSettings, RedisSettings } from '../../../src/config/config.ts';
import { repairKeyIndex } from '../../../src/records/redis/key-index-repair.ts';
import { textAt } from '../../../src/records/redis/key-records.ts';
import { recordsInRedis } from '../../../src/records/redis/records.ts';
import type { Records } from '../../../src/records/storage.ts';
import { connect, disconnect } from '../../../src/state/redis/client.ts';
import { shardsOf } from '../../../src/state/redis/shards.ts';
import { createBus, createSubscriber } from '../../../src/state/redis/subscriber.ts';
import { createCircuitBreakers } from '../../../src/state/shared/circuit-breakers.ts';

/** The deadline is long: a busy test machine is not an outage. */
export async function openRecords(settings: RedisSettings): Promise<{
  records: (audit: AuditSettings) => Records;
  index: () => Promise<void>;
  close: () => void;
}> {
  const redis = await connect(settings);
  const subscriber = createSubscriber(redis);
  const bus = createBus(subscriber, () => {});
  await bus.begun(60_000);
  const breakers = createCircuitBreakers(shardsOf(redis), settings, () => {});
  return {
    records: (audit) =>
      recordsInRedis(redis, {
        bus,
        breakers,
        deadline: 60_000,
        audit,
        isFit: () => true,
        lookUp: (name) => textAt(redis, name),
      }),
    /** The lists of keys are used from now on. */
    index: () => repairKeyIndex(redis, async () => {}),
    close() {
      breakers.close();
      subscriber.close();
      disconnect(redis);
    },
  };
}
