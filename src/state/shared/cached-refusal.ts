import type { Admission, Reading } from '../../limits/admission.ts';
import { kindOf } from '../../limits/kinds.ts';
import type { Limits } from '../../limits/limits.ts';
import { countsIn, type Scopes } from '../../limits/scopes.ts';

export interface CachedRefusal {
  readonly limits: Limits;
  readonly cost: number;
  readonly scopes: Scopes;
  readonly admission: Admission;
  /** For each scope, or `undefined` for own windows: the time of the first refusal, and its retry time. */
  readonly firstRefusals: ReadonlyMap<string | undefined, { readonly at: number; readonly until: number }>;
  /** When the refusal may change, by the backend's clock. */
  readonly until: number;
  /** A ban began with forwarded strikes and is not yet reported in a response. */
  banBegins: boolean;
}

function allResetAsWhole({ windows }: Limits): boolean {
  return windows.every((window) => kindOf(window).resetsAsWhole);
}

/** The backend's current response to a request in these scopes; `null`: unknown. */
export function repeatRefusal(entry: CachedRefusal, cost: number, scopes: Scopes, now: number): Admission | null {
  return allResetAsWhole(entry.limits)
    ? recount(entry.admission, cost, scopes, now)
    : repeatSameCharge(entry, cost, scopes, now);
}

/**
 * Whether a refusal still holds after an admission in these scopes. Without `recount` its readings may have changed.
 */
export function stillRefuses(
  { limits, admission: { verdict, violated } }: CachedRefusal,
  given: Limits,
  scopes: Scopes,
): boolean {
  if (limits !== given || verdict !== 'limited' || violated === null) return false;
  return !countsIn(violated, scopes) && allResetAsWhole(limits);
}

/** The refusal with the readings of a later admission that does not count in the refusing window. */
export function withReadings(entry: CachedRefusal, { readings, now }: Admission): CachedRefusal {
  const admission = { ...entry.admission, readings, now };
  return { ...entry, admission, until: Math.min(entry.admission.retryAt, ...partialResets(admission)) };
}

/**
 * When the readings may change: with a window whose units return gradually, at the next return of any window. Other
 * windows are covered by `recount`.
 */
export function partialResets({ readings }: Admission): number[] {
  if (readings.every(({ window }) => kindOf(window).resetsAsWhole)) return [];
  return readings.filter(({ window, remaining }) => remaining < window.limit).map(({ resetAt }) => resetAt);
}

/**
 * Windows that reset as a whole only lose units until then, so a reading refuses any cost above its remaining units.
 */
function recount(known: Admission, cost: number, scopes: Scopes, now: number): Admission | null {
  const readings = known.readings.map((reading) => current(reading, now));
  const violated = readings.filter(({ remaining, window }) => cost > remaining && countsIn(window, scopes));
  if (known.verdict === 'limited' && violated.length === 0) return null;
  const retryAt = Math.max(known.bannedUntil, ...violated.map(({ resetAt }) => resetAt));
  return { ...known, now, readings, retryAt, violated: violated.at(-1)?.window ?? null };
}

/** An unused window is not open, so its reset moves with the clock. */
function current(reading: Reading, now: number): Reading {
  const { window, remaining, resetAt } = reading;
  if (now < resetAt && remaining < window.limit) return reading;
  return { window, remaining: window.limit, resetAt: now + window.span };
}

/** With gradually returning units, only an equal charge gets an equal response; the state decides others. */
function repeatSameCharge(
  { admission, ...refused }: CachedRefusal,
  cost: number,
  scopes: Scopes,
  now: number,
): Admission | null {
  if (cost !== refused.cost || scopes !== refused.scopes) return null;
  return { ...admission, now, readings: admission.readings.map((reading) => current(reading, now)) };
}
