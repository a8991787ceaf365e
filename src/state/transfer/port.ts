import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { AuditSettings } from '../../config/config.ts';
import type { AuditDraft } from '../../keys/operators/audit-log.ts';
import type { BanEscalation } from '../../limits/limits.ts';
import type { Batch, Counts } from './records.ts';

/** A state, or a file of one, to be read from. */
export interface Source {
  /** What it is, in words for people, without a password. */
  readonly name: string;
  /** What kind of state it is or was, such as `embedded`. */
  readonly kind: string;
  /** Whether every record was checked already (check.ts). */
  readonly isChecked: boolean;
  /** How much there is, as far as that is known without reading all. For a bar of progress. */
  counts(): MaybePromise<Counts>;
  /** All records, type after type in the order of `TYPES`. Each name comes once. */
  read(): AsyncIterable<Batch>;
  close(): MaybePromise<void>;
}

/**
 * What became of a record: `added`, or `changed` what an earlier copy left; the `same` is there already; counters or a last use that
 * went on there were `kept`; it is `over`: it says nothing any more, or the audit log is full of newer ones.
 */
export const OUTCOMES = ['added', 'changed', 'same', 'kept', 'over'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A state that takes records in: an empty one, or an earlier copy of the source. Nothing it does is harmed by doing it again. */
export interface Target {
  readonly name: string;
  /** Whether it holds keys, tokens or audit entries. */
  isUsed(): MaybePromise<boolean>;
  /** All keys, tokens and entries that it holds. */
  held(): AsyncIterable<Batch> | Iterable<Batch>;
  /**
   * Returns for each record what became of it, or would in a dry run. Throws TransferError if it holds a key or token that cannot
   * come from an earlier copy of the source.
   */
  take(batch: Batch): MaybePromise<readonly Outcome[]>;
  /** Keeps what was taken, with this audit entry if there is one, and answers how much there is now. Call it once. */
  finish(entry: AuditDraft | null): MaybePromise<Counts>;
  /** Frees everything. What is not finished was not taken where the state can take all or nothing. */
  close(): MaybePromise<void>;
}

/** What targets go by. */
export interface TargetOptions {
  /** What the logs keep. */
  readonly audit: AuditSettings;
  /** How bans grow and are forgotten; decides how long conduct is remembered. */
  readonly escalation: BanEscalation | null;
  /** Only says what would be done. */
  readonly dryRun: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
}
