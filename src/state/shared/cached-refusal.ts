import type { Admission, Reading } from '../../limits/admission.ts';
import { kindOf } from '../../limits/kinds.ts';
import type { Limits } from '../../limits/limits.ts';
import { countsIn, type Scopes } from '../../limits/scopes.ts';

/** A refusal by the backend that is repeated here. */
export interface CachedRefusal {
  readonly limits: Limits;
  readonly cost: number;
  readonly scopes: Scopes;
  readonly admission: Admission;
  /** When windows of a scope, or own ones (`undefined`), refused first, and when the caller was told to come back. */
  readonly firstRefusals: ReadonlyMap<string | undefined, { readonly at: number; readonly until: number }>;
  /** When the backend may say something else, by its clock. */
  readonly until: number;
  /** A ban began with strikes that were sent on, and the caller does not know yet. */
  banBegins: boolean;
}

function allResetAsWhole({ windows }: Limits): boolean {
  return windows.every((window) => kindOf(window).resetsAsWhole);
}

/** What the backend would say now to a request that counts in these scopes; `null`: it may be anything. */
export function repeatRefusal(entry: CachedRefusal, cost: number, scopes: Scopes, now: number): Admission | null {
  return allResetAsWhole(entry.limits)
    ? recount(entry.admission, cost, scopes, now)
    : repeatSameCharge(entry, cost, scopes, now);
}

/** Whether a refusal holds although a request in these scopes was admitted since. Without `recount` the answer may be another now. */
export function stillRefuses(
  { limits, admission: { verdict, violated } }: CachedRefusal,
  given: Limits,
  scopes: Scopes,
): boolean {
  if (limits !== given || verdict !== 'limited' || violated === null) return false;
  return !countsIn(violated, scopes) && allResetAsWhole(limits);
}

/** The refusal with how the windows stand after a request that does not count in the one that refused. */
export function withReadings(entry: CachedRefusal, { readings, now }: Admission): CachedRefusal {
  const admission = { ...entry.admission, readings, now };
  return { ...entry, admission, until: Math.min(entry.admission.retryAt, ...partialResets(admission)) };
}

/**
 * When what was answered may be another: where any window gives units back bit by bit, with the next units of any window. Else
 * `recount` knows what has come back.
 */
export function partialResets({ readings }: Admission): number[] {
  if (readings.every(({ window }) => kindOf(window).resetsAsWhole)) return [];
  return readings.filter(({ window, remaining }) => remaining < window.limit).map(({ resetAt }) => resetAt);
}

/** Windows that reset as a whole only lose units until they do: a known reading refuses any cost above what remains. */
function recount(known: Admission, cost: number, scopes: Scopes, now: number): Admission | null {
  const readings = known.readings.map((reading) => current(reading, now));
  const violated = readings.filter(({ remaining, window }) => cost > remaining && countsIn(window, scopes));
  if (known.verdict === 'limited' && violated.length === 0) return null;
  const retryAt = Math.max(known.bannedUntil, ...violated.map(({ resetAt }) => resetAt));
  return { ...known, now, readings, retryAt, violated: violated.at(-1)?.window ?? null };
}

/** A window that counts nothing is not open, so its reset moves with the clock. Of others it holds while it is kept. */
function current(reading: Reading, now: number): Reading {
  const { window, remaining, resetAt } = reading;
  if (now < resetAt && remaining < window.limit) return reading;
  return { window, remaining: window.limit, resetAt: now + window.span };
}

/** With a window whose units return bit by bit, only the same charge gets the same answer; the state decides any other. */
function repeatSameCharge(
  { admission, ...refused }: CachedRefusal,
  cost: number,
  scopes: Scopes,
  now: number,
): Admission | null {
  if (cost !== refused.cost || scopes !== refused.scopes) return null;
  return { ...admission, now, readings: admission.readings.map((reading) => current(reading, now)) };
}
