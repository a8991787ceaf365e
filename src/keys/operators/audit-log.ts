import type { MaybePromise } from '../../common/maybe-promise.ts';
import { DAY } from '../../common/time.ts';

export interface AuditDraft {
  /** Unix milliseconds. */
  readonly at: number;
  /** The token name, or the user who ran the command. */
  readonly actor: string;
  /** Such as `keys.rotate`. */
  readonly action: string;
  /**
   * Id of a key, or name of an account, plan or token. `configuration` for a reload, `keys` for a bulk import (ids in
   * `after`), `state` for an imported state. For bans and usage the key, or the account if the plan counts accounts.
   */
  readonly target: string;
  /** `null`: did not exist. Never a secret. */
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string;
  /** Also absent in entries of versions without reasons. */
  readonly reason?: string;
}

/** Numbers start at 1. */
export type AuditEntry = AuditDraft & { readonly number: number };

export interface IdempotentAnswer {
  /** Digest of the client's name and the Idempotency-Key. */
  readonly name: string;
  /** Digest of method, path, query and body. */
  readonly question: string;
  /** Encrypted, because it may hold a secret: reading it requires the Idempotency-Key. */
  readonly sealed: string;
}

/** Stored atomically with a change. */
export interface AuditNote {
  readonly entry: AuditDraft;
  readonly idempotent: IdempotentAnswer | null;
}

/** The call has been answered or is in progress. Nothing was changed. */
export class IdempotencyConflict extends Error {
  override name = 'IdempotencyConflict';
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Also finds entries of older versions, see `isAbout`. */
  readonly target?: string | undefined;
  /** Inclusive, Unix milliseconds. */
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly below?: number | undefined;
  /** Exclusive; oldest first. */
  readonly above?: number | undefined;
  readonly limit: number;
}

/** Milliseconds. */
export const IDEMPOTENCY_LIFETIME = DAY;

/** Entries are immutable. A full log drops the oldest; numbers are never reused. */
export interface AuditLog {
  /** For a change that is stored elsewhere; call it before the change. Throws IdempotencyConflict. */
  append(note: AuditNote): MaybePromise<void>;
  /** Newest first, unless `above` is set. */
  list(query: AuditQuery): MaybePromise<AuditEntry[]>;
  /** For a failed change, so that the call may be retried. */
  forget(name: string): MaybePromise<void>;
  /** `null` if unknown or older than `IDEMPOTENCY_LIFETIME`. `now` in Unix milliseconds. */
  answered(name: string, now: number): MaybePromise<IdempotentAnswer | null>;
}

/**
 * Manual bans are in both logs, written in one step. Automatic bans are only in the ban log, so that they do not push
 * out audit entries.
 */
export function isOfBans({ action }: Pick<AuditDraft, 'action'>): boolean {
  return action.startsWith('bans.');
}

/** Ban entries also hold it in the ban, and older versions only there. */
export function reasonOf({ action, after, reason }: AuditDraft): string | null {
  if (reason !== undefined) return reason;
  const { reason: ofBan } = Object(isOfBans({ action }) ? after : null) as { reason?: unknown };
  return typeof ofBan === 'string' ? ofBan : null;
}

/** Retracts the entry of a failed change. */
export function failedEntry(entry: AuditDraft): AuditDraft {
  return { ...entry, action: `${entry.action}.failed`, after: entry.before };
}

export const MANY_KEYS = 'keys';

export interface BulkImportEntry {
  readonly count: number;
  readonly ids: readonly string[];
}

/** Older versions filed bans under `key:<id>` and `account:<plan>:<account>`; current targets never begin so. */
export function isAbout({ target, after }: Pick<AuditDraft, 'target' | 'after'>, asked: string): boolean {
  if (target === asked || target === `key:${asked}`) return true;
  if (target === MANY_KEYS) return Array.isArray(Object(after).ids) && (after as BulkImportEntry).ids.includes(asked);
  return target.startsWith('account:') && target.endsWith(`:${asked}`);
}
