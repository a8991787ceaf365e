import type { RedisSettings } from '../../../config/config.ts';
import type { Outcome, Target, TargetOptions } from '../../transfer/port.ts';
import type { Batch, RecordType, ValueOf } from '../../transfer/records.ts';
import { BanList } from '../ban-list.ts';
import { EVERYTHING_CHANGED } from '../bus.ts';
import { disconnect } from '../client.ts';
import { RedisState } from '../counters.ts';
import { CHANNEL, keyOf } from '../key-names.ts';
import { redisName } from '../open.ts';
import { withTimeout } from '../timeouts.ts';
import { importCounters } from './counters.ts';
import { takeKeys } from './keys.ts';
import { auditTaking, takeTokens, takeUses } from './records.ts';
import { countsIn, openToCopy, recordsIn } from './source.ts';

/**
 * Gateways may use the target meanwhile. At the end they are notified that anything may have changed.
 * Throws RedisError after closing the connection.
 */
export async function openRedisTarget(settings: RedisSettings, options: TargetOptions): Promise<Target> {
  const redis = await openToCopy(settings);
  const { dryRun } = options;
  const audit = auditTaking(redis, options.audit, 'audit');
  const bans = auditTaking(redis, options.audit, 'bans');
  // While there is little data, if the index is missing.
  try {
    if (!dryRun) await new RedisState(redis).bans();
  } catch (error) {
    disconnect(redis);
    throw error;
  }
  // Only adds bans.
  const index = new BanList(redis, { clock: () => '', banOf: async () => null });
  const note = (bans: Parameters<BanList['add']>[0]) => index.add(bans);
  let hasChanged = false;

  const taking: { [T in RecordType]: (values: readonly ValueOf[T][]) => Promise<Outcome[]> } = {
    key: (keys) => takeKeys(redis, keys, dryRun),
    token: (tokens) => takeTokens(redis, tokens, dryRun),
    audit: (entries) => audit.take(entries, dryRun),
    ban: (entries) => bans.take(entries, dryRun),
    ledger: (counters) => importCounters(redis, counters, { ...options, note }),
    use: (uses) => takeUses(redis, uses, dryRun),
  };

  async function notify(): Promise<void> {
    if (!hasChanged) return;
    hasChanged = false;
    await withTimeout(redis.publish(CHANNEL, EVERYTHING_CHANGED));
  }

  return {
    name: redisName(settings),
    isUsed: async () =>
      (await withTimeout(redis.exists(keyOf.apiKeys))) +
        (await withTimeout(redis.exists(keyOf.tokens))) +
        (await withTimeout(redis.exists(keyOf.audit))) >
      0,
    held: () => recordsIn(redis),
    take({ type, values }) {
      // A failed batch may have changed data too.
      hasChanged ||= !dryRun;
      return (taking[type] as (values: Batch['values']) => Promise<Outcome[]>)(values);
    },
    async finish(entry) {
      if (entry) await audit.append(entry);
      await notify();
      return countsIn(redis);
    },
    async close() {
      // After a failure; Redis may be down.
      await notify().catch(() => {});
      disconnect(redis);
    },
  };
}
