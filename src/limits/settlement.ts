import {
  type Admission,
  leftIn,
  type Reading,
  readingOf,
} from './admission.ts';
import { type Counters, eachWindow } from './counters.ts';
import { kindOf, windowId } from './kinds.ts';
import type { Limits } from './limits.ts';
import { countsIn, type Scopes } from './scopes.ts';

/** A charge after the response: what a request has cost, less what it was charged. */
export interface Settlement {
  /** Negative: returned. */
  readonly units: number;
  readonly scopes: Scopes;
  /**
   * In the order of the limits, when the units of the admission stop counting, Unix milliseconds; 0:
   * a window that only watches had no room for them. Units are returned only before: later they would
   * be those of other requests.
   */
  readonly ends: readonly number[];
}

export function settlementOf(
  { readings, now }: Admission,
  units: number,
  scopes: Scopes,
): Settlement {
  const ends = readings.map((reading) => {
    if (isUncharged(reading)) return 0;
    const { window, resetAt } = reading;
    return kindOf(window).resetsAsWhole ? resetAt : now + window.span;
  });
  return { units, scopes, ends };
}

/**
 * Like its twin state/redis/lua/settle-1.lua. A charge may exceed a limit, because the work is done.
 * Windows that the counters do not have, because the limits changed meanwhile, are not charged.
 */
export function settle(
  counters: Counters,
  limits: Limits,
  { units, scopes, ends }: Settlement,
  now: number,
): void {
  const places = new Map(
    limits.windows.map((window, i) => [windowId(window), i]),
  );
  eachWindow(counters.windows, (window, at, meter) => {
    const place = places.get(windowId(window));
    if (place === undefined || !countsIn(window, scopes)) return;
    meter.correctTimes(counters.cells, at, window, now);
    if (units > 0) meter.charge(counters.cells, at, window, units, now);
    else if (now < ends[place]!)
      meter.refund(counters.cells, at, window, -units, now);
  });
}

/** What the response of the request shows. */
export function settledReadings(
  readings: readonly Reading[],
  { units, scopes }: Settlement,
): readonly Reading[] {
  return readings.map((reading) => {
    const { window, resetAt } = reading;
    if (isUncharged(reading) || !countsIn(window, scopes)) return reading;
    const left = Math.min(leftIn(reading) - units, window.limit);
    const least = window.excess === 'overage' ? left : 0;
    return readingOf(window, Math.max(left, least), resetAt, units);
  });
}

function isUncharged({ window, over }: Reading): boolean {
  return window.excess === 'watch' && over !== undefined;
}
