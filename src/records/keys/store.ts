import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { AuditNote } from '../operators/audit-log.ts';
import type { KeyRecord } from './key.ts';

export interface KeyQuery {
  readonly account?: string | undefined;
  readonly plan?: string | undefined;
  readonly newestFirst?: boolean;
  readonly after?: Pick<KeyRecord, 'id' | 'createdAt'> | undefined;
}

/**
 * A change and its note are atomic: if a call throws, it stored neither. After an `Outage` the
 * result is unknown.
 */
export interface KeyStore {
  /**
   * By SHA-256 of the current or previous secret. `null`: no key has it. Throws `Outage` if that is
   * not known.
   */
  find(hash: string): MaybePromise<KeyRecord | null>;
  get(id: string): MaybePromise<KeyRecord | null>;
  findMany(hashes: readonly string[]): MaybePromise<(KeyRecord | null)[]>;
  /**
   * Reads in batches, so that requests are served in between. The order within one millisecond is
   * stable. A batch may be empty.
   */
  read(query?: KeyQuery): AsyncIterable<readonly KeyRecord[]>;
  /** Like `read`, for keys of these accounts, account by account or by creation. */
  readAccounts(
    accounts: readonly string[],
  ): AsyncIterable<readonly KeyRecord[]>;
  /**
   * Like `read`, for keys that are not revoked and expire after `from`, at most at `until`: Unix
   * milliseconds.
   */
  readExpiring(
    from: number,
    until: number,
  ): AsyncIterable<readonly KeyRecord[]>;
  /** At most `limit` names of accounts with keys, sorted, after this name. */
  accounts(after: string, limit: number): MaybePromise<readonly string[]>;
  /** Numbers of keys that are not revoked, by plan. */
  countKeys(
    plans: readonly string[],
  ): MaybePromise<ReadonlyMap<string, number>>;
  /** Cheap for any number of keys. */
  isEmpty(): MaybePromise<boolean>;
  /** Throws IdempotencyConflict first, and KeyTaken if another key has the id or the hash. */
  add(record: KeyRecord, note: AuditNote): MaybePromise<void>;
  /** All or none, at most a thousand, because other work waits; throws like `add`. */
  addMany(records: readonly KeyRecord[], note: AuditNote): MaybePromise<void>;
  /**
   * Throws IdempotencyConflict first, then KeyConflict if the key does not exist, or the stored
   * version is not the previous one; KeyTaken if another key has the hash.
   */
  replace(record: KeyRecord, note: AuditNote): MaybePromise<void>;
  /** Throws `Outage` if unknown. */
  hasImported(): MaybePromise<boolean>;
  /** `changed`: any key may have changed. Returns a function that stops this. */
  watch(changed: () => void): () => void;
}

/** Time in Unix milliseconds. */
export interface KeysAsOf extends Pick<KeyStore, 'get' | 'read'> {
  readonly asOf: number;
}

/** Nothing was written. */
export class KeyConflict extends Error {
  override name = 'KeyConflict';
}

export class KeyTaken extends Error {
  override name = 'KeyTaken';
}
