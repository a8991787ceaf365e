import { Outage } from '../../../errors/outage.ts';
import type { KeyRecord } from '../../../keys/key.ts';
import type { TokenRecord, TokenStore } from '../../../keys/operators/tokens.ts';
import type { KeyStore } from '../../../keys/store.ts';
import type { KeyCache } from './key-cache.ts';

export interface KeysWithCacheOptions {
  readonly cache: Pick<KeyCache, 'find' | 'imported' | 'doubt' | 'differs'>;
  /** Hears of a key that the copy has otherwise than the store. */
  readonly refresh: (hash: string) => void;
}

/**
 * Keys of a store that may be away: while it is, they are looked up in the copy. A key that the copy does not have stays
 * unknown, because it may have been made or changed since.
 */
export function keysWithCache(keys: KeyStore, { cache, refresh }: KeysWithCacheOptions): KeyStore {
  return {
    async find(hash, hasFallback = false) {
      let found: KeyRecord | null;
      try {
        found = await keys.find(hash, hasFallback || cache.find(hash) !== null);
      } catch (error) {
        const cached = error instanceof Outage ? cache.find(hash) : null;
        if (!cached) throw error;
        return cached;
      }
      // A message was lost if the copy lets in whom the store does not. That must not wait for the next sweep.
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
        // The first import may be younger than the copy, so the copy cannot say that there was none.
        if (error instanceof Outage && cache.imported) return true;
        throw error;
      }
    },
    get: (id) => keys.get(id),
    findMany: (hashes) => keys.findMany(hashes),
    read: (query) => keys.read(query),
    list: () => keys.list(),
    isEmpty: () => keys.isEmpty(),
    add: (record, note) => keys.add(record, note),
    addMany: (records, note) => keys.addMany(records, note),
    replace: (record, note) => keys.replace(record, note),
    watch: (changed) => keys.watch(changed),
  };
}

/**
 * The tokens of operators, while the store is away as this process knew them last, or else from the copy: metrics are read in an
 * outage too. The copy has them some seconds later than the store, so it must not bring back one that is known to be gone.
 */
export function tokensWithCache(tokens: TokenStore, cache: Pick<KeyCache, 'tokens'>): TokenStore {
  let last: readonly TokenRecord[] | null = null;
  return {
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
    add: (record, note) => tokens.add(record, note),
    remove: (name, note) => tokens.remove(name, note),
  };
}

/**
 * Most keys have nothing for which their holder could be refused, and need no look into the copy. One that was changed may have
 * had scopes that it lacks now.
 */
function mayRefuse(found: KeyRecord | null): boolean {
  if (found === null) return true;
  const { version, revokedAt, disabledAt, expiresAt, addresses } = found;
  if (version > 1) return true;
  return revokedAt !== null || disabledAt !== null || expiresAt !== null || addresses !== null;
}
