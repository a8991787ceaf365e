import type { MaybePromise } from '../../common/maybe-promise.ts';
import { DAY } from '../../common/time.ts';

/** A change by a person. */
export interface AuditDraft {
  /** Unix milliseconds. */
  readonly at: number;
  /** The token name, or the user who ran the command. */
  readonly actor: string;
  /** Such as `keys.rotate`. */
  readonly action: string;
  /**
   * Id of a key, or name of an account, plan or token. `configuration` for a reload, `keys` for a bulk import (ids in
   * `after`), `state` for an imported state. For bans and usage it is the key, or the account if the plan counts
   * accounts.
   */
  readonly target: string;
  /** State before and after; `null` if it did not exist. Never a secret. */
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string;
  /** Reason given by the operator; absent if none was given, and in entries of versions without reasons. */
  readonly reason?: string;
}

/** An entry with its position in the audit log, from 1. */
export type AuditEntry = AuditDraft & { readonly number: number };

/** The stored response of an idempotent call. */
export interface IdempotentAnswer {
  /** Digest of the client's name and the Idempotency-Key. */
  readonly name: string;
  /** Digest of method, path, query and body. */
  readonly question: string;
  /** Encrypted, because it may hold a secret: reading it requires the Idempotency-Key. */
  readonly sealed: string;
}

/** Stored atomically with a change: change, entry and response, or none of them. */
export interface AuditNote {
  readonly entry: AuditDraft;
  readonly idempotent: IdempotentAnswer | null;
}

/** The call has already been answered or is in progress. Nothing was changed. */
export class IdempotencyConflict extends Error {
  override name = 'IdempotencyConflict';
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** In the current form; also finds entries of older versions, see `isAbout`. */
  readonly target?: string | undefined;
  /** Only entries at or after this time, Unix milliseconds. */
  readonly since?: number | undefined;
  /** Only entries with a smaller number. */
  readonly below?: number | undefined;
  /** Only entries with a larger number, oldest first. */
  readonly above?: number | undefined;
  readonly limit: number;
}

/** How long a stored response is kept, milliseconds. */
export const IDEMPOTENCY_LIFETIME = DAY;

/**
 * Changes by people. Entries are immutable. If the log is full, the oldest entries are dropped; numbers are never
 * reused.
 */
export interface AuditLog {
  /**
   * Writes the entry of a change that is stored elsewhere; call it before making the change. Throws
   * IdempotencyConflict.
   */
  append(note: AuditNote): MaybePromise<void>;
  /** Newest first, unless `above` is set. */
  list(query: AuditQuery): MaybePromise<AuditEntry[]>;
  /** Drops the response stored under this name: its change failed, and the call may be retried. */
  forget(name: string): MaybePromise<void>;
  /** The response stored under this name within `IDEMPOTENCY_LIFETIME`, else `null`. `now` in Unix milliseconds. */
  answered(name: string, now: number): MaybePromise<IdempotentAnswer | null>;
}

/**
 * Whether an action is about bans. Manual bans are also written to the ban log in the same step. Automatic bans are
 * only in the ban log, so that they do not push out audit entries.
 */
export function isOfBans({ action }: Pick<AuditDraft, 'action'>): boolean {
  return action.startsWith('bans.');
}

/** Reason of a change; `null` if none was given. Ban entries also hold it in the ban, and older versions only there. */
export function reasonOf({ action, after, reason }: AuditDraft): string | null {
  if (reason !== undefined) return reason;
  const { reason: ofBan } = Object(isOfBans({ action }) ? after : null) as { reason?: unknown };
  return typeof ofBan === 'string' ? ofBan : null;
}

/** An entry that retracts `entry`, because its change was logged and then failed. */
export function failedEntry(entry: AuditDraft): AuditDraft {
  return { ...entry, action: `${entry.action}.failed`, after: entry.before };
}

/** The target of an entry about many keys. */
export const MANY_KEYS = 'keys';

/** Details of a bulk import. The ids show who imported a key. */
export interface BulkImportEntry {
  readonly count: number;
  readonly ids: readonly string[];
}

/**
 * Whether an entry is about `asked`: a key id, or the name of an account, plan or token. Older versions filed bans
 * under `key:<id>` and `account:<plan>:<account>`; current targets never begin so.
 */
export function isAbout({ target, after }: Pick<AuditDraft, 'target' | 'after'>, asked: string): boolean {
  if (target === asked || target === `key:${asked}`) return true;
  if (target === MANY_KEYS) return Array.isArray(Object(after).ids) && (after as BulkImportEntry).ids.includes(asked);
  return target.startsWith('account:') && target.endsWith(`:${asked}`);
}
