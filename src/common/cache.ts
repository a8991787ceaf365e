/**
 * Drops entries not read recently, in two generations. Holds between `size` and twice `size`
 * entries, and no call moves more than one.
 */
export class Cache<V> {
  readonly #size: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(size: number) {
    this.#size = size;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** A key may occur twice. Entries may be added and removed during the iteration. */
  *keys(): Iterable<string> {
    yield* this.#young.keys();
    yield* this.#old.keys();
  }

  /** Does not mark the entry as read. */
  peek(key: string): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#size) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
