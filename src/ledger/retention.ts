import { DAY } from '../common/time.ts';
import { type SumName, startOf, sumIn } from './names.ts';

/** Milliseconds of minutes without keys. */
const TRAFFIC = 2 * DAY;

export interface Retention {
  /** Milliseconds. */
  readonly hours: number;
  readonly days: number;
  /** Of all sums. */
  readonly maxBytes: number;
}

interface StoredSum extends SumName {
  readonly name: string;
  readonly day: number;
  readonly size: number;
}

/** Whether a span has ended, or is from a clock that was ahead: it lies more than a day ahead. */
export const isOver = (start: number, length: number, now: number): boolean =>
  start + length <= now || start > now + DAY;

/**
 * Whether a day is too old: by the clock, and because as many newer days are stored. So a clock that
 * jumps removes nothing, and usage does not age while no gateway runs.
 */
function oldIn(days: Iterable<number>, now: number) {
  const newestFirst = [...new Set(days)].sort((one, other) => other - one);
  return (day: number, keep: number) => {
    const newest = newestFirst[Math.ceil(keep / DAY)];
    return newest !== undefined && day < newest + DAY && day < now - keep;
  };
}

/**
 * Names of sums that are too old, and those above `maxBytes`. Hours are kept
 * until a day contains them, and usage that waits for its export as long as
 * hours. `bytes`: of the rest. `now`: by the clock of the store.
 */
export function expired(
  sizes: ReadonlyMap<string, number>,
  { hours, days, maxBytes }: Retention,
  now: number,
) {
  const all = [...sizes].flatMap(([name, size]): StoredSum[] => {
    const sum = sumIn(name);
    return sum ? [{ ...sum, name, size, day: startOf(sum.start, DAY) }] : [];
  });
  const isOld = oldIn(
    all.map(({ day }) => day),
    now,
  );
  const complete = new Set(
    all.flatMap(({ kind, day }) => (kind === 'd' ? [day] : [])),
  );
  const keep = { t: TRAFFIC, x: hours, h: hours, d: days, m: Infinity };
  const old = all.filter(
    ({ kind, day }) =>
      isOld(day, keep[kind]) && (kind !== 'h' || complete.has(day)),
  );
  const gone = new Set(old);
  const rest = all.filter((sum) => !gone.has(sum));
  let bytes = rest.reduce((sum, { size }) => sum + size, 0);
  const dropped: StoredSum[] = [];
  for (const group of byWorth(rest, complete)) {
    if (bytes <= maxBytes) break;
    bytes -= group.reduce((sum, { size }) => sum + size, 0);
    dropped.push(...group);
  }
  return { bytes, old: namesOf(old), dropped: namesOf(dropped) };
}

const namesOf = (sums: readonly StoredSum[]) => sums.map(({ name }) => name);

/**
 * What goes together, least first: traffic of minutes, hours that a day contains, what was not
 * exported and is in days too, the oldest days.
 */
function byWorth(
  sums: readonly StoredSum[],
  complete: ReadonlySet<number>,
): Iterable<StoredSum[]> {
  const ranks = { t: 0, h: 1, x: 2, d: 3, m: 4 };
  const sorted = sums
    .filter(
      ({ kind, day }) => kind !== 'm' && (kind !== 'h' || complete.has(day)),
    )
    .sort(
      (one, other) =>
        ranks[one.kind] - ranks[other.kind] || one.day - other.day,
    );
  return Map.groupBy(sorted, ({ kind, day }) => `${kind} ${day}`).values();
}
