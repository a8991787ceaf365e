/** `make` is called once for each key. Its results live as long as the keys. */
export function remembered<K extends object, V extends object | string>(
  make: (key: K) => V,
): (key: K) => V {
  const cache = new WeakMap<K, V>();
  return (key) => {
    const before = cache.get(key);
    if (before !== undefined) return before;
    const made = make(key);
    cache.set(key, made);
    return made;
  };
}
