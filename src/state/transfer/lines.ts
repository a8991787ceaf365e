import { Cache } from '../../common/cache.ts';
import { formatDuration } from '../../config/units.ts';
import { type KeyRecord, wholeRecord } from '../../keys/key.ts';
import type { Counters, StrikeState } from '../../limits/counters.ts';
import { unknownKind } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';
import type { RecordType, SubjectCounters, ValueOf } from './records.ts';

type Limit = Omit<Window, 'name'>;

/**
 * A ledger in a line: windows without names, and without limits where no conduct depends on them. When scopes were refused is left
 * out: at worst one more refusal is no strike.
 */
export interface CounterLine {
  readonly windows: readonly (Omit<Limit, 'limit'> & { readonly limit?: number })[];
  readonly cells: readonly number[];
  readonly conduct: (Omit<StrikeState, 'bannedFor' | 'refusedIn'> & { readonly bannedFor: Limit | null }) | null;
}

/** A record as a line of a file has it, without its type. */
export function lineOf<T extends RecordType>(type: T, value: ValueOf[T]): unknown {
  if (type === 'key') return keyLine(value as KeyRecord);
  if (type !== 'ledger') return value;
  const { subject, ledger } = value as SubjectCounters;
  return { subject, ...counterLine(ledger) };
}

/** A record of a line that was checked. */
export function recordIn<T extends RecordType>(type: T, line: unknown): ValueOf[T] {
  if (type === 'key') return wholeRecord(line as Partial<KeyRecord>) as ValueOf[T];
  if (type !== 'ledger') return line as ValueOf[T];
  const { subject, ...rest } = line as { subject: string } & CounterLine;
  return { subject, ledger: countersIn(rest) } as ValueOf[T];
}

/** Versions of storegate that know no scopes can read a key without any. The record may not be checked yet, and so be any. */
function keyLine(record: KeyRecord): Partial<KeyRecord> {
  const { scopes, ...rest } = record;
  return Array.isArray(scopes) && scopes.length === 0 ? rest : record;
}

/** Says of a ledger what holds wherever it is kept; equal ledgers have equal lines. */
export function counterLine({ windows, cells, conduct }: Counters): CounterLine {
  return {
    windows: windows.map((window) => {
      const { limit, ...rest } = unknownKind(window);
      return conduct === null ? rest : unknownKind(window);
    }),
    cells,
    conduct: conduct && {
      refusedAt: conduct.refusedAt,
      refusedUntil: conduct.refusedUntil,
      strikes: conduct.strikes,
      bannedUntil: conduct.bannedUntil,
      bannedSince: conduct.bannedSince,
      bannedFor: conduct.bannedFor && unknownKind(conduct.bannedFor),
      rung: conduct.rung,
      cleanSince: conduct.cleanSince,
    },
  };
}

export function countersIn({ windows, cells, conduct }: CounterLine): Counters {
  return {
    // A limit that nothing depends on may be any: counters know their window by kind and span.
    windows: windows.map((window) => windowOf({ limit: 1, ...window })),
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

export function windowOf(limit: Limit): Window {
  const { span } = limit;
  const key = String(span);
  let name = names.get(key);
  if (name === undefined) {
    name = formatDuration(span);
    names.set(key, name);
  }
  return { name, ...unknownKind(limit) };
}
