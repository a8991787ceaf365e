import { formatDuration } from '../../config/units.ts';
import type { Counters, StrikeState } from '../../limits/counters.ts';
import { unknownKind } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';

type Limit = Omit<Window, 'name'>;

/**
 * Counters as a record: windows without names, and without limits unless the strike state depends
 * on them. The times of scope refusals are omitted: at worst, one more refusal is not a strike.
 */
export interface CounterLine {
  readonly subject: string;
  readonly windows: readonly (Omit<Limit, 'limit'> & {
    readonly limit?: number;
  })[];
  readonly cells: readonly number[];
  readonly strikeState:
    | (Omit<StrikeState, 'bannedFor' | 'refusedIn'> & {
        readonly bannedFor: Limit | null;
      })
    | null;
}

/** Independent of the kind of state; equal counters have equal lines. */
export function counterLine(subject: string, counters: Counters): CounterLine {
  const { windows, cells, strikeState } = counters;
  return {
    subject,
    windows: windows.map((window) => {
      const { limit, ...rest } = unknownKind(window);
      return strikeState === null ? rest : unknownKind(window);
    }),
    cells,
    strikeState: strikeState && strikeStateIn(strikeState),
  };
}

function strikeStateIn({
  refusedIn,
  bannedFor,
  ...state
}: StrikeState): CounterLine['strikeState'] {
  return { ...state, bannedFor: bannedFor && unknownKind(bannedFor) };
}

export function countersIn({
  windows,
  cells,
  strikeState,
}: Omit<CounterLine, 'subject'>): Counters {
  return {
    // An unused limit may have any value: counters identify windows by kind and span.
    windows: windows.map((window) => windowOf({ limit: 1, ...window })),
    cells: [...cells],
    strikeState: strikeState && {
      ...strikeState,
      strikes: [...strikeState.strikes],
      bannedFor: strikeState.bannedFor && windowOf(strikeState.bannedFor),
    },
  };
}

export function windowOf(limit: Parameters<typeof unknownKind>[0]): Window {
  return { name: formatDuration(limit.span), ...unknownKind(limit) };
}
