import { type Counters, staleAt } from '../../../limits/counters.ts';
import { type Outcome, type SubjectCounters, type TargetOptions, TransferError } from '../../transfer/records.ts';
import { decideCounters, isBanned } from '../../transfer/rules.ts';
import { scriptOnAll, type TaggedKey } from '../bulk.ts';
import type { Connection } from '../client.ts';
import { keyOf } from '../key-names.ts';
import { loadScript } from '../scripts.ts';
import { formatCounters, parseStoredCounters, type StoredCounters } from './stored-counters.ts';

const READ = loadScript('counters-n.lua');
const PUT = loadScript('put-n.lua');
const DONE = '1';

export interface CounterImportOptions extends Pick<TargetOptions, 'escalation' | 'clock' | 'dryRun'> {
  readonly note: (bans: readonly { readonly subject: string; readonly until: number }[]) => Promise<void>;
}

interface Attempt extends SubjectCounters {
  stored: StoredCounters | null;
  write: Counters | null;
  taken: Outcome;
}

/**
 * Gateways may charge counters meanwhile: counters that changed since they were read are not written, but judged again.
 */
export async function importCounters(
  redis: Connection,
  given: readonly SubjectCounters[],
  { escalation, clock, dryRun, note }: CounterImportOptions,
): Promise<Outcome[]> {
  const now = clock();
  const judge = (attempt: Attempt, stored: StoredCounters | null | 'foreign') => {
    if (stored === 'foreign')
      throw new TransferError(
        `the Redis key ${keyOf.counters(attempt.subject)} holds other data than counters: delete it`,
      );
    attempt.stored = stored;
    Object.assign(attempt, decideCounters(attempt.counters, stored?.counters ?? null, { escalation, now }));
  };
  const attempts = given.map((one): Attempt => ({ ...one, stored: null, write: null, taken: 'same' }));
  if (dryRun) {
    const names = given.map(({ subject }) => countersNamed(subject));
    const answers = await scriptOnAll(redis, READ, names);
    for (const [i, answer] of answers.entries()) judge(attempts[i]!, parseStoredCounters(answer));
    return attempts.map(({ taken }) => taken);
  }
  for (const attempt of attempts) judge(attempt, null);
  const written: { subject: string; until: number }[] = [];
  for (let open = attempts.filter(({ write }) => write); open.length > 0; open = open.filter(({ write }) => write)) {
    const puts = open.map(({ subject, stored, write }) => {
      const args = [stored?.digest ?? '', staleAt(write!, escalation), ...formatCounters(write!)];
      return { ...countersNamed(subject), args };
    });
    const answers = await scriptOnAll(redis, PUT, puts);
    for (const [i, attempt] of open.entries()) {
      const { subject, write } = attempt;
      if (answers[i] !== DONE) {
        judge(attempt, parseStoredCounters(answers[i]));
        continue;
      }
      if (isBanned(write!, now)) written.push({ subject, until: write!.strikeState!.bannedUntil });
      attempt.write = null;
    }
  }
  // Includes existing bans: an interrupted transfer may not have indexed them.
  for (const { subject, stored, taken } of attempts)
    if ((taken === 'same' || taken === 'kept') && stored && isBanned(stored.counters, now))
      written.push({ subject, until: stored.counters.strikeState!.bannedUntil });
  await note(written);
  return attempts.map(({ taken }) => taken);
}

function countersNamed(subject: string): TaggedKey {
  return { tag: subject, key: keyOf.counters(subject) };
}
