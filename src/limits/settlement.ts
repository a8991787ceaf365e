import { type Admission, hasExcess } from './admission.ts';
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
   * the request did not fit a window that only watches, and is not charged. Units are returned
   * only before: later they would be those of other requests.
   */
  readonly ends: readonly number[];
}

export function settlementOf(
  { readings, now }: Admission,
  units: number,
  scopes: Scopes,
): Settlement {
  const ends = readings.map(({ window, resetAt, unfit }) => {
    if (unfit) return 0;
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
    const end = ends[place]!;
    if (end === 0) return;
    meter.correctTimes(counters.cells, at, window, now);
    if (units > 0) meter.charge(counters.cells, at, window, units, now);
    else if (now < end) meter.refund(counters.cells, at, window, -units, now);
  });
}

/** What the response of the request shows. */
export function settledAdmission(
  { exceeds: _, ...admission }: Admission,
  { units, scopes }: Settlement,
): Admission {
  const readings = admission.readings.map((reading) => {
    const { window, used, unfit } = reading;
    if (unfit || !countsIn(window, scopes)) return reading;
    return { ...reading, used: Math.max(0, used + units) };
  });
  const settled = { ...admission, readings };
  return readings.some(hasExcess) ? { ...settled, exceeds: true } : settled;
}
