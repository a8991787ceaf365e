import type { KeyRecord } from '../../../keys/key.ts';
import type { AuditDraft, AuditEntry } from '../../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';
import type { Outcome, Target, TargetOptions } from '../../transfer/port.ts';
import type { Batch, LastUse, SubjectCounters } from '../../transfer/records.ts';
import { BanList } from '../ban-list.ts';
import type { Connection } from '../client.ts';
import { RedisState } from '../counters.ts';
import { CHANNEL, keyOf } from '../key-names.ts';
import { EVERYTHING_CHANGED } from '../messages.ts';
import { withTimeout } from '../timeouts.ts';
import { importCounters } from './counters.ts';
import { takeKeys } from './keys.ts';
import { auditTaking, takeTokens, takeUses } from './records.ts';
import { countsIn, recordsIn } from './source.ts';

/** Gateways may use the target meanwhile. At the end they are notified that anything may have changed. */
export async function redisTarget(
  redis: Connection,
  { name, close, ...options }: TargetOptions & Pick<Target, 'name' | 'close'>,
): Promise<Target> {
  const { dryRun } = options;
  const audit = auditTaking(redis, options.audit, 'audit');
  const bans = auditTaking(redis, options.audit, 'bans');
  // While there is little data, if the index is missing.
  if (!dryRun) await new RedisState(redis).bans();
  // Only adds bans.
  const index = new BanList(redis, { clock: () => '', banOf: async () => null });
  const note = (bans: Parameters<BanList['add']>[0]) => index.add(bans);
  let hasChanged = false;

  function takeAll({ type, values }: Batch): Promise<Outcome[]> {
    switch (type) {
      case 'key':
        return takeKeys(redis, values as readonly KeyRecord[], dryRun);
      case 'token':
        return takeTokens(redis, values as readonly TokenRecord[], dryRun);
      case 'audit':
        return audit.take(values as readonly AuditEntry[], dryRun);
      case 'ban':
        return bans.take(values as readonly AuditEntry[], dryRun);
      case 'ledger':
        return importCounters(redis, values as readonly SubjectCounters[], { ...options, note });
      default:
        return takeUses(redis, values as readonly LastUse[], dryRun);
    }
  }

  async function notify(): Promise<void> {
    if (!hasChanged) return;
    hasChanged = false;
    await withTimeout(redis.publish(CHANNEL, EVERYTHING_CHANGED));
  }

  return {
    name,
    isUsed: async () =>
      (await withTimeout(redis.exists(keyOf.apiKeys))) +
        (await withTimeout(redis.exists(keyOf.tokens))) +
        (await withTimeout(redis.exists(keyOf.audit))) >
      0,
    held: () => recordsIn(redis),
    async take(batch) {
      // A failed batch may have changed data too.
      hasChanged ||= !dryRun;
      return takeAll(batch);
    },
    async finish(entry: AuditDraft | null) {
      if (entry) await audit.append(entry);
      await notify();
      return countsIn(redis);
    },
    async close() {
      // After a failure; Redis may be down.
      await notify().catch(() => {});
      await close();
    },
  };
}
