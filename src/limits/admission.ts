import { noteRefusal, recentStrikes } from './ban-escalation.ts';
import { adoptWindows, type Counters, eachWindow, newStrikeState } from './counters.ts';
import type { BanEscalation, Limits, Window } from './limits.ts';
import { countsIn, NO_SCOPES, type Scopes } from './scopes.ts';

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
  /** Earliest retry: never before the longest violated window resets or the ban ends. 0 when admitted. */
  readonly retryAt: number;
  /** The longest window that the request does not fit into; `null` if it fits all. */
  readonly violated: Window | null;
  /** Strikes towards the next ban, including this request's. */
  readonly strikes: number;
  /** When the ban in force ends; 0 without one. */
  readonly bannedUntil: number;
  /** This request was the last strike: the ban begins with it. */
  readonly banBegins: boolean;
  /** Ban level, including the ban that begins with this request; absent if none begins. */
  readonly rung?: number;
  /**
   * Who decided instead of the state: `memory` for a known earlier refusal, `alone` while the state is down. Absent:
   * the state.
   */
  readonly by?: 'memory' | 'alone';
}

export interface Reading {
  readonly window: Window;
  /** Whole units, never below 0. */
  readonly remaining: number;
  readonly resetAt: number;
}

/**
 * Decides and charges in one step, like its twin state/redis/lua/admit-n.lua. Charges `cost` to every window that the
 * request counts in (the client's own and those of `scopes`), or to none: a refused request is free. Other windows are
 * only read. A refusal while refused is a strike, and enough strikes are a ban. Updates `ledger` in place; its owner
 * must hold it exclusively.
 */
export function admit(
  ledger: Counters,
  limits: Limits,
  cost: number,
  now: number,
  scopes: Scopes = NO_SCOPES,
): Admission {
  adoptWindows(ledger, limits.windows);
  const bannedUntil = banEnd(ledger, now);
  const violated = longestViolated(ledger, cost, now, scopes);
  if (!violated && bannedUntil === 0) {
    eachWindow(limits.windows, (window, at, meter) => {
      if (countsIn(window, scopes)) meter.charge(ledger.cells, at, window, cost, now);
    });
    return answer(ledger, limits.ladder, now, 'admitted', null, 0, false);
  }
  const fitsAt = violated ? latestFit(ledger, cost, now, scopes) : 0;
  if (bannedUntil > 0) return answer(ledger, limits.ladder, now, 'banned', violated, fitsAt, false);
  const banBegins = refuse(ledger, limits.ladder, violated, fitsAt, now);
  return answer(ledger, limits.ladder, now, banBegins ? 'banned' : 'limited', violated, fitsAt, banBegins);
}

/** What `admit` would return for a request of cost 0. Charges and records nothing. */
export function look(looked: Counters, limits: Limits, now: number): Admission {
  // A copy: reading under other limits must not drop the windows that the counters have.
  const ledger = { ...looked, conduct: looked.conduct && { ...looked.conduct } };
  adoptWindows(ledger, limits.windows);
  const verdict = banEnd(ledger, now) > 0 ? 'banned' : 'admitted';
  return answer(ledger, limits.ladder, now, verdict, null, 0, false);
}

/** The window that limits the client most: the own window with the fewest remaining units, then the longer one. */
export function bindingReading(readings: readonly Reading[]): Reading {
  let binding: Reading | null = null;
  for (const reading of readings) {
    if (reading.window.scope !== undefined) continue;
    if (binding === null || reading.remaining <= binding.remaining) binding = reading;
  }
  return binding!;
}

function answer(
  ledger: Counters,
  ladder: BanEscalation | null,
  now: number,
  verdict: Admission['verdict'],
  violated: Window | null,
  fitsAt: number,
  banBegins: boolean,
): Admission {
  const readings: Reading[] = [];
  eachWindow(ledger.windows, (window, at, meter) => {
    const remaining = Math.max(0, window.limit - meter.used(ledger.cells, at, window, now));
    readings.push({ window, remaining, resetAt: meter.resetAt(ledger.cells, at, window, now) });
  });
  const bannedUntil = banEnd(ledger, now);
  const strikes = ledger.conduct && ladder ? recentStrikes(ledger.conduct, ladder, now).length : 0;
  const retryAt = Math.max(fitsAt, bannedUntil);
  const answered = { verdict, now, readings, retryAt, violated, strikes, bannedUntil, banBegins };
  return banBegins ? { ...answered, rung: ledger.conduct!.rung } : answered;
}

function refuse(
  ledger: Counters,
  ladder: BanEscalation | null,
  violated: Window | null,
  fitsAt: number,
  now: number,
): boolean {
  if (!ladder) return false;
  ledger.conduct ??= newStrikeState();
  return noteRefusal(ledger.conduct, ladder, violated, fitsAt, now) === 'ban';
}

function banEnd(ledger: Counters, now: number): number {
  return ledger.conduct && ledger.conduct.bannedUntil > now ? ledger.conduct.bannedUntil : 0;
}

function longestViolated(ledger: Counters, cost: number, now: number, scopes: Scopes): Window | null {
  let violated: Window | null = null;
  eachWindow(ledger.windows, (window, at, meter) => {
    if (meter.used(ledger.cells, at, window, now) + cost > window.limit && countsIn(window, scopes)) violated = window;
  });
  return violated;
}

function latestFit(ledger: Counters, cost: number, now: number, scopes: Scopes): number {
  let latest = 0;
  eachWindow(ledger.windows, (window, at, meter) => {
    if (countsIn(window, scopes)) latest = Math.max(latest, meter.fitsAt(ledger.cells, at, window, cost, now));
  });
  return latest;
}
