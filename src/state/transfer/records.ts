import type { KeyRecord } from '../../keys/key.ts';
import type { AuditEntry } from '../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../keys/operators/tokens.ts';
import type { Counters } from '../../limits/counters.ts';

/** Record types in transfer order. Counters follow keys, so they never precede the subjects that they count. */
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

export type Batch = { [T in RecordType]: { readonly type: T; readonly values: readonly ValueOf[T][] } }[RecordType];

/** Records per batch: more would block Redis or this process for too long. */
export const BATCH = 500;

export type Counts = Readonly<Record<RecordType, number>>;

export function noCounts(): Record<RecordType, number> {
  return { key: 0, token: 0, audit: 0, ban: 0, ledger: 0, use: 0 };
}

const NAMES: { readonly [T in RecordType]: (value: ValueOf[T]) => string } = {
  key: ({ id }) => id,
  token: ({ name }) => name,
  audit: ({ number }) => String(number),
  ban: ({ number }) => String(number),
  ledger: ({ subject }) => subject,
  use: ({ id }) => id,
};

/** Unique among records of the same type. */
export function nameIn<T extends RecordType>(type: T, value: ValueOf[T]): string {
  return NAMES[type](value);
}
