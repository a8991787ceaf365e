import type { Eventually } from '../../common/eventually.ts';
import type { AuditSettings } from '../../config/config.ts';
import type { AuditDraft } from '../../keys/operators/audit-log.ts';
import type { Ladder } from '../../limits/limits.ts';
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
  counts(): Eventually<Counts>;
  /** All records, type after type in the order of `TYPES`. Each name comes once. */
  read(): AsyncIterable<Batch>;
  close(): Eventually<void>;
}

/**
 * What became of a record: `added`, or `changed` what was there; the `same` is there already; a newer one is there and was `kept`;
 * it is `over`: it says nothing any more, or the audit log is full of newer ones; or a `conflict`, and what is there was kept.
 */
export const OUTCOMES = ['added', 'changed', 'same', 'kept', 'over', 'conflict'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What becomes of one record; a conflict says in one sentence with what. */
export type Taken = Exclude<Outcome, 'conflict'> | { readonly conflict: string };

/** A state that takes records in. Nothing it does is harmed by doing it again. */
export interface Target {
  readonly name: string;
  /** Whether it holds keys, tokens or audit entries. */
  isUsed(): Eventually<boolean>;
  /** Answers for each record what became of it, or would where this is a dry run. */
  take(batch: Batch): Eventually<readonly Taken[]>;
  /** Subjects that are banned now. After the last `take`. */
  banned(): AsyncIterable<string> | Iterable<string>;
  /** The names of all tokens. */
  tokens(): Eventually<readonly string[]>;
  /** Keeps what was taken, with this audit entry if there is one, and answers how much there is now. Call it once. */
  finish(entry: AuditDraft | null): Eventually<Counts>;
  /** Frees everything. What is not finished was not taken where the state can take all or nothing. */
  close(): Eventually<void>;
}

/** What targets go by. */
export interface TargetOptions {
  /** What the logs keep. */
  readonly audit: AuditSettings;
  /** How bans grow and are forgotten; decides how long conduct is remembered. */
  readonly ladder: Ladder | null;
  /** Only says what would be done. */
  readonly dryRun: boolean;
  /** Unix milliseconds. */
  readonly clock: () => number;
}
