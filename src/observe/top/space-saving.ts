import type { Summary } from './summary.ts';

/** One counter. */
export interface Place<T> {
  key: string;
  count: number;
  error: number;
  last: number;
  /** `null`: another key has had this place until now, and whoever counts says what is to be told of the new one. */
  about: T | null;
  /** The count by which the heap has ordered it; counts only grow, so it is never above `count`. */
  ordered: number;
}

/**
 * Counts the most frequent of very many keys with few counters: a new key takes the place of the one that came least, and its count
 * with it (Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005). So no
 * count is too low, and none is too high by more than a `size`th of all.
 *
 * The lowest counter is found by a heap that a count does not touch: it is put in order when a place is needed. A key that
 * has a place costs one look into a map.
 */
export class SpaceSaving<T> {
  readonly #size: number;
  readonly #places = new Map<string, Place<T>>();
  readonly #heap: Place<T>[] = [];
  #total = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Counts `key` once, at `now`. Answers its place. */
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

  /** What was counted since the last time that it was emptied. */
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
    // Every other one has counted something, so this one goes to the top.
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

  /** Moves what is at the top down to where it belongs. */
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
