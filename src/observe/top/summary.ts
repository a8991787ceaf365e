/** How often something came, as far as it is known. The true number is at most `count`, and at least `count - error`. */
export interface Counted<T> {
  readonly key: string;
  readonly count: number;
  readonly error: number;
  /** When it came last, Unix milliseconds. */
  readonly last: number;
  /** What is told of it. */
  readonly about: T;
}

/** What came most often of all that was counted. */
export interface Summary<T> {
  /** How much was counted in all. */
  readonly total: number;
  /** Nothing that is missing here came more often. Never above `total` by the number of items that there may be. */
  readonly floor: number;
  /** The most frequent one first. */
  readonly items: readonly Counted<T>[];
}

interface Sum<T> {
  count: number;
  error: number;
  last: number;
  about: T;
  /** The floors of the summaries that have it. */
  floors: number;
}

/**
 * One summary of at most `size` items for what several have counted, each of which may have had `size` items or more. All that a
 * Summary promises stays true, and `floor` stays at or below `total / size`, however often summaries are merged: this is the merge of
 * Agarwal et al., "Mergeable Summaries" (PODS 2012), in the form of Cafaro et al., "A parallel space saving algorithm for
 * frequent items" (2016).
 */
export function mergeSummaries<T>(summaries: readonly Summary<T>[], size: number): Summary<T> {
  const total = summaries.reduce((sum, one) => sum + one.total, 0);
  const floors = summaries.reduce((sum, { floor }) => sum + floor, 0);
  const items = sumsOf(summaries).map(([key, { floors: known, ...sum }]): Counted<T> => {
    // Where it is missing it may have come as often as the floor says.
    const missed = floors - known;
    return { key, ...sum, count: sum.count + missed, error: sum.error + missed };
  });
  items.sort(byCount);
  return { total, floor: Math.max(floors, items[size]?.count ?? 0), items: items.slice(0, size) };
}

function sumsOf<T>(summaries: readonly Summary<T>[]): [string, Sum<T>][] {
  const sums = new Map<string, Sum<T>>();
  for (const { items, floor } of summaries) {
    for (const { key, count, error, last, about } of items) {
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { count, error, last, about, floors: floor });
      else {
        sum.count += count;
        sum.error += error;
        sum.floors += floor;
        if (last > sum.last) Object.assign(sum, { last, about });
      }
    }
  }
  return [...sums];
}

/** Of two that came as often, always the same one is first. */
function byCount<T>(one: Counted<T>, other: Counted<T>): number {
  return other.count - one.count || (one.key < other.key ? -1 : 1);
}
