import type { Operation } from '../../config/contract/contract.ts';
import { DEFAULT_UPSTREAM, endsWithPath } from '../../config/upstreams.ts';

export type StorePath = (operation: Operation, path: string) => string;

/**
 * A backend whose URL ends with a prefix already has it: http://store/v1 gets /v1/pets, not /v1/v1/pets.
 *
 * @param prefixes longest first; `''`: none
 * @param urls by upstream
 */
export function createStorePaths(prefixes: readonly string[], urls: ReadonlyMap<string, readonly string[]>): StorePath {
  const repeated = new Map<string, readonly string[]>();
  for (const [upstream, own] of urls) {
    const found = prefixes.filter((prefix) => own.every((url) => endsWithPath(url, prefix)));
    if (found.length > 0) repeated.set(upstream, found);
  }
  if (repeated.size === 0) return (_operation, path) => path;
  return ({ upstream }, path) => {
    const prefix = repeated.get(upstream ?? DEFAULT_UPSTREAM)?.find((one) => path.startsWith(`${one}/`));
    return prefix === undefined ? path : path.slice(prefix.length);
  };
}
