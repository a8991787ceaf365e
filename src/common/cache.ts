/**
 * A bounded cache that forgets what was not asked for lately: two generations, and what is found in the old one moves to
 * the young one. Holds between `size` and twice `size` entries; no step costs more than one entry.
 */
export class Cache<V> {
  readonly #size: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(size: number) {
    this.#size = size;
  }

  /** How many are held; what is in both generations counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
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
