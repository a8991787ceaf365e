import {
  freeRefusals,
  noteRefusal,
  recentStrikes,
  strike,
} from './ban-escalation.ts';
import {
  adoptWindows,
  type Counters,
  correctTimes,
  eachWindow,
  newStrikeState,
} from './counters.ts';
import { meterOf } from './kinds.ts';
import type { BanEscalation, Limits, Window } from './limits.ts';
import { countsIn, isOwn, NO_SCOPES, type Scopes } from './scopes.ts';

/** Readings of a client's windows, or of the address's guard window before the client is known. */
export interface Readings {
  /** One per window, in the order of the limits. */
  readonly readings: readonly Reading[];
  /** The clock of the readings, Unix milliseconds; waits are counted from it. */
  readonly now: number;
  /** Strikes towards the next ban; absent before the client is known. */
  readonly strikes?: number;
}

/** Whether a request is admitted, by the state's clock. Times are Unix milliseconds. */
export interface Admission extends Readings {
  readonly verdict: 'admitted' | 'limited' | 'banned';
  /**
   * Earliest retry: never before the longest violated window resets or the ban ends. 0 when
   * admitted.
   */
  readonly retryAt: number;
  /** The longest window that the request does not fit into; `null` if it fits all. */
  readonly violated: Window | null;
  /** Strikes towards the next ban, including this request's. */
  readonly strikes: number;
  /** Further refusals by the same limit that are not strikes; 0 unless limited. */
  readonly freeRefusals: number;
  /** When the ban in force ends; 0 without one. */
  readonly bannedUntil: number;
  /** This request was the last strike: the ban begins with it. */
  readonly banBegins: boolean;
  /** Ban level, including the ban that begins with this request; absent if none begins. */
  readonly banLevel?: number;
  /** A window that does not refuse has excess (`excessOf`). */
  readonly exceeds?: true;
  /**
   * Who decided instead of the state: `memory` for a known earlier refusal, `local` while the state
   * is down. Absent: the state.
   */
  readonly by?: 'memory' | 'local';
}

export interface Reading {
  readonly window: Window;
  /**
   * Whole units that the window counts. They exceed the limit after a cost that was known with the
   * response, or if the limit was lowered.
   */
  readonly used: number;
  readonly resetAt: number;
  /** The window only watches, and the request, which did not fit, is not charged. */
  readonly unfit?: true;
}

/** Units that fit; never below 0. */
export function remainingIn({ window, used }: Reading): number {
  return Math.max(0, window.limit - used);
}

export interface Excess {
  readonly window: Window;
  /** Units of the request that did not fit. */
  readonly units: number;
}

const NO_EXCESS: readonly Excess[] = Object.freeze([]);

/** Windows that an admitted request of this cost exceeded, as the state counts. */
export function excessOf(
  { verdict, by, exceeds, readings }: Admission,
  cost: number,
  scopes: Scopes,
): readonly Excess[] {
  if (exceeds !== true || verdict !== 'admitted' || by === 'local')
    return NO_EXCESS;
  return readings
    .filter((reading) => hasExcess(reading) && countsIn(reading.window, scopes))
    .map(({ window, used, unfit }) => ({
      window,
      units: unfit ? cost : Math.min(cost, used - window.limit),
    }));
}

/** Whether the window has units above its limit, or the request did not fit, and refuses nothing. */
export function hasExcess({ window, used, unfit }: Reading): boolean {
  return unfit === true || (window.excess === 'overage' && used > window.limit);
}

/** `packed`: used units; below 0 the request was unfit: -1 is no used unit, -2 one. */
export function readingOf(
  window: Window,
  packed: number,
  resetAt: number,
): Reading {
  return packed >= 0
    ? { window, used: packed, resetAt }
    : { window, used: -1 - packed, resetAt, unfit: true };
}

/** The admission of a client without a ban. */
export function admitted(
  now: number,
  readings: readonly Reading[],
  strikes: number,
): Admission {
  return {
    verdict: 'admitted',
    now,
    readings,
    retryAt: 0,
    violated: null,
    strikes,
    freeRefusals: 0,
    bannedUntil: 0,
    banBegins: false,
  };
}

/** An admission that no window counts: all read as unused. */
export function uncounted({ windows }: Limits, now: number): Admission {
  const unused = (window: Window) => ({
    window,
    used: 0,
    resetAt: meterOf(window).endFrom(window, now),
  });
  return admitted(now, windows.map(unused), 0);
}

/**
 * Decides and charges in one step, like its twin state/redis/lua/admit-n.lua. Charges `cost` to
 * every window that the request counts in (the client's own and those of `scopes`), or to none: a
 * refused request is free. Other windows are only read. A refusal while refused is a strike, and
 * enough strikes are a ban. Updates `counters` in place; the caller must hold them exclusively.
 */
export function admit(
  counters: Counters,
  limits: Limits,
  cost: number,
  now: number,
  scopes: Scopes = NO_SCOPES,
): Admission {
  const { windows, escalation } = limits;
  adoptWindows(counters, windows);
  correctTimes(counters, now);
  const bannedUntil = banEnd(counters, now);
  const violated = longestViolated(counters, cost, now, scopes);
  if (!violated && bannedUntil === 0) {
    const unfit = chargeAll(counters, cost, now, scopes);
    const admission = admissionOf(
      counters,
      escalation,
      now,
      'admitted',
      null,
      0,
      false,
    );
    return unfit.length === 0 ? admission : withUnfit(admission, unfit);
  }
  const fitsAt = violated ? latestFit(counters, cost, now, scopes) : 0;
  if (bannedUntil > 0)
    return admissionOf(
      counters,
      escalation,
      now,
      'banned',
      violated,
      fitsAt,
      false,
    );
  let banBegins = false;
  if (escalation) {
    counters.strikeState ??= newStrikeState();
    banBegins =
      noteRefusal(counters.strikeState, escalation, violated, fitsAt, now) ===
      'ban';
  }
  return admissionOf(
    counters,
    escalation,
    now,
    banBegins ? 'banned' : 'limited',
    violated,
    fitsAt,
    banBegins,
  );
}

/**
 * Adds a strike for a request that was refused without `admit`, unless the subject is banned or
 * cannot be banned. Like its twin state/redis/lua/strike-1.lua it returns what `look` returns, and
 * whether the ban begins.
 */
export function addStrike(
  counters: Counters,
  limits: Limits,
  now: number,
): Admission {
  const { windows, escalation } = limits;
  const current = look(counters, limits, now);
  if (!escalation || current.verdict === 'banned') return current;
  adoptWindows(counters, windows);
  correctTimes(counters, now);
  counters.strikeState ??= newStrikeState();
  const banBegins =
    strike(counters.strikeState, escalation, null, now) === 'ban';
  return admissionOf(
    counters,
    escalation,
    now,
    banBegins ? 'banned' : 'admitted',
    null,
    0,
    banBegins,
  );
}

/** What `admit` would return for a request of cost 0. Charges and records nothing. */
export function look(looked: Counters, limits: Limits, now: number): Admission {
  // Reading changes nothing: neither the windows that the counters have nor their times.
  const { windows, cells, strikeState } = looked;
  const counters = {
    windows,
    cells: [...cells],
    strikeState: structuredClone(strikeState),
  };
  adoptWindows(counters, limits.windows);
  correctTimes(counters, now);
  const verdict = banEnd(counters, now) > 0 ? 'banned' : 'admitted';
  return admissionOf(counters, limits.escalation, now, verdict, null, 0, false);
}

/**
 * The window that limits the client most: the own window that refuses with the fewest remaining
 * units, then the longer one. If none refuses, of those with overage; then of those that only
 * watch; then of those that count other APIs. `null`: there is no own window.
 */
export function bindingReading(
  readings: readonly Reading[],
  scopes: Scopes,
): Reading | null {
  return (
    fewestRemaining(readings, scopes, refuses) ??
    fewestRemaining(readings, scopes, isShown) ??
    fewestRemaining(readings, scopes, () => true) ??
    fewestRemaining(readings, null, () => true)
  );
}

function fewestRemaining(
  readings: readonly Reading[],
  scopes: Scopes | null,
  matches: (window: Window) => boolean,
): Reading | null {
  let fewest: Reading | null = null;
  for (const reading of readings) {
    const { window } = reading;
    const counts = scopes === null || countsIn(window, scopes);
    if (!isOwn(window) || !counts || !matches(window)) continue;
    if (fewest === null || remainingIn(reading) <= remainingIn(fewest))
      fewest = reading;
  }
  return fewest;
}

/** Whether clients may know of the window. */
export function isShown({ excess }: Window): boolean {
  return excess !== 'watch';
}

/** Whether requests above the limit are refused. */
export function refuses({ excess }: Window): boolean {
  return excess === undefined;
}

function admissionOf(
  counters: Counters,
  escalation: BanEscalation | null,
  now: number,
  verdict: Admission['verdict'],
  violated: Window | null,
  fitsAt: number,
  banBegins: boolean,
): Admission {
  const readings: Reading[] = [];
  let exceeds = false;
  eachWindow(counters.windows, (window, at, meter) => {
    const used = meter.used(counters.cells, at, window, now);
    const resetAt = meter.resetAt(counters.cells, at, window, now);
    if (used > window.limit && window.excess === 'overage') exceeds = true;
    readings.push({ window, used, resetAt });
  });
  const bannedUntil = banEnd(counters, now);
  const state = escalation && counters.strikeState;
  const result = {
    verdict,
    now,
    readings,
    retryAt: Math.max(fitsAt, bannedUntil),
    violated,
    strikes: state ? recentStrikes(state, escalation, now).length : 0,
    freeRefusals:
      state && verdict === 'limited'
        ? freeRefusals(state, escalation, violated, now)
        : 0,
    bannedUntil,
    banBegins,
  };
  const admission = banBegins ? { ...result, banLevel: state!.level } : result;
  return exceeds ? { ...admission, exceeds: true } : admission;
}

const NO_WINDOWS: readonly Window[] = Object.freeze([]);

/** Returns the full windows that only watch: they are not charged. */
function chargeAll(
  counters: Counters,
  cost: number,
  now: number,
  scopes: Scopes,
): readonly Window[] {
  let unfit = NO_WINDOWS;
  eachWindow(counters.windows, (window, at, meter) => {
    if (!countsIn(window, scopes)) return;
    const { cells } = counters;
    if (
      window.excess === 'watch' &&
      meter.used(cells, at, window, now) + cost > window.limit
    )
      unfit = [...unfit, window];
    else meter.charge(cells, at, window, cost, now);
  });
  return unfit;
}

function withUnfit(admission: Admission, unfit: readonly Window[]): Admission {
  const readings = admission.readings.map((reading) =>
    unfit.includes(reading.window)
      ? { ...reading, unfit: true as const }
      : reading,
  );
  return { ...admission, readings, exceeds: true };
}

function banEnd(counters: Counters, now: number): number {
  return counters.strikeState && counters.strikeState.bannedUntil > now
    ? counters.strikeState.bannedUntil
    : 0;
}

function longestViolated(
  counters: Counters,
  cost: number,
  now: number,
  scopes: Scopes,
): Window | null {
  let violated: Window | null = null;
  eachWindow(counters.windows, (window, at, meter) => {
    if (
      meter.used(counters.cells, at, window, now) + cost > window.limit &&
      countsIn(window, scopes) &&
      refuses(window)
    )
      violated = window;
  });
  return violated;
}

function latestFit(
  counters: Counters,
  cost: number,
  now: number,
  scopes: Scopes,
): number {
  let latest = 0;
  eachWindow(counters.windows, (window, at, meter) => {
    if (countsIn(window, scopes) && refuses(window))
      latest = Math.max(
        latest,
        meter.fitsAt(counters.cells, at, window, cost, now),
      );
  });
  return latest;
}
