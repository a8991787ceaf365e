import { Outage } from '../../common/errors/outage.ts';
import type { KeyRecord } from '../keys/key.ts';
import type { KeyStore, KeysAsOf } from '../keys/store.ts';
import type { TokenRecord, TokenStore } from '../operators/tokens.ts';
import type { Freshness } from './file.ts';
import { KeyCacheReader } from './reader.ts';

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
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #clock: () => number;
  readonly #reader: KeyCacheReader;
  readonly #doubts: KeysInDoubt;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.#doubts = new KeysInDoubt({ clock: this.#clock });
    this.#reader = new KeyCacheReader(
      options.folder,
      options.failed,
      options.monotonic,
    );
  }

  /** `null`: unknown whether the key exists. */
  find(hash: string): KeyRecord | null {
    const freshness = this.#usable();
    const row = freshness && this.#reader.find(hash);
    if (!row) return null;
    const isTrue =
      this.#doubts.isTrue(hash, row.at) ||
      this.#doubts.isTrue(hash, freshness.swept);
    return isTrue ? row.record : null;
  }

  /** What is known during an outage besides keys; `null`: nothing. */
  get known(): Pick<Freshness, 'imported' | 'tokens' | 'gateways'> | null {
    return this.#usable();
  }

  /** Marks a changed key: its row is valid only if read later. */
  doubt(hash: string): void {
    this.#doubts.note(hash);
  }

  /** Whether the cache contradicts this record of the backend; `null`: no such key. */
  differs(hash: string, record: KeyRecord | null): boolean {
    const row = this.#usable() && this.#reader.find(hash);
    return row !== null && row.record.version !== record?.version;
  }

  /**
   * Milliseconds since all changes were known to be received; Infinity: no cache for this backend.
   */
  get age(): number {
    const freshness = this.#ofThisSource();
    return freshness
      ? Math.abs(this.#clock() - freshness.fresh)
      : Number.POSITIVE_INFINITY;
  }

  /** Data for operators during an outage, of any age; `null`: no cache for this backend. */
  get asOf(): KeysAsOf | null {
    const freshness = this.#ofThisSource();
    return freshness && this.#reader.all(freshness.fresh);
  }

  /** Why keys cannot be looked up, for operators; `null`: they can. */
  get unusable(): string | null {
    const { folder, maxAge } = this.#options;
    const freshness = this.#reader.freshness;
    if (!freshness || freshness.swept === 0)
      return `${folder} has no copy of its keys yet`;
    if (freshness.source !== this.#options.source)
      return `the copy of keys in ${folder} is of another Redis`;
    const { age } = this;
    if (age <= maxAge) return null;
    const hours = (milliseconds: number) =>
      `${Math.round(milliseconds / 36_000) / 100} h`;
    return `the copy of its keys in ${folder} is ${hours(age)} old, and redis.keyCache.maxAge is ${hours(maxAge)}`;
  }

  close(): void {
    this.#reader.close();
  }

  #ofThisSource(): Freshness | null {
    const freshness = this.#reader.freshness;
    return freshness &&
      freshness.swept > 0 &&
      freshness.source === this.#options.source
      ? freshness
      : null;
  }

  #usable(): Freshness | null {
    const freshness = this.#ofThisSource();
    if (!freshness || this.age > this.#options.maxAge) return null;
    this.#doubts.settle(freshness.swept);
    return freshness;
  }
}

/**
 * Changed keys, and when the message arrived: a row of the cache is valid only if it was read
 * later. Rows have the time of another process; doubts are kept on the monotonic clock, so that a
 * change of the clock does not extend them.
 */
export class KeysInDoubt {
  readonly #clock: () => number;
  readonly #monotonic: () => number;
  /** Monotonic milliseconds, in their order. */
  readonly #heard = new Map<string, number>();
  /** For keys whose own time was dropped; `null`: none was. */
  #floor: number | null = null;

  /** `clock`: Unix milliseconds. */
  constructor({
    clock,
    monotonic = () => performance.now(),
  }: { readonly clock: () => number; readonly monotonic?: () => number }) {
    this.#clock = clock;
    this.#monotonic = monotonic;
  }

  note(hash: string): void {
    this.#heard.delete(hash);
    this.#heard.set(hash, this.#monotonic());
    if (this.#heard.size <= MAX_DOUBTS) return;
    const [oldest, at] = this.#heard.entries().next().value!;
    this.#heard.delete(oldest);
    this.#floor = at;
  }

  /**
   * Whether a row read at this time, in Unix milliseconds, is valid. A time in the future proves
   * nothing.
   */
  isTrue(hash: string, readAt: number): boolean {
    const heard = this.#heard.get(hash) ?? this.#floor;
    return heard === null || this.#isBefore(heard, readAt);
  }

  /** All rows were read again at `time` or later, in Unix milliseconds. */
  settle(time: number): void {
    for (const [hash, heard] of this.#heard) {
      if (!this.#isBefore(heard, time)) return;
      this.#heard.delete(hash);
    }
  }

  #isBefore(heard: number, time: number): boolean {
    const now = this.#clock();
    return time <= now && now - (this.#monotonic() - heard) <= time;
  }
}

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
