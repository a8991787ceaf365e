import type { MaybePromise } from '../common/maybe-promise.ts';
import type { KeyRecord } from './key.ts';
import type { AuditNote } from './operators/audit-log.ts';

export interface KeyQuery {
  readonly account?: string | undefined;
  /** Newest first instead of oldest first. */
  readonly newestFirst?: boolean;
  /** Only keys after this one, which must exist. */
  readonly after?: Pick<KeyRecord, 'id' | 'createdAt'> | undefined;
}

/**
 * Stores keys, never their secrets. A change and its note are atomic: if a call throws, it stored neither. After an
 * `Outage` the result is unknown.
 */
export interface KeyStore {
  /**
   * By SHA-256 of the secret, or of the secret before a rotation. `hasFallback`: the caller can continue without the
   * result, so it need not wait for a slow store.
   */
  find(hash: string, hasFallback?: boolean): MaybePromise<KeyRecord | null>;
  get(id: string): MaybePromise<KeyRecord | null>;
  /** Like `find` for each hash, in order; for operators, who can wait. */
  findMany(hashes: readonly string[]): MaybePromise<(KeyRecord | null)[]>;
  /**
   * Reads in batches, so that requests are served in between. Oldest first by default; the order within one millisecond
   * is stable. A batch may be empty.
   */
  read(query?: KeyQuery): AsyncIterable<readonly KeyRecord[]>;
  /** All keys, oldest first. */
  list(): MaybePromise<KeyRecord[]>;
  /** Whether no key was ever issued. Cheap for any number of keys. */
  isEmpty(): MaybePromise<boolean>;
  /** Throws IdempotencyConflict first, and KeyTaken if another key has the id or the hash. */
  add(record: KeyRecord, note: AuditNote): MaybePromise<void>;
  /**
   * Adds all keys or none, with one note; throws like `add`. At most a thousand, because other work waits. After an
   * `Outage` some keys may be stored.
   */
  addMany(records: readonly KeyRecord[], note: AuditNote): MaybePromise<void>;
  /**
   * Replaces the record with the same id. Throws IdempotencyConflict first, then: if the key does not exist;
   * KeyConflict if the stored version is not the previous one; KeyTaken if another key has the hash.
   */
  replace(record: KeyRecord, note: AuditNote): MaybePromise<void>;
  /** Whether any key was imported from another system. Throws `Outage` if unknown. */
  hasImported(): MaybePromise<boolean>;
  /**
   * Calls `changed` with the hash of a changed key, or without a hash if any key may have changed. Returns a function
   * that stops this.
   */
  watch(changed: (hash?: string) => void): () => void;
}

/** The keys at a time, Unix milliseconds, for operators while the store is down. */
export interface KeysAsOf extends Pick<KeyStore, 'get' | 'read'> {
  readonly asOf: number;
}

/** The key was changed in the meantime; nothing was written. */
export class KeyConflict extends Error {
  override name = 'KeyConflict';
}

/** Another key has this id or secret. */
export class KeyTaken extends Error {
  override name = 'KeyTaken';
}
