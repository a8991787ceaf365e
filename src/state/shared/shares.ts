import type { Admission, Reading } from '../../limits/admission.ts';
import {
  type Counters,
  eachWindow,
  newCounters,
  newStrikeState,
} from '../../limits/counters.ts';
import { isSameCounter, kindOf } from '../../limits/kinds.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import type { LastAdmission } from './last-known-counters.ts';
import type { Reconciliation } from './remote-state.ts';

const shares = new WeakMap<Limits, Map<number, Limits>>();

/** One gateway's share of the limits: at least one unit of each window. */
export function shareOf(limits: Limits, gateways: number): Limits {
  const cached = shares.get(limits) ?? new Map<number, Limits>();
  shares.set(limits, cached);
  let share = cached.get(gateways);
  if (!share) {
    const windows = limits.windows.map((window) => ({
      ...window,
      limit: Math.max(1, Math.floor(window.limit / gateways)),
    }));
    share = { windows, escalation: limits.escalation };
    cached.set(gateways, share);
  }
  return share;
}

/**
 * Counters with the last known values. Gradually returning units count from that time, which never
 * admits too much.
 */
export function countersFrom(
  {
    readings,
    now: reportedAt,
    bannedUntil,
    verdict,
    retryAt,
    violated,
  }: LastAdmission['admission'],
  share: Limits,
  gateways: number,
  now: number,
): Counters {
  const counters = newCounters(share.windows);
  eachWindow(share.windows, (window, at, meter) => {
    const reading = readings.find((cached) =>
      isSameCounter(cached.window, window),
    );
    if (!reading) return;
    const used = usedOfShare(reading, window, gateways);
    const { resetsAsWhole } = kindOf(window);
    if (used <= 0 || (resetsAsWhole && now >= reading.resetAt)) return;
    meter.charge(
      counters.cells,
      at,
      window,
      used,
      resetsAsWhole ? meter.beginBefore(window, reading.resetAt) : reportedAt,
    );
  });
  if (verdict === 'admitted') return counters;
  const state = newStrikeState();
  counters.strikeState = state;
  if (bannedUntil > 0) {
    state.bannedSince = reportedAt;
    state.bannedUntil = bannedUntil;
    state.level = 1;
    state.cleanSince = bannedUntil;
    state.forgottenAt = bannedUntil;
  }
  const wait = {
    at: reportedAt,
    until: verdict === 'limited' ? retryAt : 0,
    refusals: 1,
  };
  const scope = verdict === 'limited' ? violated?.scope : undefined;
  if (scope === undefined) state.refused = wait;
  else state.refusedIn = [{ scope, ...wait }];
  return counters;
}

export function banIn(
  { strikeState }: Counters,
  bannedBefore: number,
  { windows }: Limits,
): Reconciliation['ban'] {
  if (strikeState === null || strikeState.bannedUntil <= bannedBefore)
    return null;
  const { bannedUntil, bannedSince, bannedFor } = strikeState;
  const limit =
    bannedFor && (windows.find((one) => isSameCounter(one, bannedFor)) ?? null);
  return { until: bannedUntil, since: bannedSince, limit };
}

/** What remains is divided; units above the limit are not. */
function usedOfShare(
  { window, used }: Reading,
  { limit }: Window,
  gateways: number,
): number {
  const remaining = window.limit - used;
  return limit - (remaining > 0 ? Math.floor(remaining / gateways) : remaining);
}

/** With what remains of the share. */
export function inWholeLimits(admission: Admission, limits: Limits): Admission {
  const whole = (window: Window) =>
    limits.windows.find((one) => isSameCounter(one, window))!;
  return {
    ...admission,
    readings: admission.readings.map((reading) => {
      const window = whole(reading.window);
      const others = window.limit - reading.window.limit;
      return { ...reading, window, used: reading.used + others };
    }),
    violated: admission.violated && whole(admission.violated),
  };
}
