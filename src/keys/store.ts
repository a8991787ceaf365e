import type { MaybePromise } from '../common/maybe-promise.ts';
import type { KeyRecord } from './key.ts';
import type { AuditNote } from './operators/audit-log.ts';

/** Which keys to read, and from where on. */
export interface KeyQuery {
  /** Only keys of this account. */
  readonly account?: string | undefined;
  /** Newest first instead of oldest first. */
  readonly newestFirst?: boolean;
  /** Only keys that come after this one, which must be there. */
  readonly after?: Pick<KeyRecord, 'id' | 'createdAt'> | undefined;
}

/**
 * Stores keys, never their secrets. A change and its note are one step: what throws has changed nothing and noted nothing,
 * except an `Outage`, after which nobody knows.
 */
export interface KeyStore {
  /**
   * By SHA-256 of the secret, or of the secret before a rotation while the record has it. `hasFallback`: whoever asks can go on
   * without the answer, so a store that is slow need not be waited for.
   */
  find(hash: string, hasFallback?: boolean): MaybePromise<KeyRecord | null>;
  get(id: string): MaybePromise<KeyRecord | null>;
  /** As `find` for each hash, in their order; for operators, who can wait. */
  findMany(hashes: readonly string[]): MaybePromise<(KeyRecord | null)[]>;
  /**
   * Some at a time, so that requests are served in between: oldest first unless told otherwise, those of one millisecond in an order that
   * stays. A part may be empty.
   */
  read(query?: KeyQuery): AsyncIterable<readonly KeyRecord[]>;
  /** All of them, oldest first. */
  list(): MaybePromise<KeyRecord[]>;
  /** Whether no key was ever issued. Cheap, however many there are. */
  isEmpty(): MaybePromise<boolean>;
  /** Throws IdempotencyConflict before all else, and KeyTaken where another key has the id or the hash. */
  add(record: KeyRecord, note: AuditNote): MaybePromise<void>;
  /**
   * Adds all of them or none, with one note for all; throws as `add`. A thousand at the most: others wait meanwhile. After
   * an `Outage` some may be there and others not.
   */
  addMany(records: readonly KeyRecord[], note: AuditNote): MaybePromise<void>;
  /**
   * Puts `record` in the place of the one with its id. Throws IdempotencyConflict before all else; where there is no such
   * key; KeyConflict where the stored record is not of the version before; KeyTaken where another key has the hash.
   */
  replace(record: KeyRecord, note: AuditNote): MaybePromise<void>;
  /** Whether any key was imported from another system. Throws `Outage` if that is not known. */
  hasImported(): MaybePromise<boolean>;
  /**
   * Calls `changed` whenever somebody may have changed keys: with the hash of the changed key, or without one if any key may
   * have changed. Answers a function that stops this.
   */
  watch(changed: (hash?: string) => void): () => void;
}

/** The keys as they were at a time, Unix milliseconds, for operators while the store is away. */
export interface KeysAsOf extends Pick<KeyStore, 'get' | 'read'> {
  readonly asOf: number;
}

/** Somebody else has changed the key meanwhile; nothing was changed. */
export class KeyConflict extends Error {
  override name = 'KeyConflict';
}

/** Another key has this id or secret. */
export class KeyTaken extends Error {
  override name = 'KeyTaken';
}
