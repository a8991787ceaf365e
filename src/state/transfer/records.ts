import type { KeyRecord } from '../../keys/key.ts';
import type { AuditEntry } from '../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../keys/operators/tokens.ts';
import type { Counters } from '../../limits/counters.ts';

/** What a state holds, in the order in which it is moved. Ledgers come after the keys and so never before what they count. */
export const TYPES = ['key', 'token', 'audit', 'ban', 'ledger', 'use'] as const;
export type RecordType = (typeof TYPES)[number];

/** A subject's counters, strikes and bans. */
export interface SubjectCounters {
  readonly subject: string;
  readonly ledger: Counters;
}

/** When a key was last used, Unix milliseconds. */
export interface LastUse {
  readonly id: string;
  readonly at: number;
}

export interface ValueOf {
  readonly key: KeyRecord;
  readonly token: TokenRecord;
  readonly audit: AuditEntry;
  /** Of the log of bans. */
  readonly ban: AuditEntry;
  readonly ledger: SubjectCounters;
  readonly use: LastUse;
}

/** Some records of one type. */
export type Batch = { [T in RecordType]: { readonly type: T; readonly values: readonly ValueOf[T][] } }[RecordType];

/** Records in one batch: more would keep Redis, or this process, busy for too long at once. */
export const BATCH = 500;

/** How many records there are of each type. */
export type Counts = Readonly<Record<RecordType, number>>;

export function noCounts(): Record<RecordType, number> {
  return { key: 0, token: 0, audit: 0, ban: 0, ledger: 0, use: 0 };
}

/** The name of a record, unique among those of its type. */
export function nameIn<T extends RecordType>(type: T, value: ValueOf[T]): string {
  switch (type) {
    case 'key':
    case 'use':
      return (value as LastUse).id;
    case 'token':
      return (value as TokenRecord).name;
    case 'audit':
    case 'ban':
      return String((value as AuditEntry).number);
    default:
      return (value as SubjectCounters).subject;
  }
}
