import { Outage } from '../../common/errors/outage.ts';
import type { KeyRecord } from '../keys/key.ts';
import type { KeyStore, KeysAsOf } from '../keys/store.ts';
import type { TokenRecord, TokenStore } from '../operators/tokens.ts';
import type { Freshness } from './file.ts';
import { createKeyCacheReader } from './reader.ts';

/** Maximum number of keys; dropping a key puts all rows read before its change in doubt. */
const MAX_DOUBTS = 50_000;

interface KeyCacheOptions {
  readonly folder: string;
  /** See `KeySource.name`. */
  readonly source: string;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly failed: (error: unknown) => void;
  /** Unix milliseconds, and monotonic milliseconds. */
  readonly clock?: () => number;
  readonly monotonic?: () => number;
}

/**
 * Looks up keys during an outage. Returns nothing for a key if the cache may be wrong: if it is too
 * old, belongs to another Redis, or lacks a change that was received here.
 */
export function createKeyCache({
  folder,
  maxAge,
  clock = Date.now,
  failed,
  monotonic,
  source,
}: KeyCacheOptions) {
  const doubts = createKeysInDoubt({ clock });
  const reader = createKeyCacheReader(folder, failed, monotonic);

  function ageNow() {
    const freshness = ofThisSource();
    return freshness
      ? Math.abs(clock() - freshness.fresh)
      : Number.POSITIVE_INFINITY;
  }

  function ofThisSource(): Freshness | null {
    const freshness = reader.freshness;
    return freshness && freshness.swept > 0 && freshness.source === source
      ? freshness
      : null;
  }

  function usable(): Freshness | null {
    const freshness = ofThisSource();
    if (!freshness || ageNow() > maxAge) return null;
    doubts.settle(freshness.swept);
    return freshness;
  }

  return {
    /** `null`: unknown whether the key exists. */
    find(hash: string): KeyRecord | null {
      const freshness = usable();
      const row = freshness && reader.find(hash);
      if (!row) return null;
      const isTrue =
        doubts.isTrue(hash, row.at) || doubts.isTrue(hash, freshness.swept);
      return isTrue ? row.record : null;
    },
    /** What is known during an outage besides keys; `null`: nothing. */
    get known(): Pick<Freshness, 'imported' | 'tokens' | 'gateways'> | null {
      return usable();
    },
    /** Marks a changed key: its row is valid only if read later. */
    doubt(hash: string) {
      doubts.note(hash);
    },
    /** Whether the cache contradicts this record of the backend; `null`: no such key. */
    differs(hash: string, record: KeyRecord | null) {
      const row = usable() && reader.find(hash);
      return row !== null && row.record.version !== record?.version;
    },
    /**
     * Milliseconds since all changes were known to be received; Infinity: no cache for this backend.
     */
    get age() {
      return ageNow();
    },
    /** Data for operators during an outage, of any age; `null`: no cache for this backend. */
    get asOf(): KeysAsOf | null {
      const freshness = ofThisSource();
      return freshness && reader.all(freshness.fresh);
    },
    /** Why keys cannot be looked up, for operators; `null`: they can. */
    get unusable(): string | null {
      const freshness = reader.freshness;
      if (!freshness || freshness.swept === 0)
        return `${folder} has no copy of its keys yet`;
      if (freshness.source !== source)
        return `the copy of keys in ${folder} is of another Redis`;
      const age = ageNow();
      if (age <= maxAge) return null;
      const hours = (milliseconds: number) =>
        `${Math.round(milliseconds / 36_000) / 100} h`;
      return `the copy of its keys in ${folder} is ${hours(age)} old, and redis.keyCache.maxAge is ${hours(maxAge)}`;
    },
    close() {
      reader.close();
    },
  };
}

export type KeyCache = ReturnType<typeof createKeyCache>;

/**
 * Changed keys, and when the message arrived: a row of the cache is valid only if it was read
 * later. Rows have the time of another process; doubts are kept on the monotonic clock, so that a
 * change of the clock does not extend them.
 * `clock`: Unix milliseconds.
 */
export function createKeysInDoubt({
  clock,
  monotonic = () => performance.now(),
}: {
  readonly clock: () => number;
  readonly monotonic?: () => number;
}) {
  /** Monotonic milliseconds, in their order. */
  const arrivals = new Map<string, number>();
  /** For keys whose own time was dropped; `null`: none was. */
  let floor: number | null = null;

  function isBefore(heard: number, time: number) {
    const now = clock();
    return time <= now && now - (monotonic() - heard) <= time;
  }

  return {
    note(hash: string) {
      arrivals.delete(hash);
      arrivals.set(hash, monotonic());
      if (arrivals.size <= MAX_DOUBTS) return;
      const [oldest, at] = arrivals.entries().next().value!;
      arrivals.delete(oldest);
      floor = at;
    },
    /**
     * Whether a row read at this time, in Unix milliseconds, is valid. A time in the future proves
     * nothing.
     */
    isTrue(hash: string, readAt: number) {
      const heard = arrivals.get(hash) ?? floor;
      return heard === null || isBefore(heard, readAt);
    },
    /** All rows were read again at `time` or later, in Unix milliseconds. */
    settle(time: number) {
      for (const [hash, heard] of arrivals) {
        if (!isBefore(heard, time)) return;
        arrivals.delete(hash);
      }
    },
  };
}

export type KeysInDoubt = ReturnType<typeof createKeysInDoubt>;

interface KeysWithCacheOptions {
  readonly cache: Pick<KeyCache, 'find' | 'known' | 'doubt' | 'differs'>;
  /** Called with a key that differs between cache and store. */
  readonly refresh: (hash: string) => void;
}

/**
 * Adds the cache as `findCopy`, separate from `find`, so that its records are never taken for those
 * of the store. A key that the cache lacks stays unknown, because it may be newer.
 */
export function keysWithCache(
  keys: KeyStore,
  { cache, refresh }: KeysWithCacheOptions,
): KeyStore {
  return {
    ...keys,
    async find(hash, hasFallback = false) {
      const found = await keys.find(
        hash,
        hasFallback || cache.find(hash) !== null,
      );
      // A message was lost if the cache admits a key that the store refuses. This must not wait for
      // the next sweep.
      if (mayRefuse(found) && cache.differs(hash, found)) {
        cache.doubt(hash);
        refresh(hash);
      }
      return found;
    },
    findCopy: (hash) => cache.find(hash),
    async hasImported() {
      try {
        return await keys.hasImported();
      } catch (error) {
        // The first import may be newer than the cache, so `false` in the cache proves nothing.
        if (error instanceof Outage && cache.known?.imported) return true;
        throw error;
      }
    },
  };
}

/**
 * Operator tokens during an outage: as last read by this process, or else from the cache. The cache
 * lags by seconds, so it must not restore a token that is known to be deleted.
 */
export function tokensWithCache(
  tokens: TokenStore,
  cache: Pick<KeyCache, 'known'>,
): TokenStore {
  let last: readonly TokenRecord[] | null = null;
  return {
    ...tokens,
    async list() {
      try {
        const listed = await tokens.list();
        last = listed;
        return listed;
      } catch (error) {
        const cached =
          error instanceof Outage
            ? (last ?? cache.known?.tokens ?? null)
            : null;
        if (cached === null) throw error;
        return [...cached];
      }
    },
  };
}

/**
 * Most keys have nothing that could refuse a client and need no cache check. A changed key may have
 * lost scopes.
 */
function mayRefuse(found: KeyRecord | null): boolean {
  if (found === null) return true;
  const { version, revokedAt, disabledAt, expiresAt, addresses } = found;
  return (
    version > 1 ||
    [revokedAt, disabledAt, expiresAt, addresses].some(
      (restriction) => restriction !== null,
    )
  );
}
