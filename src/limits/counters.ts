import { isSameCounter, meterOf, windowId } from './kinds.ts';
import type { BanEscalation, Window } from './limits.ts';
import type { Meter } from './windows.ts';

/** All that is remembered about one subject. Made for being held by the million: no property is optional. */
export interface Counters {
  /** The windows that `cells` belong to, in order. */
  windows: readonly Window[];
  /** The counters of all windows, one run of cells after the other. */
  cells: number[];
  /** `null` until the first refusal: most subjects never have one. */
  conduct: StrikeState | null;
}

/** What refusals have left behind. Times are Unix milliseconds; 0 is never. */
export interface StrikeState {
  /** The first refusal by the client's own windows, and when the caller was told to come back. */
  refusedAt: number;
  refusedUntil: number;
  /** The same for scopes, each by itself: who was refused for one operation has heard nothing of another. Absent: none. */
  refusedIn?: RefusedIn[] | undefined;
  /** When strikes happened, oldest first; never more than the ladder needs. */
  strikes: number[];
  bannedUntil: number;
  /** When the last ban began, and the limit it is for: `null` where a person imposed it. Both are told to operators alone. */
  bannedSince: number;
  bannedFor: Window | null;
  /** Bans not yet forgotten, as of `cleanSince`. */
  rung: number;
  /** Since when there was neither strike nor ban. */
  cleanSince: number;
}

/** A scope, the first refusal by its windows, and when the caller was told to come back. */
export interface RefusedIn {
  readonly scope: string;
  at: number;
  until: number;
}

export function newCounters(windows: readonly Window[]): Counters {
  return { windows, cells: freshCells(windows), conduct: null };
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
 * Makes the ledger count in `windows`. A window of the same kind, span and scope keeps its count, whatever its limit is now;
 * an unknown one starts fresh. What was told about coming back is void when limits change; bans and rungs stay.
 */
export function adoptWindows(ledger: Counters, windows: readonly Window[]): void {
  if (ledger.windows === windows) return;
  const old = new Map<string, number[]>();
  eachWindow(ledger.windows, (window, at, { size }) => old.set(windowId(window), ledger.cells.slice(at, at + size)));
  const cells: number[] = [];
  eachWindow(windows, (window, _at, { size }) => {
    cells.push(...(old.get(windowId(window)) ?? new Array<number>(size).fill(0)));
  });
  if (!sameLimits(ledger.windows, windows) && ledger.conduct) {
    ledger.conduct.refusedAt = 0;
    forgiveRefusals(ledger.conduct);
  }
  ledger.windows = windows;
  ledger.cells = cells;
}

/** What was told about coming back no longer holds: the next refusal is a first one again. */
export function forgiveRefusals(conduct: StrikeState): void {
  conduct.refusedUntil = 0;
  conduct.refusedIn = undefined;
}

/**
 * When this ledger says no more than a new one would, and can be dropped. `ladder`: `undefined` where it is not known yet; then
 * nobody can say when strikes and rungs are forgotten, and the answer is Infinity for a ledger that has any.
 */
export function staleAt(ledger: Counters, ladder: BanEscalation | null | undefined): number {
  let stale = 0;
  eachWindow(ledger.windows, (window, at, meter) => {
    stale = Math.max(stale, meter.staleAt(ledger.cells, at, window));
  });
  const conduct = ledger.conduct;
  if (!conduct) return stale;
  if (ladder === undefined && (conduct.rung > 0 || conduct.strikes.length > 0)) return Number.POSITIVE_INFINITY;
  const memory = ladder ? Math.max(ladder.window, conduct.rung * ladder.decay) : 0;
  const told = (conduct.refusedIn ?? []).map(({ until }) => until);
  return Math.max(stale, conduct.refusedUntil, ...told, conduct.bannedUntil, conduct.cleanSince + memory);
}

function freshCells(windows: readonly Window[]): number[] {
  return new Array<number>(windows.reduce((size, window) => size + meterOf(window).size, 0)).fill(0);
}

/** Calls `visit` with each window, the index of its first cell, and its meter. */
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
