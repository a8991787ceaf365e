import type { AuditSettings, RedisSettings } from '../../../config/config.ts';
import type { AuditDraft, AuditEntry } from '../../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';
import type {
  Batch,
  Outcome,
  RecordType,
  Target,
  TargetOptions,
  ValueOf,
} from '../../transfer/records.ts';
import { decideToken, KnownEntries, takeUses } from '../../transfer/rules.ts';
import { auditEntriesIn, LOGS, type LogName } from '../audit-entries.ts';
import { type Connection, disconnect } from '../client.ts';
import { RedisState } from '../counters.ts';
import { repairKeyIndex } from '../key-index-repair.ts';
import { CHANNEL, keyOf } from '../key-names.ts';
import { redisName } from '../open.ts';
import { tokensIn, usesInRedis } from '../records.ts';
import { loadScript, runScript } from '../scripts.ts';
import { EVERYTHING_CHANGED } from '../subscriber.ts';
import { withTimeout } from '../timeouts.ts';
import { importCounters } from './counters.ts';
import { takeKeys } from './keys.ts';
import { countsIn, entriesIn, openToCopy, recordsIn } from './source.ts';

const NUMBER = loadScript('number-2.lua');

/**
 * Gateways may use the target meanwhile. At the end they are notified that anything may have
 * changed. Throws RedisError after closing the connection.
 */
export async function openRedisTarget(
  settings: RedisSettings,
  options: TargetOptions,
): Promise<Target> {
  const { dryRun } = options;
  const redis = await openToCopy(settings, async (redis) => {
    if (dryRun) return;
    // While there is little data, if the indices are missing.
    await new RedisState(redis).bans();
    if ((await redis.zcard(keyOf.apiKeys)) === 0) await repairKeyIndex(redis, async () => {});
  });
  const audit = auditTaking(redis, options.audit, 'audit');
  const bans = auditTaking(redis, options.audit, 'bans');
  let hasChanged = false;

  const taking: { [T in RecordType]: (values: readonly ValueOf[T][]) => Promise<Outcome[]> } = {
    key: (keys) => takeKeys(redis, keys, dryRun),
    token: (tokens) => takeTokens(redis, tokens, dryRun),
    audit: (entries) => audit.take(entries, dryRun),
    ban: (entries) => bans.take(entries, dryRun),
    ledger: (counters) => importCounters(redis, counters, options),
    use: (uses) => takeUses(usesInRedis(redis), uses, options),
  };

  async function notify(): Promise<void> {
    if (!hasChanged) return;
    hasChanged = false;
    await withTimeout(redis.publish(CHANNEL, EVERYTHING_CHANGED));
  }

  return {
    name: redisName(settings),
    async isUsed() {
      const names = [keyOf.apiKeys, keyOf.tokens, keyOf.audit];
      return (await withTimeout(Promise.all(names.map((name) => redis.exists(name))))).includes(1);
    },
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

async function takeTokens(
  redis: Connection,
  given: readonly TokenRecord[],
  dryRun: boolean,
): Promise<Outcome[]> {
  const stored = await withTimeout(tokensIn(redis));
  const outcomes: Outcome[] = [];
  for (const token of given) {
    const taken = decideToken(token, stored);
    if (taken === 'added' && !dryRun)
      await withTimeout(redis.hsetnx(keyOf.tokens, token.name, JSON.stringify(token)));
    if (taken === 'added') stored.push(token);
    outcomes.push(taken);
  }
  return outcomes;
}

/** Imports entries into a log. An empty log keeps the entries' numbers, up to the first gap. */
function auditTaking(redis: Connection, settings: AuditSettings, log: LogName) {
  const entries = auditEntriesIn(redis, settings, log);
  let known: KnownEntries | null = null;

  async function read(): Promise<KnownEntries> {
    const found = new KnownEntries(
      log === 'audit' ? settings.maxEntries : settings.bans.maxEntries,
    );
    for await (const { values } of entriesIn(redis, log))
      for (const entry of values) found.note(entry);
    return found;
  }

  return {
    async take(given: readonly AuditEntry[], dryRun: boolean): Promise<Outcome[]> {
      const isFirst = known === null;
      known ??= await read();
      const outcomes = given.map((entry) => known!.decide(entry));
      if (dryRun) return outcomes;
      const [first] = given;
      if (isFirst && first && known.isEmpty)
        await withTimeout(runScript(redis, NUMBER, LOGS[log], [first.number - 1]));
      const added = given.filter((_, i) => outcomes[i] === 'added');
      await entries.appendAll(added.map(({ number: _, ...entry }) => entry));
      return outcomes;
    },
    append: (entry: AuditDraft) => entries.append(entry),
  };
}
