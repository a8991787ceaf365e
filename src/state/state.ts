import type { MaybePromise } from '../common/maybe-promise.ts';
import type { Admission } from '../limits/admission.ts';
import type { Limits, Window } from '../limits/limits.ts';
import type { Scopes } from '../limits/scopes.ts';

/** A ban in force. Times are Unix milliseconds. */
export interface Ban {
  readonly subject: string;
  readonly until: number;
  /** When it began, or was last extended; `null`: a gateway of an older version wrote it. */
  readonly since: number | null;
  /** The limit whose refusals were not heeded; `null`: an operator banned, or that is not known. */
  readonly limit: BanLimit | null;
  /** Bans that are not forgotten, this one included. */
  readonly rung: number;
}

/** The bans in force that a gateway knows while the state is away. */
export interface BansAsOf {
  /** When the state last answered this gateway, Unix milliseconds. */
  readonly asOf: number;
  /** Those of subjects that this gateway has seen. Which limit led to them is known of some, and their rung of none. */
  readonly bans: readonly Pick<Ban, 'subject' | 'until' | 'limit'>[];
}

/** A ban of the ladder that began. `until` in Unix milliseconds. */
export interface StartedBan {
  readonly subject: string;
  readonly limits: Limits;
  readonly until: number;
  /** Bans that are not forgotten, this one included. */
  readonly rung: number;
  /** The limit whose refusals were not heeded; `null`: not known. */
  readonly violated: Window | null;
}

/** The ban that began with the request that got this admission; `null`: none did, or somebody else tells of it. */
export function startedBan(
  subject: string,
  limits: Limits,
  { banBegins, rung, bannedUntil, violated }: Admission,
): StartedBan | null {
  return banBegins && rung !== undefined ? { subject, limits, until: bannedUntil, rung, violated } : null;
}

export type BanLimit = Omit<Window, 'name'>;

/**
 * The state holds something else where one subject's counters should be; all other subjects are well. The message tells
 * operators what it is and where.
 */
export class CountersError extends Error {
  override name = 'CountersError';
}

/** A change of an operator could not be put on disk. The message says why, and what holds now. */
export class UnsavedError extends Error {
  override name = 'UnsavedError';
}

/**
 * What the gateway remembers of its callers' requests. A subject is a key or an account, named by an opaque string.
 *
 * Every implementation keeps these promises:
 * - `admit` decides and charges in one atomic step, however many callers and gateways ask at once. No window admits more
 *   than its limit. Either all windows that a request counts in are charged or none is. It counts in those without a scope, and in
 *   those of its own scopes.
 * - A refused request changes no window. Another request while refused is a strike, and enough strikes are a ban. Each ban
 *   is longer than the one before; clean time makes the next one shorter again.
 * - A window keeps its count when limits change. The new limit holds from the next request on.
 * - A subject with nothing left to remember is forgotten without being told to.
 * - The state's own clock decides; `Admission.now` says what it showed.
 * - A method throws `Outage` when the state cannot be asked; it never guesses. Where only one subject is concerned, the
 *   cause is a `LedgerError`, and nothing was changed.
 */
export interface State {
  /**
   * Charges `cost` units (an integer, at least 0) to all windows that the request counts in, or refuses and charges nothing.
   * `scopes`: none if left out. The readings are of all windows.
   */
  admit(subject: string, limits: Limits, cost: number, scopes?: Scopes): MaybePromise<Admission>;
  /** How the subject stands; charges and notes nothing. */
  look(subject: string, limits: Limits): MaybePromise<Admission>;
  /** Ends a ban, forgets strikes and earlier bans, and opens all windows afresh: a full window would soon end in the next ban. */
  pardon(subject: string): MaybePromise<void>;
  /** Opens all windows afresh. A ban stays. */
  reset(subject: string): MaybePromise<void>;
  /** Gives back up to `units` of what was used, in the window of this full name (`fullNameOf`) or in all of them. */
  grant(subject: string, limits: Limits, units: number, window: string | null): MaybePromise<void>;
  /** Bans from now on for `length` milliseconds, whatever happened before. Counts on the ladder as every ban does. */
  ban(subject: string, limits: Limits, length: number): MaybePromise<void>;
  /** All who are banned now. Walks through all subjects, so it is for operators and not for requests. */
  bans(): MaybePromise<Ban[]>;
  /** Where on the ladder the subject stands: how many of its bans are not yet forgotten. */
  banLevel(subject: string, limits: Limits): MaybePromise<number>;
  /** Saves what must survive and frees everything else. Calling it again does nothing. */
  close(): Promise<void>;
}
