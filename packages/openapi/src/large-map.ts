/** In entries: a Map that grows is copied, which takes 40 ms for 500,000. */
const LARGEST = 32 * 1024;

/** A Map without `undefined` for what grows with a body: each `add` is well below a millisecond. */
export class LargeMap<Key, Value> {
  readonly #parts = [new Map<Key, Value>()];

  get(key: Key): Value | undefined {
    for (const part of this.#parts) {
      const value = part.get(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  /** The key must be new. */
  add(key: Key, value: Value): void {
    if (this.#parts.at(-1)!.size === LARGEST) this.#parts.push(new Map());
    this.#parts.at(-1)!.set(key, value);
  }

  /** More than `count` entries. */
  exceeds(count: number): boolean {
    return this.#parts.length > 1 || this.#parts[0]!.size > count;
  }

  *[Symbol.iterator](): Generator<[Key, Value]> {
    for (const part of this.#parts) yield* part;
  }
}
