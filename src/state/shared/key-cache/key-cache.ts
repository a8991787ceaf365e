import type { KeyRecord } from '../../../keys/key.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';
import type { KeysAsOf } from '../../../keys/store.ts';
import { cachedKeys } from './cached-keys.ts';
import type { Freshness } from './freshness.ts';
import { KeysInDoubt } from './in-doubt.ts';
import { KeyCacheReader } from './reader.ts';

export interface KeyCacheOptions {
  /** The data folder. */
  readonly folder: string;
  /** The backend whose keys these must be, see `KeySource.name`. */
  readonly source: string;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly failed: (error: unknown) => void;
  /** Unix milliseconds, and monotonic ones. */
  readonly clock?: () => number;
  readonly monotonic?: () => number;
}

/**
 * What the copy of the keys says while the backend cannot be asked. It says nothing about a key where it may be wrong: if it
 * is too old, of another backend, or has yet to take in a change that was heard here.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #clock: () => number;
  readonly #reader: KeyCacheReader;
  readonly #doubts = new KeysInDoubt();

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.#reader = new KeyCacheReader(options.folder, options.failed, options.monotonic);
  }

  /** The record of a key; `null` says nothing about the key. */
  find(hash: string): KeyRecord | null {
    const freshness = this.#usable();
    const row = freshness && this.#reader.find(hash);
    return row && this.#doubts.isTrue(hash, Math.max(row.at, freshness.swept)) ? row.record : null;
  }

  /** Whether any key came from another system; `null`: not known. */
  get imported(): boolean | null {
    return this.#usable()?.imported ?? null;
  }

  /** The tokens of operators; `null`: not known. */
  get tokens(): readonly TokenRecord[] | null {
    return this.#usable()?.tokens ?? null;
  }

  /** How many gateways shared the backend; at least 1. */
  get gateways(): number {
    return this.#usable()?.gateways ?? 1;
  }

  /** A key was changed: what the copy has of it counts only if it was read later. */
  doubt(hash: string): void {
    this.#doubts.note(hash, this.#clock());
  }

  /** The backend says that a key, found by this hash, is so now, or that there is none. What the copy says otherwise is wrong. */
  differs(hash: string, record: KeyRecord | null): boolean {
    const row = this.#usable() && this.#reader.find(hash);
    return row !== null && row.record.version !== record?.version;
  }

  /** Milliseconds since every change is known to have been heard; Infinity: there is no copy of this backend's keys. */
  get age(): number {
    const freshness = this.#ofThisSource();
    return freshness ? Math.abs(this.#clock() - freshness.fresh) : Number.POSITIVE_INFINITY;
  }

  /** What operators are shown while the backend is away, however old it is; `null`: there is no copy of this backend's keys. */
  get asOf(): KeysAsOf | null {
    const freshness = this.#ofThisSource();
    return freshness && cachedKeys(this.#reader, freshness.fresh);
  }

  /** Why keys cannot be looked up here, in words for operators; `null`: they can. */
  get unusable(): string | null {
    const { folder, maxAge } = this.#options;
    const freshness = this.#reader.freshness;
    if (!freshness || freshness.swept === 0) return `there is no copy of its keys in ${folder} yet`;
    if (freshness.source !== this.#options.source) return `the copy of keys in ${folder} is of another Redis`;
    const { age } = this;
    if (age <= maxAge) return null;
    const hours = (milliseconds: number) => `${Math.round(milliseconds / 36_000) / 100} h`;
    return `the copy of its keys in ${folder} is ${hours(age)} old, and redis.keyCache.maxAge is ${hours(maxAge)}`;
  }

  close(): void {
    this.#reader.close();
  }

  #ofThisSource(): Freshness | null {
    const freshness = this.#reader.freshness;
    return freshness && freshness.swept > 0 && freshness.source === this.#options.source ? freshness : null;
  }

  #usable(): Freshness | null {
    const freshness = this.#ofThisSource();
    if (!freshness || this.age > this.#options.maxAge) return null;
    this.#doubts.settle(freshness.swept);
    return freshness;
  }
}
