import type { Summary } from './summary.ts';

export interface Place<T> {
  key: string;
  count: number;
  error: number;
  last: number;
  /** `null`: the place has a new key, and the caller must describe it. */
  about: T | null;
  /** The count at the last reordering; never above `count`. */
  ordered: number;
}

/**
 * Space-Saving (Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent and Top-k Elements in Data Streams",
 * 2005): counts are never too low, and too high by at most a `size`th of all.
 *
 * The heap is reordered only when a place is needed, so that counting a known key costs one map lookup.
 */
export class SpaceSaving<T> {
  readonly #size: number;
  readonly #places = new Map<string, Place<T>>();
  readonly #heap: Place<T>[] = [];
  #total = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(key: string, now: number): Place<T> {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#heap.length < this.#size ? this.#append(key) : this.#takeOver(key);
      this.#places.set(key, place);
    }
    place.count++;
    place.last = now;
    this.#total++;
    return place;
  }

  summary(): Summary<T> {
    const items = this.#heap.map(({ key, count, error, last, about }) => ({ key, count, error, last, about: about! }));
    const isFull = items.length === this.#size;
    const floor = isFull ? items.reduce((least, { count }) => Math.min(least, count), Number.POSITIVE_INFINITY) : 0;
    return { total: this.#total, floor, items };
  }

  empty(): void {
    this.#places.clear();
    this.#heap.length = 0;
    this.#total = 0;
  }

  #append(key: string): Place<T> {
    const place: Place<T> = { key, count: 0, error: 0, last: 0, about: null, ordered: 0 };
    let at = this.#heap.push(place) - 1;
    // All other places have counts, so this one goes to the top.
    while (at > 0) {
      const above = (at - 1) >> 1;
      this.#heap[at] = this.#heap[above]!;
      at = above;
    }
    this.#heap[0] = place;
    return place;
  }

  #takeOver(key: string): Place<T> {
    let least = this.#heap[0]!;
    while (least.ordered < least.count) {
      least.ordered = least.count;
      this.#sink(least);
      least = this.#heap[0]!;
    }
    this.#places.delete(least.key);
    least.key = key;
    least.error = least.count;
    least.about = null;
    return least;
  }

  #sink(place: Place<T>): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.ordered < heap[below]!.ordered) below++;
      if (heap[below]!.ordered >= place.ordered) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = place;
  }
}
