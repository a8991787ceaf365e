import type { Operation } from '../../config/contract/contract.ts';
import { DEFAULT_UPSTREAM, endsWithPath } from '../../config/upstreams.ts';

export type StorePath = (operation: Operation, path: string) => string;

/**
 * A backend whose URL ends with a prefix already has it: http://store/v1 gets /v1/pets, not /v1/v1/pets.
 *
 * @param prefixes longest first; `''`: none
 */
export function createStorePaths(
  prefixes: readonly string[],
  urlsOf: (upstream: string) => readonly string[],
): StorePath {
  if (prefixes.every((prefix) => prefix === '')) return (_operation, path) => path;
  const repeated = new Map<string, readonly string[]>();

  function repeatedAt(upstream: string): readonly string[] {
    const known = repeated.get(upstream);
    if (known !== undefined) return known;
    const urls = urlsOf(upstream);
    const found = prefixes.filter((prefix) => urls.every((url) => endsWithPath(url, prefix)));
    repeated.set(upstream, found);
    return found;
  }

  return ({ upstream }, path) => {
    const prefix = repeatedAt(upstream ?? DEFAULT_UPSTREAM).find((one) => path.startsWith(`${one}/`));
    return prefix === undefined ? path : path.slice(prefix.length);
  };
}
