import { isObject, type Json } from '@storegate/openapi';

/** Generators make one identifier of `get-usage` and `getUsage`. */
const plain = (name: string): string =>
  name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Returns names that nothing in `taken` has, nor an earlier name. */
export function createNames(taken: Iterable<string>): (name: string) => string {
  const used = new Set([...taken].map(plain));
  return (name) => {
    let free = name;
    for (let i = 2; used.has(plain(free)); i++) free = `${name}${i}`;
    used.add(plain(free));
    return free;
  };
}

/** Generators make types of all kinds of components. */
export const componentNames = (components: Readonly<Json>): string[] =>
  Object.values(components).flatMap((section) =>
    isObject(section) ? Object.keys(section) : [],
  );
