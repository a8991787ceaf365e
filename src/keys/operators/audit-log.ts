import type { MaybePromise } from '../../common/maybe-promise.ts';
import { DAY } from '../../common/time.ts';

/** One change that somebody made. */
export interface AuditDraft {
  /** Unix milliseconds. */
  readonly at: number;
  /** The name of the token, or who ran the command. */
  readonly actor: string;
  /** What was done, such as `keys.rotate`. */
  readonly action: string;
  /**
   * What was changed: the id of a key, or the name of an account, plan or token; `configuration` for a reload, `keys` for
   * many imported keys, whose ids are in `after`, `state` where a whole state was taken in. Bans and usage are those of a key,
   * or of an account where the plan counts accounts.
   */
  readonly target: string;
  /** How it was before and after; `null` where there was, or is, none. Never a secret. */
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string;
  /** Why, in the words of whoever did it; absent where nobody said, and in entries of versions that asked for no reason. */
  readonly reason?: string;
}

/** An entry with its place in the audit log, counted from 1. */
export type AuditEntry = AuditDraft & { readonly number: number };

/** The answer to a call that must not be made twice. */
export interface IdempotentAnswer {
  /** Digest of the caller's name and the Idempotency-Key. */
  readonly name: string;
  /** Digest of the call: method, path, query and body. */
  readonly question: string;
  /** Encrypted, for it may hold a secret: only whoever has the Idempotency-Key can read it. */
  readonly sealed: string;
}

/** What a store keeps in one step with a change: change, entry and answer are kept, or none of them. */
export interface AuditNote {
  readonly entry: AuditDraft;
  readonly idempotent: IdempotentAnswer | null;
}

/** The call was answered before, or is being answered at this moment. Nothing was changed. */
export class IdempotencyConflict extends Error {
  override name = 'IdempotencyConflict';
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** As entries are written now; finds those of older versions too, see `isAbout`. */
  readonly target?: string | undefined;
  /** Only entries that say this time or a later one, Unix milliseconds. */
  readonly since?: number | undefined;
  /** Only entries with a smaller number. */
  readonly below?: number | undefined;
  /** Only entries with a larger number, and the oldest of them first. */
  readonly above?: number | undefined;
  readonly limit: number;
}

/** Milliseconds for which the answer to a call is kept. */
export const IDEMPOTENCY_LIFETIME = DAY;

/**
 * What people changed. Entries are never changed. Of more than the log is to keep, the oldest go; numbers are never used
 * again.
 */
export interface AuditLog {
  /**
   * Writes the entry of a change that is kept elsewhere; to be called before that change is made. Throws
   * IdempotencyConflict.
   */
  append(note: AuditNote): MaybePromise<void>;
  /** Newest first, unless asked for entries `above` a number. */
  list(query: AuditQuery): MaybePromise<AuditEntry[]>;
  /** Forgets the answer kept under this name: its change could not be made, and the call may be repeated. */
  forget(name: string): MaybePromise<void>;
  /** The answer kept under this name for `IDEMPOTENCY_LIFETIME`; `null` without one. `now` in Unix milliseconds. */
  answered(name: string, now: number): MaybePromise<IdempotentAnswer | null>;
}

/**
 * Whether an action is about bans. What people do about bans stands in the audit log, and in the same step in the log of bans,
 * beside those that the ladder gave: these must not push what people did out of the audit log.
 */
export function isOfBans({ action }: Pick<AuditDraft, 'action'>): boolean {
  return action.startsWith('bans.');
}

/**
 * Why a change was made; `null`: nobody said. Reasons of bans also stand in what the entry says of the ban, and in entries of older
 * versions only there.
 */
export function reasonOf({ action, after, reason }: AuditDraft): string | null {
  if (reason !== undefined) return reason;
  const { reason: ofBan } = Object(isOfBans({ action }) ? after : null) as { reason?: unknown };
  return typeof ofBan === 'string' ? ofBan : null;
}

/** The entry that takes back `entry`: its change was told, and then could not be made. */
export function failedEntry(entry: AuditDraft): AuditDraft {
  return { ...entry, action: `${entry.action}.failed`, after: entry.before };
}

/** The target of an entry about many keys. */
export const MANY_KEYS = 'keys';

/** What the entry of many imported keys says: who imported a key can be told by its id. */
export interface ImportedMany {
  readonly count: number;
  readonly ids: readonly string[];
}

/**
 * Whether an entry is about `asked`, the id of a key or the name of an account, plan or token. Older versions filed bans
 * under `key:<id>` and `account:<plan>:<account>`; no target of today begins so.
 */
export function isAbout({ target, after }: Pick<AuditDraft, 'target' | 'after'>, asked: string): boolean {
  if (target === asked || target === `key:${asked}`) return true;
  if (target === MANY_KEYS) return Array.isArray(Object(after).ids) && (after as ImportedMany).ids.includes(asked);
  return target.startsWith('account:') && target.endsWith(`:${asked}`);
}
