import type { Eventually } from '../common/eventually.ts';

/** One change that somebody made. */
export interface AuditDraft {
  /** Unix milliseconds. */
  readonly at: number;
  /** The name of the token, or who ran the command. */
  readonly actor: string;
  /** What was done, such as `keys.rotate`. */
  readonly action: string;
  /** Of what: a key's id, an account, a plan, a token. */
  readonly target: string;
  /** How it was and how it is; `null` where there was, or is, none. Never a secret. */
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string;
}

/** An audit entry with its place in the audit log, counted up from 1. */
export type AuditEntry = AuditDraft & { readonly number: number };

/** The answer to a call that must not be done twice. */
export interface IdempotentAnswer {
  /** Digest of who asked and of the Idempotency-Key. */
  readonly name: string;
  /** Digest of what was asked. */
  readonly question: string;
  /** Readable only for who has the Idempotency-Key: it may hold a secret. */
  readonly sealed: string;
}

/** What is kept with a change, in one step with it: the change, its audit entry and its answer, or none of them. */
export interface AuditNote {
  readonly entry: AuditDraft;
  readonly idempotent: IdempotentAnswer | null;
}

/** The call was answered before, or is this very moment: nothing was changed. */
export class IdempotencyConflict extends Error {
  override name = 'IdempotencyConflict';
}

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Only entries with a smaller number. */
  readonly below?: number | undefined;
  readonly limit: number;
}

/** Milliseconds for which the answer to a call is kept. */
export const IDEMPOTENCY_LIFETIME = 24 * 3_600_000;

/** What people did: nothing in it is ever changed or taken away. */
export interface AuditLog {
  /** Notes a change that is kept elsewhere; noted before it is made, so that none goes unnoticed. Throws IdempotencyConflict. */
  append(note: AuditNote): Eventually<void>;
  /** Newest first. */
  list(query: AuditQuery): Eventually<AuditEntry[]>;
  /** Lets the call be made again: what was noted could not be done. */
  forget(name: string): Eventually<void>;
  /** The answer that is kept under this name, for `IDEMPOTENCY_LIFETIME`; `null` without one. `now` in Unix milliseconds. */
  answered(name: string, now: number): Eventually<IdempotentAnswer | null>;
}
