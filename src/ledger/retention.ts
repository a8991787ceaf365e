import { DAY } from '../common/time.ts';
import { blockIn, blockName, startOf } from './names.ts';

/** Milliseconds of minutes without keys. */
const TRAFFIC = 2 * DAY;

export interface Retention {
  /** Milliseconds. */
  readonly hours: number;
  readonly days: number;
  /** Of all blocks. */
  readonly maxBytes: number;
}

type Sizes = ReadonlyMap<string, number>;

/**
 * Whether a span is too old: by the clock, and because as many newer spans are stored. So a clock
 * that jumps removes nothing, and usage does not age while no gateway runs. `starts`: of all that
 * is stored.
 */
export function oldIn(
  starts: Iterable<number>,
  span: number,
  now: number,
): (start: number, keep: number) => boolean {
  const stored = new Set([...starts].map((start) => startOf(start, span)));
  const newestFirst = [...stored].sort((one, other) => other - one);
  return (start, keep) => {
    const newest = newestFirst[Math.ceil(keep / span)];
    return newest !== undefined && start < newest + span && start < now - keep;
  };
}

/**
 * Names of blocks that are too old, and those above `maxBytes`. Hours are kept until
 * a day contains them, and usage that no receiver accepts as long as hours. `bytes`: of the rest.
 * `now`: by the clock of the store.
 */
export function expired(
  all: Sizes,
  { hours, days, maxBytes }: Retention,
  now: number,
) {
  const sizes = new Map([...all].filter(([name]) => blockIn(name) !== null));
  const hasDay = (start: number) =>
    all.has(blockName('d', startOf(start, DAY)));
  const starts = [...sizes.keys()].map((name) => blockIn(name)!.start);
  const isOld = oldIn(starts, DAY, now);
  const old = [...sizes.keys()].filter((name) => {
    const { kind, start } = blockIn(name)!;
    if (kind === 't') return isOld(start, TRAFFIC);
    if (kind === 'x') return isOld(start, hours);
    if (kind === 'h') return isOld(startOf(start, DAY), hours) && hasDay(start);
    return kind === 'd' && isOld(start, days);
  });
  for (const name of old) sizes.delete(name);
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const dropped: string[] = [];
  for (const group of byWorth([...sizes.keys()], hasDay)) {
    if (bytes <= maxBytes) break;
    bytes -= group.reduce((sum, name) => sum + sizes.get(name)!, 0);
    dropped.push(...group);
  }
  return { bytes, old, dropped };
}

/**
 * What goes together, least first: minutes of traffic, hours that a day contains, what was not
 * exported and is in days too, the oldest days.
 */
function byWorth(
  names: readonly string[],
  hasDay: (start: number) => boolean,
): string[][] {
  const ranks: Readonly<Record<string, number>> = { t: 0, h: 1, x: 2, d: 3 };
  const ranked = names.flatMap((name) => {
    const { kind, start } = blockIn(name)!;
    const isNeeded = kind === 'm' || (kind === 'h' && !hasDay(start));
    return isNeeded
      ? []
      : [{ name, rank: ranks[kind]!, day: startOf(start, DAY) }];
  });
  const sorted = ranked.sort(
    (one, other) => one.rank - other.rank || one.day - other.day,
  );
  const groups = Map.groupBy(sorted, ({ rank, day }) => `${rank} ${day}`);
  return [...groups.values()].map((group) => group.map(({ name }) => name));
}
