export type Cache<V> = ReturnType<typeof createCache<V>>;

/**
 * Drops entries not read recently, in two generations. Holds between `size` and twice `size`
 * entries, and no call moves more than one.
 */
export function createCache<V>(size: number) {
  let young = new Map<string, V>();
  let old = new Map<string, V>();

  function set(key: string, value: V): void {
    if (young.size >= size) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    get size(): number {
      return young.size + old.size;
    },
    /** A key may occur twice. Entries may be added and removed during the iteration. */
    *keys(): Iterable<string> {
      yield* young.keys();
      yield* old.keys();
    },
    /** Does not mark the entry as read. */
    peek(key: string): V | undefined {
      return young.get(key) ?? old.get(key);
    },
    get(key: string): V | undefined {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const found = old.get(key);
      if (found !== undefined) set(key, found);
      return found;
    },
    set,
    delete(key: string): void {
      young.delete(key);
      old.delete(key);
    },
    clear(): void {
      young.clear();
      old.clear();
    },
  };
}
