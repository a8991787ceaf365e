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
 * Names of blocks that are too old, and those that `maxBytes` has no room for. Hours are kept until
 * a day contains them, and usage that no receiver accepts as long as hours. `bytes`: of the rest.
 */
export function expired(
  all: Sizes,
  { hours, days, maxBytes }: Retention,
  now: number,
) {
  const sizes = new Map([...all].filter(([name]) => blockIn(name) !== null));
  const hasDay = (start: number) =>
    all.has(blockName('d', startOf(start, DAY)));
  const old = [...sizes.keys()].filter((name) => {
    const { kind, start } = blockIn(name)!;
    if (kind === 't') return start < now - TRAFFIC;
    if (kind === 'x') return start < now - hours;
    if (kind === 'h') return startOf(start, DAY) < now - hours && hasDay(start);
    return kind === 'd' && start < now - days;
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
