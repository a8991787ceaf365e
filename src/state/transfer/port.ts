import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { AuditSettings } from '../../config/config.ts';
import type { AuditDraft } from '../../keys/operators/audit-log.ts';
import type { BanEscalation } from '../../limits/limits.ts';
import type { Batch, Counts } from './records.ts';

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
 * The result for a record: `added`; `changed` from an earlier copy; `same`; `kept`: the target has newer counters or a
 * newer last use; `over`: expired, or the audit log is full of newer entries.
 */
export const OUTCOMES = ['added', 'changed', 'same', 'kept', 'over'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A state to import into: empty, or an earlier copy of the source. All operations are idempotent. */
export interface Target {
  readonly name: string;
  isUsed(): MaybePromise<boolean>;
  held(): AsyncIterable<Batch> | Iterable<Batch>;
  /**
   * Returns the result for each record, also in a dry run. Throws TransferError for a stored key or token that cannot
   * come from an earlier copy of the source.
   */
  take(batch: Batch): MaybePromise<readonly Outcome[]>;
  /** Commits the import with this audit entry and returns the new counts. Call it once. */
  finish(entry: AuditDraft | null): MaybePromise<Counts>;
  /** Frees all resources. Without `finish` nothing is imported if the state supports all or nothing. */
  close(): MaybePromise<void>;
}

export interface TargetOptions {
  readonly audit: AuditSettings;
  /** Escalation of bans; determines the lifetime of strike state. */
  readonly escalation: BanEscalation | null;
  readonly dryRun: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
}
