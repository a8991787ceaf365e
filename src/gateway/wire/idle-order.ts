export interface IdlePlace {
  /** Milliseconds on the clock of `performance.now()`. */
  readonly since: number;
  readonly isKnown: boolean;
  /** Carries clients of many networks. */
  readonly isProxy: boolean;
  /** The same object for all of a network; `open` includes busy connections. */
  readonly network: { readonly open: number };
}

/** Above the most connections that the settings allow. */
const ABOVE_MOST = 2 ** 20;

/**
 * The order in which idle connections are closed: unknown clients first, then whose network holds
 * most at that point, then the longest idle. A trusted proxy counts as a network that holds one.
 */
export function inOrderOfEnd<P extends IdlePlace>(places: readonly P[]): P[] {
  const ranked: { place: P; rank: number }[] = [];
  const remaining = new Map<object, number>();
  const ordered = sortedBy(places, ({ since }) => since);
  const unknown = ordered.filter(({ isKnown }) => !isKnown);
  const keyed = ordered.filter(({ isKnown }) => isKnown);
  for (const place of [...unknown, ...keyed]) {
    const { network, isProxy, isKnown } = place;
    const holds = remaining.get(network) ?? network.open;
    remaining.set(network, holds - 1);
    const fewness = ABOVE_MOST - (isProxy ? 1 : holds);
    ranked.push({ place, rank: isKnown ? ABOVE_MOST + fewness : fewness });
  }
  return sortedBy(ranked, ({ rank }) => rank).map(({ place }) => place);
}

/**
 * Rounds the keys. A native sort of numbers takes a quarter of the time of one with a comparator.
 */
function sortedBy<T>(items: readonly T[], key: (item: T) => number): T[] {
  const keys = items.map(key);
  const least = keys.reduce((a, b) => Math.min(a, b), 0);
  const packed = new Float64Array(items.length);
  for (const [i, one] of keys.entries())
    packed[i] = Math.round(one - least) * items.length + i;
  const sorted: T[] = [];
  for (const number of packed.sort())
    sorted.push(items[number % items.length]!);
  return sorted;
}
