/** The true number is from `count - error` to `count`. */
export interface Counted<T> {
  readonly key: string;
  readonly count: number;
  readonly error: number;
  /** Unix milliseconds. */
  readonly last: number;
  readonly about: T;
}

export interface Summary<T> {
  readonly total: number;
  /** Missing items came at most this often. `floor` is at most `total` divided by the capacity. */
  readonly floor: number;
  /** Most frequent first. */
  readonly items: readonly Counted<T>[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** `null`: a new item, which the caller must describe. */
type Item<T> = Writable<Counted<T | null>>;

/**
 * Counts the most frequent items as in Misra and Gries ("Finding repeated elements", 1982), with
 * upper bounds. The rare half is dropped at once if there are twice as many items as counters:
 * Anderson et al., IMC 2017.
 */
export class FrequentItems<T> {
  readonly #size: number;
  readonly #items = new Map<string, Item<T>>();
  #total = 0;
  #floor = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(key: string, now: number): Item<T> {
    this.#total++;
    let item = this.#items.get(key);
    if (item === undefined) {
      if (this.#items.size === 2 * this.#size) this.#dropRare();
      item = { key, count: this.#floor, error: this.#floor, last: now, about: null };
      this.#items.set(key, item);
    }
    item.count++;
    item.last = now;
    return item;
  }

  summary(): Summary<T> {
    const items = [...this.#items.values()] as Counted<T>[];
    return mergeSummaries([{ total: this.#total, floor: this.#floor, items }], this.#size);
  }

  /** At most `size` items have a higher count than the new floor. */
  #dropRare(): void {
    const counts = new Float64Array(this.#items.size);
    let at = 0;
    for (const { count } of this.#items.values()) counts[at++] = count;
    this.#floor = counts.sort().at(-1 - this.#size)!;
    for (const [key, { count }] of this.#items) if (count <= this.#floor) this.#items.delete(key);
  }
}

/** `floors`: the sum of the floors of the summaries that have it. */
type Sum<T> = Writable<Counted<T>> & { floors: number };

/**
 * Mergeable summaries (Agarwal et al., PODS 2012; Cafaro et al., "A parallel space saving algorithm
 * for frequent items", 2016): all guarantees of Summary survive any number of merges.
 */
export function mergeSummaries<T>(summaries: readonly Summary<T>[], size: number): Summary<T> {
  const total = summaries.reduce((sum, one) => sum + one.total, 0);
  const floors = summaries.reduce((sum, { floor }) => sum + floor, 0);
  const items = sumsOf(summaries).map(({ floors: known, ...sum }): Counted<T> => {
    // An absent item may have come as often as the floor.
    const missed = floors - known;
    return { ...sum, count: sum.count + missed, error: sum.error + missed };
  });
  items.sort(byCount);
  return { total, floor: Math.max(floors, items[size]?.count ?? 0), items: items.slice(0, size) };
}

function sumsOf<T>(summaries: readonly Summary<T>[]): Sum<T>[] {
  const sums = new Map<string, Sum<T>>();
  for (const { items, floor } of summaries) {
    for (const item of items) {
      const sum = sums.get(item.key);
      if (sum === undefined) sums.set(item.key, { ...item, floors: floor });
      else {
        const { last, about } = item.last > sum.last ? item : sum;
        Object.assign(sum, { last, about });
        sum.count += item.count;
        sum.error += item.error;
        sum.floors += floor;
      }
    }
  }
  return [...sums.values()];
}

/** Ties have a fixed order. */
function byCount<T>(one: Counted<T>, other: Counted<T>): number {
  return other.count - one.count || (one.key < other.key ? -1 : 1);
}
