import type { MaybePromise } from '../common/maybe-promise.ts';
import type { Admission } from '../limits/admission.ts';
import type { Limits, Window } from '../limits/limits.ts';
import type { Scopes } from '../limits/scopes.ts';
import type { Settlement } from '../limits/settlement.ts';

/** A ban in force. Times are Unix milliseconds. */
export interface Ban {
  readonly subject: string;
  readonly until: number;
  /** Start or last extension; `null`: written by a gateway of an older version. */
  readonly since: number | null;
  /** The limit whose refusals the client ignored; `null`: a ban by an operator, or unknown. */
  readonly limit: Omit<Window, 'name'> | null;
  /** Number of bans that are not expired from the history, including this one. */
  readonly level: number;
}

export interface BansAsOf {
  /** Time of the last response from the state, Unix milliseconds. */
  readonly asOf: number;
  /**
   * Bans of subjects that this gateway has seen. The limit is known for some, the ban level for
   * none.
   */
  readonly bans: readonly Pick<Ban, 'subject' | 'until' | 'limit'>[];
}

/** `until` in Unix milliseconds. */
export interface StartedBan {
  readonly subject: string;
  readonly limits: Limits;
  readonly until: number;
  /** Number of bans that are not expired from the history, including this one. */
  readonly level: number;
  /** The limit whose refusals the client ignored; `null`: unknown. */
  readonly violated: Window | null;
}

/**
 * The ban that began with the request of this admission; `null`: no new ban, or another component
 * reports it.
 */
export function startedBan(
  subject: string,
  limits: Limits,
  { banBegins, banLevel, bannedUntil, violated }: Admission,
): StartedBan | null {
  return banBegins && banLevel !== undefined
    ? { subject, limits, until: bannedUntil, level: banLevel, violated }
    : null;
}

/**
 * The state holds a wrong type of data in place of one subject's counters; other subjects are
 * unaffected. The message names the data and its location.
 */
export class CountersError extends Error {
  override name = 'CountersError';
}

/** Not one record is at fault, but the data that Redis has. The message has no name of a record. */
export class DataError extends CountersError {}

/** A change of an operator could not be saved. The message states the cause and the valid state. */
export class UnsavedError extends Error {
  override name = 'UnsavedError';
}

/**
 * Counters, strikes and bans of subjects. A subject is a key or an account, named by an opaque
 * string.
 *
 * Every implementation guarantees:
 * - `admit` decides and charges in one atomic step under any concurrency. No window admits more
 * than its limit, unless it only watches or has overage. Either all windows of a request are charged or none: those without a scope and
 * those of its own scopes.
 * - A refused request changes no window. More refusals in one wait than the client may have workers
 * are strikes, and enough strikes are a ban. Each ban is longer than the one before; time without
 * strikes shortens the next one.
 * - A clock that is set back lengthens no window, wait or ban beyond its span.
 * - A window keeps its count when limits change. The new limit applies from the next request.
 * - An expired subject is removed automatically.
 * - The state's own clock decides; `Admission.now` is its time.
 * - A method throws `Outage` if the state is unreachable; it never guesses. If only one subject is
 * affected, the cause is a `CountersError`, and nothing was changed.
 */
export interface State {
  /**
   * Charges `cost` units (an integer, at least 0) to all windows of the request, or refuses and
   * charges nothing. Without `scopes`, the request has none. The readings cover all windows.
   */
  admit(
    subject: string,
    limits: Limits,
    cost: number,
    scopes?: Scopes,
  ): MaybePromise<Admission>;
  /**
   * Charges or returns the rest of an admission after the response, in one step. A charge may exceed
   * limits; the next request is then refused.
   */
  settle(
    subject: string,
    limits: Limits,
    settlement: Settlement,
  ): MaybePromise<void>;
  /**
   * Adds a strike for a request that this process refused without `admit`, although its client had
   * to wait. `null`: it is added later, and `onBan` reports a ban that it causes.
   */
  strike(subject: string, limits: Limits): MaybePromise<Admission | null>;
  /** Reads without a charge or a strike. */
  look(subject: string, limits: Limits): MaybePromise<Admission>;
  /**
   * Ends a ban, clears strikes and earlier bans, and resets all windows: a full window would soon
   * cause the next ban.
   */
  liftBan(subject: string): MaybePromise<void>;
  /** Resets all windows. A ban remains. */
  reset(subject: string): MaybePromise<void>;
  /**
   * Returns up to `units` used units to the window with this full name (`fullNameOf`), or to all
   * windows.
   */
  grant(
    subject: string,
    limits: Limits,
    units: number,
    window: string | null,
  ): MaybePromise<void>;
  /**
   * Bans for `length` milliseconds from now, regardless of history. Raises the ban level like any
   * ban, unless it replaces one in force.
   */
  ban(subject: string, limits: Limits, length: number): MaybePromise<void>;
  /** All active bans. Scans all subjects, so it is for operators only, not for requests. */
  bans(): MaybePromise<Ban[]>;
  /** Number of bans of the subject that are not expired from the history. */
  banLevel(subject: string, limits: Limits): MaybePromise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}
