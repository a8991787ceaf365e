import { total } from '../../format.ts';
import type { Outcome } from '../../parts/series.ts';
import type { UsageRow } from '../usage/rows.ts';

/** Rows of `by=status,code`. */
export function outcomeOf({
  status = 0,
  code = null,
}: Pick<UsageRow, 'status' | 'code'>): Outcome {
  if (code === 'key_banned') return 'banned';
  if (code !== null && status === 429) return 'limited';
  if (status >= 500) return 'failed';
  return status < 400 ? 'answered' : 'refused';
}

const isRefusal = (row: UsageRow): boolean => outcomeOf(row) !== 'answered';

interface Line {
  /** The column of the time. */
  readonly by: 'minute' | 'hour' | 'day';
  /** Milliseconds of a step. */
  readonly length: number;
}

/** Begins of steps from a time to now, Unix milliseconds. */
export function startsOf(
  from: string,
  { length }: Line,
  now = Date.now(),
): number[] {
  const first = Math.floor(Date.parse(from) / length) * length;
  return Array.from(
    { length: Math.max(1, Math.ceil((now - first) / length)) },
    (_, i) => {
      return first + i * length;
    },
  );
}

/** The requests of each step; `null` before `since`, when nothing was counted. */
export function requestsOf(
  rows: readonly UsageRow[],
  starts: readonly number[],
  { by, length }: Line,
  since: string | null,
): (number | null)[] {
  const inStep = Map.groupBy(rows, (row) => Date.parse(row[by]!));
  const begin = since === null ? Number.POSITIVE_INFINITY : Date.parse(since);
  return starts.map((start) => {
    const some = inStep.get(start);
    if (some) return total(some, ({ requests }) => requests);
    return start + length <= begin ? null : 0;
  });
}

/** Sums of the rows that have the same code (or status) and operation; most first. */
export function refusalsIn(rows: readonly UsageRow[]) {
  const groups = Map.groupBy(
    rows.filter(isRefusal),
    ({ status, code, operation }) => JSON.stringify([status, code, operation]),
  );
  return [...groups.values()]
    .map((some) => ({
      ...some[0]!,
      requests: total(some, ({ requests }) => requests),
    }))
    .sort((one, other) => other.requests - one.requests);
}
