import { formatDuration } from '../../config/units.ts';
import { type KeyRecord, wholeRecord } from '../../keys/key.ts';
import type { Counters, StrikeState } from '../../limits/counters.ts';
import { unknownKind } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';
import type { RecordType, SubjectCounters, ValueOf } from './records.ts';

type Limit = Omit<Window, 'name'>;

/**
 * Counters in a line: windows without names, and without limits unless the strike state depends on
 * them. The times of scope refusals are omitted: at worst, one more refusal is not a strike.
 */
export interface CounterLine {
  readonly windows: readonly (Omit<Limit, 'limit'> & { readonly limit?: number })[];
  readonly cells: readonly number[];
  readonly conduct:
    | (Omit<StrikeState, 'bannedFor' | 'refusedIn'> & { readonly bannedFor: Limit | null })
    | null;
}

/** Without its type. */
export function lineOf<T extends RecordType>(type: T, value: ValueOf[T]): unknown {
  if (type === 'key') return keyLine(value as KeyRecord);
  if (type !== 'ledger') return value;
  const { subject, counters } = value as SubjectCounters;
  return { subject, ...counterLine(counters) };
}

export function recordIn<T extends RecordType>(type: T, line: unknown): ValueOf[T] {
  if (type === 'key') return wholeRecord(line as Partial<KeyRecord>) as ValueOf[T];
  if (type !== 'ledger') return line as ValueOf[T];
  const { subject, ...rest } = line as { subject: string } & CounterLine;
  return { subject, counters: countersIn(rest) } as ValueOf[T];
}

/**
 * Versions without scopes can read keys that omit the field. The record may be unchecked and have
 * any form.
 */
function keyLine(record: KeyRecord): Partial<KeyRecord> {
  const { scopes, ...rest } = record;
  return Array.isArray(scopes) && scopes.length === 0 ? rest : record;
}

/** Independent of the kind of state; equal counters have equal lines. */
export function counterLine({ windows, cells, strikeState: state }: Counters): CounterLine {
  return {
    windows: windows.map((window) => {
      const { limit, ...rest } = unknownKind(window);
      return state === null ? rest : unknownKind(window);
    }),
    cells,
    conduct: state && {
      refused: state.refused,
      strikes: state.strikes,
      bannedUntil: state.bannedUntil,
      bannedSince: state.bannedSince,
      bannedFor: state.bannedFor && unknownKind(state.bannedFor),
      level: state.level,
      cleanSince: state.cleanSince,
      forgottenAt: state.forgottenAt,
    },
  };
}

export function countersIn({ windows, cells, conduct: state }: CounterLine): Counters {
  return {
    // An unused limit may have any value: counters identify windows by kind and span.
    windows: windows.map((window) => windowOf({ limit: 1, ...window })),
    cells: [...cells],
    strikeState: state && {
      ...state,
      strikes: [...state.strikes],
      bannedFor: state.bannedFor && windowOf(state.bannedFor),
    },
  };
}

export function windowOf(limit: Parameters<typeof unknownKind>[0]): Window {
  return { name: formatDuration(limit.span), ...unknownKind(limit) };
}
