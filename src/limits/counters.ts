import { isSameCounter, meterOf, windowId } from './kinds.ts';
import type { BanEscalation, Window } from './limits.ts';
import type { Meter } from './windows.ts';

/** All state of one subject. There may be millions, so no property is optional. */
export interface Counters {
  /** The windows that `cells` belong to, in order. */
  windows: readonly Window[];
  /** The cells of all windows, one after the other. */
  cells: number[];
  /** `null` until the first refusal: most subjects never have one. */
  strikeState: StrikeState | null;
}

/** State left by refusals. Times are Unix milliseconds; 0 is never. */
export interface StrikeState {
  /** First refusal by the client's own windows, and the retry time sent with it. */
  refusedAt: number;
  refusedUntil: number;
  /**
   * The same for each scope separately, because a refusal for one operation does not apply to another. Absent: none.
   */
  refusedIn?: ScopeRefusal[] | undefined;
  /** Times of strikes, oldest first; never more than a ban needs. */
  strikes: number[];
  bannedUntil: number;
  /** When the last ban began, and its limit: `null` for a manual ban. Shown to operators only. */
  bannedSince: number;
  bannedFor: Window | null;
  /** Ban level as of `cleanSince`. */
  rung: number;
  /** Since when there was neither strike nor ban. */
  cleanSince: number;
}

/** A scope, the first refusal by its windows, and the retry time sent with it. */
export interface ScopeRefusal {
  readonly scope: string;
  at: number;
  until: number;
}

export function newCounters(windows: readonly Window[]): Counters {
  const size = windows.reduce((sum, window) => sum + meterOf(window).size, 0);
  return { windows, cells: new Array<number>(size).fill(0), strikeState: null };
}

export function newStrikeState(): StrikeState {
  return {
    refusedAt: 0,
    refusedUntil: 0,
    strikes: [],
    bannedUntil: 0,
    bannedSince: 0,
    bannedFor: null,
    rung: 0,
    cleanSince: 0,
  };
}

/**
 * Makes the counters use `windows`. A window of the same kind, span and scope keeps its count even if its limit
 * changed; a new window starts at zero. Changed limits void earlier retry times; bans and levels stay.
 */
export function adoptWindows(counters: Counters, windows: readonly Window[]): void {
  if (counters.windows === windows) return;
  const old = new Map<string, number[]>();
  eachWindow(counters.windows, (window, at, { size }) =>
    old.set(windowId(window), counters.cells.slice(at, at + size)),
  );
  const cells: number[] = [];
  eachWindow(windows, (window, _at, { size }) => {
    cells.push(...(old.get(windowId(window)) ?? new Array<number>(size).fill(0)));
  });
  if (!sameLimits(counters.windows, windows) && counters.strikeState) {
    counters.strikeState.refusedAt = 0;
    clearRefusals(counters.strikeState);
  }
  counters.windows = windows;
  counters.cells = cells;
}

/** Voids earlier retry times: the next refusal counts as a first one. */
export function clearRefusals(state: StrikeState): void {
  state.refusedUntil = 0;
  state.refusedIn = undefined;
}

/**
 * When these counters equal new ones and can be dropped. `escalation` is `undefined` if it is unknown; then counters
 * with strikes or levels return Infinity.
 */
export function staleAt(counters: Counters, escalation: BanEscalation | null | undefined): number {
  let stale = 0;
  eachWindow(counters.windows, (window, at, meter) => {
    stale = Math.max(stale, meter.staleAt(counters.cells, at, window));
  });
  const state = counters.strikeState;
  if (!state) return stale;
  if (escalation === undefined && (state.rung > 0 || state.strikes.length > 0)) return Number.POSITIVE_INFINITY;
  const memory = escalation ? Math.max(escalation.window, state.rung * escalation.decay) : 0;
  const scopeEnds = (state.refusedIn ?? []).map(({ until }) => until);
  return Math.max(stale, state.refusedUntil, ...scopeEnds, state.bannedUntil, state.cleanSince + memory);
}

export function eachWindow(
  windows: readonly Window[],
  visit: (window: Window, at: number, meter: Meter) => void,
): void {
  let at = 0;
  for (const window of windows) {
    const meter = meterOf(window);
    visit(window, at, meter);
    at += meter.size;
  }
}

function sameLimits(a: readonly Window[], b: readonly Window[]): boolean {
  return a.length === b.length && a.every((window, i) => isSameCounter(window, b[i]!) && window.limit === b[i]!.limit);
}
