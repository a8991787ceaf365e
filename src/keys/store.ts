import type { Eventually } from '../common/eventually.ts';
import type { AuditNote } from '../operators/audit-log.ts';
import type { KeyRecord } from './key.ts';

/**
 * Stores keys, never their secrets. A change and its note are kept in one step, both or neither; a store that has no
 * such step (Redis) writes the entry first, and takes it back with `failedEntry` if it refuses the change.
 */
export interface KeyStore {
  /** By SHA-256 of the secret, or of the secret before a rotation while the record has it. */
  find(hash: string): Eventually<KeyRecord | null>;
  get(id: string): Eventually<KeyRecord | null>;
  /** Oldest first. */
  list(): Eventually<KeyRecord[]>;
  /** Whether no key was ever issued. Cheap, however many there are. */
  isEmpty(): Eventually<boolean>;
  /** Throws KeyTaken if the id or hash is taken, and IdempotencyConflict. */
  add(record: KeyRecord, note?: AuditNote | null): Eventually<void>;
  /**
   * Replaces the record with this id. Throws if there is none; KeyConflict if the stored record is not of the version
   * before; KeyTaken and IdempotencyConflict.
   */
  replace(record: KeyRecord, note?: AuditNote | null): Eventually<void>;
  /** Whether any key was imported from another system. */
  hasImported(): Eventually<boolean>;
  /**
   * Calls `changed` whenever somebody may have changed keys: with the hash of the changed key, or without one if any key may
   * have changed. Answers a function that stops this.
   */
  watch(changed: (hash?: string) => void): () => void;
}

/** Somebody else has changed the key meanwhile; nothing was changed. */
export class KeyConflict extends Error {
  override name = 'KeyConflict';
}

/** Another key has this id or secret. */
export class KeyTaken extends Error {
  override name = 'KeyTaken';
}
