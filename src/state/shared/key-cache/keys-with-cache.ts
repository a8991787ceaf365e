import { Outage } from '../../../errors/outage.ts';
import type { KeyRecord } from '../../../keys/key.ts';
import type { TokenRecord, TokenStore } from '../../../keys/operators/tokens.ts';
import type { KeyStore } from '../../../keys/store.ts';
import type { KeyCache } from './key-cache.ts';

export interface KeysWithCacheOptions {
  readonly cache: Pick<KeyCache, 'find' | 'imported' | 'doubt' | 'differs'>;
  /** Called with a key that differs between cache and store. */
  readonly refresh: (hash: string) => void;
}

/**
 * Looks up keys in the cache while the store is down. A key that the cache lacks stays unknown, because it may be
 * newer.
 */
export function keysWithCache(keys: KeyStore, { cache, refresh }: KeysWithCacheOptions): KeyStore {
  return {
    ...keys,
    async find(hash, hasFallback = false) {
      let found: KeyRecord | null;
      try {
        found = await keys.find(hash, hasFallback || cache.find(hash) !== null);
      } catch (error) {
        const cached = error instanceof Outage ? cache.find(hash) : null;
        if (!cached) throw error;
        return cached;
      }
      // A message was lost if the cache admits a key that the store refuses. This must not wait for the next sweep.
      if (mayRefuse(found) && cache.differs(hash, found)) {
        cache.doubt(hash);
        refresh(hash);
      }
      return found;
    },
    async hasImported() {
      try {
        return await keys.hasImported();
      } catch (error) {
        // The first import may be newer than the cache, so `false` in the cache proves nothing.
        if (error instanceof Outage && cache.imported) return true;
        throw error;
      }
    },
  };
}

/**
 * Operator tokens during an outage: as last read by this process, or else from the cache. The cache lags by seconds, so
 * it must not restore a token that is known to be deleted.
 */
export function tokensWithCache(tokens: TokenStore, cache: Pick<KeyCache, 'tokens'>): TokenStore {
  let last: readonly TokenRecord[] | null = null;
  return {
    ...tokens,
    async list() {
      try {
        const listed = await tokens.list();
        last = listed;
        return listed;
      } catch (error) {
        const cached = error instanceof Outage ? (last ?? cache.tokens) : null;
        if (cached === null) throw error;
        return [...cached];
      }
    },
  };
}

/** Most keys have nothing that could refuse a client and need no cache check. A changed key may have lost scopes. */
function mayRefuse(found: KeyRecord | null): boolean {
  if (found === null) return true;
  const { version, revokedAt, disabledAt, expiresAt, addresses } = found;
  return version > 1 || [revokedAt, disabledAt, expiresAt, addresses].some((restriction) => restriction !== null);
}
