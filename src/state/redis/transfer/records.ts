import type { AuditSettings } from '../../../config/config.ts';
import type { AuditDraft, AuditEntry } from '../../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';
import type { Outcome } from '../../transfer/port.ts';
import type { LastUse } from '../../transfer/records.ts';
import { decideToken, KnownEntries } from '../../transfer/rules.ts';
import { AuditEntries, LOGS, type LogName } from '../audit-entries.ts';
import type { Connection } from '../client.ts';
import { keyOf } from '../key-names.ts';
import { usesInRedis } from '../last-uses.ts';
import { loadScript, runScript } from '../scripts.ts';
import { withTimeout } from '../timeouts.ts';
import { tokensIn } from '../tokens.ts';
import { entriesIn } from './source.ts';

const NUMBER = loadScript('number-2.lua');

export async function takeTokens(
  redis: Connection,
  given: readonly TokenRecord[],
  dryRun: boolean,
): Promise<Outcome[]> {
  const stored = await withTimeout(tokensIn(redis));
  const outcomes: Outcome[] = [];
  for (const token of given) {
    const taken = decideToken(token, stored);
    if (taken === 'added' && !dryRun) await withTimeout(redis.hsetnx(keyOf.tokens, token.name, JSON.stringify(token)));
    if (taken === 'added') stored.push(token);
    outcomes.push(taken);
  }
  return outcomes;
}

export async function takeUses(redis: Connection, given: readonly LastUse[], dryRun: boolean): Promise<Outcome[]> {
  const uses = usesInRedis(redis);
  const known = await uses.load(given.map(({ id }) => id));
  const outcomes = given.map(({ id, at }): Outcome => {
    const before = known.get(id);
    if (before === undefined) return 'added';
    return before === at ? 'same' : before > at ? 'kept' : 'changed';
  });
  if (!dryRun) await uses.save(new Map(given.map(({ id, at }) => [id, at])));
  return outcomes;
}

/** Imports entries into a log. An empty log keeps the entries' numbers, up to the first gap. */
export function auditTaking(redis: Connection, settings: AuditSettings, log: LogName) {
  const entries = new AuditEntries(redis, settings, log);
  let known: KnownEntries | null = null;

  async function read(): Promise<KnownEntries> {
    const found = new KnownEntries(log === 'audit' ? settings.maxEntries : settings.bans.maxEntries);
    for await (const { values } of entriesIn(redis, log)) for (const entry of values) found.note(entry);
    return found;
  }

  return {
    async take(given: readonly AuditEntry[], dryRun: boolean): Promise<Outcome[]> {
      const isFirst = known === null;
      known ??= await read();
      const outcomes = given.map((entry) => known!.decide(entry));
      if (dryRun) return outcomes;
      const [first] = given;
      if (isFirst && first && known.isEmpty) await withTimeout(runScript(redis, NUMBER, LOGS[log], [first.number - 1]));
      const added = given.filter((_, i) => outcomes[i] === 'added');
      await entries.appendAll(added.map(({ number: _, ...entry }) => entry));
      return outcomes;
    },
    append: (entry: AuditDraft) => entries.append(entry),
  };
}
