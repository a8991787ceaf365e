import { Cache } from '../../common/cache.ts';
import { formatDuration } from '../../config/units.ts';
import type { Conduct, Ledger } from '../../limits/ledger.ts';
import type { Window } from '../../limits/limits.ts';
import type { RecordType, SubjectLedger, ValueOf } from './records.ts';

type Limit = Pick<Window, 'kind' | 'span' | 'limit'>;

/** A ledger in a line: windows without names, and without limits where no conduct depends on them. */
export interface LedgerLine {
  readonly windows: readonly (Omit<Limit, 'limit'> & { readonly limit?: number })[];
  readonly cells: readonly number[];
  readonly conduct: (Omit<Conduct, 'bannedFor'> & { readonly bannedFor: Limit | null }) | null;
}

/** A record as a line of a file has it, without its type. */
export function lineOf<T extends RecordType>(type: T, value: ValueOf[T]): unknown {
  if (type !== 'ledger') return value;
  const { subject, ledger } = value as SubjectLedger;
  return { subject, ...ledgerLine(ledger) };
}

/** A record of a line that was checked. */
export function recordIn<T extends RecordType>(type: T, line: unknown): ValueOf[T] {
  if (type !== 'ledger') return line as ValueOf[T];
  const { subject, ...rest } = line as { subject: string } & LedgerLine;
  return { subject, ledger: ledgerIn(rest) } as ValueOf[T];
}

/** Says of a ledger what holds wherever it is kept; equal ledgers have equal lines. */
export function ledgerLine({ windows, cells, conduct }: Ledger): LedgerLine {
  return {
    windows: windows.map(({ kind, span, limit }) => (conduct === null ? { kind, span } : { kind, span, limit })),
    cells,
    conduct: conduct && {
      refusedAt: conduct.refusedAt,
      refusedUntil: conduct.refusedUntil,
      strikes: conduct.strikes,
      bannedUntil: conduct.bannedUntil,
      bannedSince: conduct.bannedSince,
      bannedFor: conduct.bannedFor && limitOf(conduct.bannedFor),
      rung: conduct.rung,
      cleanSince: conduct.cleanSince,
    },
  };
}

export function ledgerIn({ windows, cells, conduct }: LedgerLine): Ledger {
  return {
    // A limit that nothing depends on may be any: counters know their window by kind and span.
    windows: windows.map(({ kind, span, limit = 1 }) => windowOf({ kind, span, limit })),
    cells: [...cells],
    conduct: conduct && {
      ...conduct,
      strikes: [...conduct.strikes],
      bannedFor: conduct.bannedFor && windowOf(conduct.bannedFor),
    },
  };
}

/** Spans have few lengths, and the name of each is the same. */
const names = new Cache<string>(1_000);

export function windowOf({ kind, span, limit }: Limit): Window {
  const key = String(span);
  let name = names.get(key);
  if (name === undefined) {
    name = formatDuration(span);
    names.set(key, name);
  }
  return { name, kind, limit, span };
}

function limitOf({ kind, span, limit }: Limit): Limit {
  return { kind, span, limit };
}
