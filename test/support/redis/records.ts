import { unlessOutage } from '../../../src/common/errors/outage.ts';
import type { AuditSettings, RedisSettings } from '../../../src/config/config.ts';
import { epochOf } from '../../../src/records/redis/epoch.ts';
import { recordsInRedis } from '../../../src/records/redis/records.ts';
import { createRecordsCopy, type RecordsCopy } from '../../../src/records/redis/records-copy.ts';
import type { Records } from '../../../src/records/storage.ts';
import { connect, disconnect } from '../../../src/state/redis/client.ts';
import { shardsOf } from '../../../src/state/redis/shards.ts';
import { createBus, createSubscriber } from '../../../src/state/redis/subscriber.ts';
import { createCircuitBreakers } from '../../../src/state/shared/circuit-breakers.ts';
import { KEPT } from '../audit.ts';
import { allKeys, entries } from '../records.ts';
import { until } from '../until.ts';
import type { RedisServer } from './server.ts';

export interface OpenedRecords {
  readonly records: Records;
  readonly copy: RecordsCopy;
  /** Errors and invalid data, and 'lost'. */
  readonly failures: unknown[];
  close(): Promise<void>;
}

interface RecordsOptions {
  readonly audit?: AuditSettings;
  /** `null`: the copy is in memory. */
  readonly folder?: string | null;
  readonly maxAge?: number;
  /** It reads the copy of another process, and never takes its place. */
  readonly isWorker?: boolean;
  /** Otherwise no message arrives. */
  readonly isListening?: boolean;
}

/**
 * One connection to Redis, on which records can be opened and closed. `source`: the name of this
 * Redis in copies.
 */
export async function connectRecords(settings: RedisSettings, source = settings.url) {
  const redis = await connect(settings);
  // Each opening listens on it until its end.
  redis.setMaxListeners(0);
  const subscriber = createSubscriber(redis);
  const bus = createBus(subscriber, () => {});
  await bus.begun(60_000);
  const breakers = createCircuitBreakers(shardsOf(redis), settings, () => {});
  const opened = new Set<OpenedRecords>();
  return {
    redis,
    open({
      audit = KEPT,
      folder = null,
      maxAge = 60_000,
      isWorker = false,
      isListening = true,
    }: RecordsOptions = {}): OpenedRecords {
      const failures: unknown[] = [];
      const failed = (error: unknown) => void failures.push(error);
      const epoch = epochOf(redis, {
        lost: () => failed('lost'),
        doubted: () => copy.changed(),
      });
      const copy = createRecordsCopy({
        folder,
        source,
        maxAge,
        isWorker,
        failed,
        invalid: failed,
      });
      copy.follow({
        redis,
        epoch,
        bus: isListening ? bus : { listen: () => () => {}, isLive: false },
        checkReadable: () => {},
        lost: () => failed('lost'),
      });
      const parts = { copy, epoch, breakers, audit, isFit: () => true };
      const one = {
        records: recordsInRedis(redis, parts),
        copy,
        failures,
        async close() {
          opened.delete(one);
          await copy.close();
        },
      };
      opened.add(one);
      return one;
    },
    async close() {
      await Promise.all([...opened].map((one) => one.close()));
      breakers.close();
      subscriber.close();
      disconnect(redis);
    },
  };
}

/** All that people manage, once no reading of all records is in progress. */
export async function modelOf(records: Records) {
  await until('its questions are answered', () =>
    unlessOutage(async () => {
      await records.keys.isEmpty();
      return true;
    }, false),
  );
  return {
    keys: await allKeys(records.keys),
    tokens: await records.tokens.list(),
    audit: await entries(records),
    bans: await records.banLog.list({ limit: 10_000 }),
  };
}

/** Look-ups after every change that was made before: otherwise those of others are milliseconds late. */
export function upToDate(records: Records): Records {
  const { keys } = records;
  const confirmed = async () => void (await keys.isEmpty());
  return {
    ...records,
    keys: {
      ...keys,
      find: async (hash) => {
        await confirmed();
        return keys.find(hash);
      },
      hasImported: async () => {
        await confirmed();
        return keys.hasImported();
      },
    },
  };
}

export type RecordsConnections = Awaited<ReturnType<typeof twoConnections>>;

/** Of two gateways that share a Redis or a Cluster of these masters. */
export async function twoConnections(settings: RedisSettings, masters: readonly RedisServer[]) {
  const connections = [await connectRecords(settings), await connectRecords(settings)] as const;
  let opened: OpenedRecords[] = [];
  return {
    async openEmpty(audit: AuditSettings = KEPT) {
      await Promise.all(opened.map(({ close }) => close()));
      await Promise.all(masters.map(({ admin }) => admin.flushall()));
      opened = connections.map((connection) => connection.open({ audit }));
      const [one, other] = opened.map(({ records }) => upToDate(records)) as [Records, Records];
      for (const { keys } of [one, other]) await keys.isEmpty();
      return { one, other };
    },
    /** Other settings of the same records. */
    open: (audit: AuditSettings) => connections[0].open({ audit }).records,
    async close() {
      await Promise.all(connections.map(({ close }) => close()));
    },
  };
}
