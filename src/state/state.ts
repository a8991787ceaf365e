import type { Eventually } from '../common/eventually.ts';
import type { Admission } from '../limits/admission.ts';
import type { Limits } from '../limits/limits.ts';

/** A ban in force; `until` in Unix milliseconds. */
export interface Ban {
  readonly subject: string;
  readonly until: number;
}

/**
 * The state holds something else where one subject's counters should be; all other subjects are well. The message tells
 * operators what it is and where.
 */
export class LedgerError extends Error {
  override name = 'LedgerError';
}

/**
 * What the gateway remembers about its callers' counting. A subject is a key or an account, named by an opaque string.
 *
 * Promises that every implementation keeps:
 * - `admit` decides and charges in one atomic step, however many callers and gateways ask at once: in every window never
 *   more than its limit is admitted, and every window is charged or none.
 * - A refused request changes no window. A refusal while refused is a strike; enough strikes are a ban; the next ban is
 *   longer; clean time is forgotten into.
 * - A window counts on when limits change: a lowered or raised limit holds from the next request.
 * - Subjects that have nothing left to remember are forgotten by themselves.
 * - The state's own clock decides; `Admission.now` tells what it said.
 * - Throws `Outage` when it cannot be asked; it never guesses. Where that is for one subject alone, nothing of it is
 *   changed, and the cause is a `LedgerError`.
 */
export interface State {
  /** Charges `cost` units (an integer >= 0) to all windows, or refuses and charges nothing. */
  admit(subject: string, limits: Limits, cost: number): Eventually<Admission>;
  /** How the subject stands; charges and notes nothing. */
  look(subject: string, limits: Limits): Eventually<Admission>;
  /** Ends a ban and forgets strikes and rungs. Windows stay as they are. */
  pardon(subject: string): Eventually<void>;
  /** Opens all windows afresh. A ban stays. */
  reset(subject: string): Eventually<void>;
  /** Gives back up to `units` of what was used, in the window of this name or in all of them. */
  grant(subject: string, limits: Limits, units: number, window: string | null): Eventually<void>;
  /** Bans from now for `length` milliseconds, whatever the conduct was; climbs one rung as every ban does. */
  ban(subject: string, limits: Limits, length: number): Eventually<void>;
  /** Everybody who is banned now. Walks all subjects: for operators, not for requests. */
  bans(): Eventually<Ban[]>;
  /** How many bans are not yet forgotten: where on the ladder the subject stands. */
  rung(subject: string, limits: Limits): Eventually<number>;
  /** Keeps what must survive, then lets go of everything. Idempotent. */
  close(): Promise<void>;
}
