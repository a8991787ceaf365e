import { ExpectedError } from '../../common/expected-error.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { AuditSettings } from '../../config/config.ts';
import type { KeyRecord } from '../../keys/key.ts';
import type { AuditDraft, AuditEntry } from '../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../keys/operators/tokens.ts';
import type { Counters } from '../../limits/counters.ts';

/**
 * Record types in transfer order. Counters follow keys, so they never precede the subjects that
 * they count.
 */
export const TYPES = ['key', 'token', 'audit', 'ban', 'ledger', 'use'] as const;
export type RecordType = (typeof TYPES)[number];

export interface SubjectCounters {
  readonly subject: string;
  readonly counters: Counters;
}

/** Unix milliseconds. */
export interface LastUse {
  readonly id: string;
  readonly at: number;
}

export interface ValueOf {
  readonly key: KeyRecord;
  readonly token: TokenRecord;
  readonly audit: AuditEntry;
  /** From the ban log. */
  readonly ban: AuditEntry;
  readonly ledger: SubjectCounters;
  readonly use: LastUse;
}

export type Batch = {
  [T in RecordType]: { readonly type: T; readonly values: readonly ValueOf[T][] };
}[RecordType];

/** Records per batch: more would block Redis or this process for too long. */
export const BATCH = 500;

export type Counts = Readonly<Record<RecordType, number>>;

export function noCounts(): Record<RecordType, number> {
  return { key: 0, token: 0, audit: 0, ban: 0, ledger: 0, use: 0 };
}

const NAMES = {
  key: 'id',
  token: 'name',
  audit: 'number',
  ban: 'number',
  ledger: 'subject',
  use: 'id',
} as const;

/** Unique among records of the same type. */
export function nameIn<T extends RecordType>(type: T, value: ValueOf[T]): string {
  return String((Object(value) as Record<string, unknown>)[NAMES[type]]);
}

export interface Source {
  /** Display name without passwords. */
  readonly name: string;
  readonly kind: string;
  /** Whether every record was checked (check.ts). */
  readonly isChecked: boolean;
  /** Numbers known without reading everything, for a progress bar. */
  counts(): MaybePromise<Counts>;
  /** All records, in the order of `TYPES`. Each name occurs once. */
  read(): AsyncIterable<Batch>;
  close(): MaybePromise<void>;
}

/**
 * The result for a record: `added`; `changed` from an earlier copy; `same`; `kept`: the target has
 * newer counters or a newer last use; `over`: expired, or the audit log is full of newer entries.
 */
export const OUTCOMES = ['added', 'changed', 'same', 'kept', 'over'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * A state to import into: empty, or an earlier copy of the source. All operations are idempotent.
 */
export interface Target {
  readonly name: string;
  isUsed(): MaybePromise<boolean>;
  /** Keys, tokens and entries. */
  held(): AsyncIterable<Batch> | Iterable<Batch>;
  /**
   * Returns the result for each record, also in a dry run. Throws TransferError for a stored key or
   * token that cannot come from an earlier copy of the source.
   */
  take(batch: Batch): MaybePromise<readonly Outcome[]>;
  /** Commits the import with this audit entry and returns the new counts. Call it once. */
  finish(entry: AuditDraft | null): MaybePromise<Counts>;
  /**
   * Frees all resources. Without `finish` nothing is imported if the state supports all or nothing.
   */
  close(): MaybePromise<void>;
}

export interface TargetOptions {
  readonly audit: AuditSettings;
  readonly dryRun: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Receives a sentence for each damaged file of the target. */
  readonly damaged?: (damage: string) => void;
}

/** A file cannot be read or written. The message states the file, the position and the cause. */
export class TransferError extends ExpectedError {
  override name = 'TransferError';
}
