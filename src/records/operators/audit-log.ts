import type { ParamsOf } from '@storegate/admin-api';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { DAY } from '../../common/time.ts';

/** What operators do. A failed change has a second entry, `<action>.failed`. */
export const AUDIT_ACTIONS = [
  'keys.create',
  'keys.import',
  'keys.update',
  'keys.rotate',
  'keys.disable',
  'keys.enable',
  'keys.revoke',
  'bans.add',
  'bans.extend',
  'bans.lift',
  'usage.reset',
  'usage.grant',
  'plans.set',
  'tokens.create',
  'tokens.revoke',
  'config.reload',
  'webhooks.test',
  'state.import',
  'gateways.forget',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditDraft {
  /** Unix milliseconds. */
  readonly at: number;
  /** The token name, or the user who ran the command. */
  readonly actor: string;
  /** Also `bans.start` of an automatic ban, in the ban log alone. */
  readonly action: string;
  /**
   * A key id, or the name of an account, plan or token. `configuration` for a reload, `keys` for a
   * bulk import, `state` for an imported state. For bans and usage the key, or the account if the
   * plan counts accounts.
   */
  readonly target: string;
  /** `null`: did not exist. Never a secret. */
  readonly before: unknown;
  readonly after: unknown;
  readonly requestId: string;
  readonly reason?: string;
}

export type AuditEntry = AuditDraft & { readonly number: number };

export interface IdempotentResult {
  readonly name: string;
  readonly question: string;
  /** Encrypted, because it may hold a secret: reading it requires the Idempotency-Key. */
  readonly sealed: string;
}

export interface AuditNote {
  readonly entry: AuditDraft;
  readonly idempotent: IdempotentResult | null;
}

/** The call has been made or is in progress. Nothing was changed. */
export class IdempotencyConflict extends Error {
  override name = 'IdempotencyConflict';

  constructor() {
    super('this call was already made');
  }
}

/** With `above` oldest first. */
export interface AuditQuery extends Omit<ParamsOf<'listAudit'>, 'since'> {
  /** Inclusive, Unix milliseconds. */
  readonly since?: number | undefined;
  readonly limit: number;
}

/** Milliseconds. */
export const IDEMPOTENCY_LIFETIME = DAY;

/** Entries are immutable. A full log drops the oldest; numbers are never reused. */
export interface AuditLog {
  /**
   * For a change that is stored elsewhere; call it before the change. Throws IdempotencyConflict.
   */
  append(note: AuditNote): MaybePromise<void>;
  list(query: AuditQuery): MaybePromise<AuditEntry[]>;
  forget(name: string): MaybePromise<void>;
  /** `null` if unknown, or not within `IDEMPOTENCY_LIFETIME` of `now` (Unix milliseconds). */
  resultOf(name: string, now: number): MaybePromise<IdempotentResult | null>;
}

/**
 * Manual bans are in both logs, written in one step. Automatic bans are only in the ban log, so
 * that they do not push out audit entries.
 */
export function isOfBans({ action }: Pick<AuditDraft, 'action'>): boolean {
  return action.startsWith('bans.');
}

export function failedEntry(entry: AuditDraft): AuditDraft {
  return { ...entry, action: `${entry.action}.failed`, after: entry.before };
}

export const MANY_KEYS = 'keys';

export interface BulkImportEntry {
  readonly count: number;
  readonly ids: readonly string[];
}
