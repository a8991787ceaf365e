import { ExpectedError } from '../../common/expected-error.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { MovedUsage } from '../../ledger/moved-usage.ts';
import type { KeyRecord } from '../keys/key.ts';
import type { AuditDraft, AuditEntry } from '../operators/audit-log.ts';
import type { TokenRecord } from '../operators/tokens.ts';
import type { CounterLine } from './counter-line.ts';

/** Record types in the order of files and moves: keys precede the counters of their subjects. */
export const TYPES = [
  'key',
  'token',
  'audit',
  'ban',
  'counters',
  'use',
  'usage',
] as const;
export type RecordType = (typeof TYPES)[number];

/** Unix milliseconds. */
interface LastUse {
  readonly id: string;
  readonly at: number;
}

/** The moved records, the same in every state and in files. */
export interface ValueOf {
  readonly key: KeyRecord;
  readonly token: TokenRecord;
  readonly audit: AuditEntry;
  /** From the ban log. */
  readonly ban: AuditEntry;
  readonly counters: CounterLine;
  readonly use: LastUse;
  readonly usage: MovedUsage;
}

export interface Batch<T extends RecordType = RecordType> {
  readonly type: T;
  readonly values: readonly ValueOf[T][];
}

/** Records per batch: more would block Redis or this process for too long. */
export const BATCH = 500;

export type Counts = Readonly<Record<RecordType, number>>;

export function noCounts(): Record<RecordType, number> {
  return { key: 0, token: 0, audit: 0, ban: 0, counters: 0, use: 0, usage: 0 };
}

/** Reads a state or a file. */
export interface Source {
  /** Display name without passwords. */
  readonly name: string;
  readonly kind: string;
  /** Whether every record was checked (check.ts). */
  readonly isChecked: boolean;
  /** Whether no gateway counts in it until it is closed. */
  readonly isStopped: boolean;
  /** Numbers known without reading everything, for a progress bar. */
  counts(): MaybePromise<Counts>;
  /** All records, in the order of `TYPES`. */
  read(): AsyncIterable<Batch>;
  close(): MaybePromise<void>;
}

/** Writes a state or a file, which must be empty. */
export interface Target {
  readonly name: string;
  /** Whether it is a state, which gateways continue. */
  readonly isState: boolean;
  /** What the target has now. */
  counts(): MaybePromise<Counts>;
  /** Whether it has usage of keys. Any other usage is replaced by an import. */
  hasUsageOfKeys(): MaybePromise<boolean>;
  /** Adds records, in the order of `TYPES`. */
  add(batch: Batch): MaybePromise<void>;
  /**
   * Completes the import. States add this entry to their audit log. `isCopy`: another state may go on
   * from the same records, so this one exports no usage of them.
   */
  finish(
    entry: AuditDraft,
    how: { readonly isCopy: boolean },
  ): MaybePromise<void>;
  /** Frees all resources. Without `finish`, no gateway starts on the added records. */
  close(): MaybePromise<void>;
}

/** Adds batches by their type. */
export type Adders = {
  readonly [T in RecordType]: (
    values: readonly ValueOf[T][],
  ) => MaybePromise<void>;
};

export function addWith(
  adders: Adders,
  { type, values }: Batch,
): MaybePromise<void> {
  return (adders[type] as (values: Batch['values']) => MaybePromise<void>)(
    values,
  );
}

/** A move cannot continue. The message states the place and the cause. */
export class TransferError extends ExpectedError {
  override name = 'TransferError';
}
