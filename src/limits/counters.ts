import { isSameCounter, meterOf, windowId } from './kinds.ts';
import type { Window } from './limits.ts';
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
  /** The wait after a refusal by the client's own windows. */
  refused: Wait;
  /**
   * The same for each scope, because a refusal for one operation does not apply to another. Absent:
   * none.
   */
  refusedIn?: (Wait & { readonly scope: string })[] | undefined;
  /** Times of strikes, oldest first; never more than a ban needs. */
  strikes: number[];
  bannedUntil: number;
  bannedSince: number;
  /** The limit that the ban is for, shown to operators only; `null` for a manual ban. */
  bannedFor: Window | null;
  /** Ban level as of `cleanSince`. */
  level: number;
  /** Since when there was neither strike nor ban. */
  cleanSince: number;
  /** When the strikes and the level have no effect any more. */
  forgottenAt: number;
}

/** From the first refusal by a limit until its earliest retry time. */
export interface Wait {
  at: number;
  until: number;
  /** Refusals in it, without those within the grace of the first. */
  refusals: number;
}

export function newCounters(windows: readonly Window[]): Counters {
  const size = windows.reduce((sum, window) => sum + meterOf(window).size, 0);
  return { windows, cells: new Array<number>(size).fill(0), strikeState: null };
}

export function newStrikeState(): StrikeState {
  return {
    refused: noWait(),
    strikes: [],
    bannedUntil: 0,
    bannedSince: 0,
    bannedFor: null,
    level: 0,
    cleanSince: 0,
    forgottenAt: 0,
  };
}

export function noWait(): Wait {
  return { at: 0, until: 0, refusals: 0 };
}

/**
 * Makes the counters use `windows`. A window of the same kind, span and scope keeps its count even
 * if its limit changed; a new window starts at zero. Changed limits void earlier retry times; bans
 * and levels stay.
 */
export function adoptWindows(
  counters: Counters,
  windows: readonly Window[],
): void {
  if (counters.windows === windows) return;
  const old = new Map<string, number[]>();
  eachWindow(counters.windows, (window, at, { size }) =>
    old.set(windowId(window), counters.cells.slice(at, at + size)),
  );
  const cells: number[] = [];
  eachWindow(windows, (window, _at, { size }) => {
    cells.push(
      ...(old.get(windowId(window)) ?? new Array<number>(size).fill(0)),
    );
  });
  if (!sameLimits(counters.windows, windows) && counters.strikeState)
    endWaits(counters.strikeState);
  counters.windows = windows;
  counters.cells = cells;
}

/** Voids earlier retry times: the next refusal counts as a first one. */
export function endWaits(state: StrikeState): void {
  state.refused = noWait();
  state.refusedIn = undefined;
}

/** When these counters equal new ones and can be dropped. */
export function staleAt({ windows, cells, strikeState }: Counters): number {
  let stale = 0;
  eachWindow(windows, (window, at, meter) => {
    stale = Math.max(stale, meter.staleAt(cells, at, window));
  });
  if (!strikeState) return stale;
  const { refused, refusedIn = [], bannedUntil, forgottenAt } = strikeState;
  for (const { until } of refusedIn) stale = Math.max(stale, until);
  return Math.max(stale, refused.until, bannedUntil, forgottenAt);
}

/**
 * The rule for stored times: what lies further in the future than its own span allows began now.
 * The clock was fast when it was stored, and has been corrected. So no window, ban or wait lasts
 * longer than its span, and every counted unit stays counted.
 */
export function correctTimes(
  { windows, cells, strikeState }: Counters,
  now: number,
): void {
  let at = 0;
  for (const window of windows) {
    const meter = meterOf(window);
    meter.correctTimes(cells, at, window, now);
    at += meter.size;
  }
  if (strikeState) correctStrikeTimes(strikeState, now);
}

/** `correctTimes` without the windows, which may be those of earlier limits. */
export function correctStrikeTimes(state: StrikeState, now: number): void {
  const { refused, refusedIn, strikes } = state;
  // A client that waits as the fast clock demanded returns before the corrected end.
  if (refused.at > now) state.refused = noWait();
  for (const wait of refusedIn ?? [])
    if (wait.at > now) Object.assign(wait, noWait());
  for (let i = 0; i < strikes.length; i++)
    strikes[i] = Math.min(strikes[i]!, now);
  if (state.bannedSince > now) {
    state.bannedUntil -= state.bannedSince - now;
    state.bannedSince = now;
  }
  const excess = state.cleanSince - Math.max(now, state.bannedUntil);
  if (excess > 0) {
    state.cleanSince -= excess;
    state.forgottenAt -= excess;
  }
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
  return (
    a.length === b.length && a.every((window, i) => isSameLimit(window, b[i]!))
  );
}

function isSameLimit(a: Window, b: Window): boolean {
  return isSameCounter(a, b) && a.limit === b.limit && a.excess === b.excess;
}
