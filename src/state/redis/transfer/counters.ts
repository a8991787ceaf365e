import { type Counters, staleAt } from '../../../limits/counters.ts';
import {
  type Outcome,
  type SubjectCounters,
  type TargetOptions,
  TransferError,
} from '../../transfer/records.ts';
import { decideCounters } from '../../transfer/rules.ts';
import { type EndOfBan, indexBans } from '../ban-list.ts';
import { scriptOnAll } from '../bulk.ts';
import type { Connection } from '../client.ts';
import { keyOf } from '../key-names.ts';
import { loadScript } from '../scripts.ts';
import { formatCounters, parseStoredCounters, type StoredCounters } from './stored-counters.ts';

const READ = loadScript('counters-n.lua');
const PUT = loadScript('put-n.lua');
const DONE = '1';
/** See `parseStoredCounters`. */
const MISSING = '';

/**
 * Gateways may charge counters meanwhile: counters that changed since they were read are not
 * written, but judged again.
 */
export async function importCounters(
  redis: Connection,
  given: readonly SubjectCounters[],
  { clock, dryRun }: TargetOptions,
): Promise<Outcome[]> {
  const now = clock();
  const outcomes: Outcome[] = [];
  const bans: EndOfBan[] = [];
  const noteBan = (subject: string, { strikeState }: Counters) => {
    if (strikeState && strikeState.bannedUntil > now)
      bans.push({ subject, until: strikeState.bannedUntil });
  };
  let open = given.map((one, place) => ({ ...one, place }));
  // The first write shows which counters exist.
  const names = given.map(({ subject }) => ({ key: keyOf.counters(subject) }));
  let answers: unknown[] = dryRun
    ? await scriptOnAll(redis, READ, names)
    : given.map(() => MISSING);
  while (open.length > 0) {
    const puts = open.flatMap((one, i) => {
      const stored = storedIn(answers[i], one.subject);
      const { taken, write } = decideCounters(one.counters, stored?.counters ?? null, now);
      outcomes[one.place] = taken;
      if (write !== null && !dryRun) return [{ one, write, stored }];
      // Includes existing bans: an interrupted transfer may not have indexed them.
      if (stored && taken !== 'over') noteBan(one.subject, stored.counters);
      return [];
    });
    const commands = puts.map(({ one, write, stored }) => {
      const args = [stored?.digest ?? '', staleAt(write), ...formatCounters(write)];
      return { key: keyOf.counters(one.subject), args };
    });
    answers = await scriptOnAll(redis, PUT, commands);
    for (const [i, { one, write }] of puts.entries())
      if (answers[i] === DONE) noteBan(one.subject, write);
    open = puts.filter((_, i) => answers[i] !== DONE).map(({ one }) => one);
    answers = answers.filter((answer) => answer !== DONE);
  }
  if (!dryRun) await indexBans(redis, bans);
  return outcomes;
}

function storedIn(answer: unknown, subject: string): StoredCounters | null {
  const stored = parseStoredCounters(answer);
  if (stored !== 'foreign') return stored;
  throw new TransferError(
    `the Redis key ${keyOf.counters(subject)} holds other data than counters: delete it`,
  );
}
