import type { MaybePromise } from '../common/maybe-promise.ts';

/** An event as every receiver gets it. */
export interface Message {
  /** The same for each attempt and each receiver. */
  readonly id: string;
  readonly type: string;
  /** JSON: what is signed and sent. */
  readonly body: string;
}

/** Keeps gateways that see one event from telling it twice. Times are Unix milliseconds. */
export interface Once {
  /** What happened, in words that are the same wherever it is seen. */
  readonly name: string;
  /** An event of this name that was told before is another one; 0: never. */
  readonly since: number;
  /** Until when the name is remembered. */
  readonly until: number;
  /** A name that may be told again from now on: an end makes the next begin a new event. */
  readonly ends?: string;
}

export interface Addition {
  readonly message: Message;
  /** Ids of the receivers. */
  readonly endpoints: readonly string[];
  readonly once: Once;
  /** The most that may wait for one receiver; of more, the oldest are dropped. */
  readonly most: number;
  readonly now: number;
}

/** How many were dropped to make room for an event; `null`: it was told before, and nothing was added. */
export type Added = number | null;

/** An event on its way to one receiver. */
export interface Job extends Message {
  readonly endpoint: string;
  /** Names it among all jobs of its receiver. */
  readonly number: string;
  /** When it was added. */
  readonly at: number;
  /** Attempts so far, this one included. */
  readonly attempts: number;
  /** Attempts at this receiver that failed since the last good one. */
  readonly failures: number;
}

/** An attempt that failed. */
export interface Failure {
  readonly now: number;
  /** When this event is tried again, and until when nothing at all is sent to the receiver. */
  readonly again: number;
  readonly pausedUntil: number;
  readonly error: string;
  /** The receiver wants nothing any more. */
  readonly isGone: boolean;
}

/** How one receiver stands. Times are Unix milliseconds. */
export interface EndpointState {
  readonly waiting: number;
  /** When the oldest event that waits was added. */
  readonly oldest: number | null;
  readonly failingSince: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly deliveredAt: number | null;
  readonly pausedUntil: number;
  readonly isGone: boolean;
  /** Events that were never delivered: too many waited, or they were too old. */
  readonly lost: number;
}

/** A receiver of which nothing is known. */
export const FRESH: EndpointState = {
  waiting: 0,
  oldest: null,
  failingSince: null,
  failures: 0,
  error: null,
  deliveredAt: null,
  pausedUntil: 0,
  isGone: false,
  lost: 0,
};

/** Milliseconds for which a job is its taker's. Much longer than an attempt may take, as clocks of gateways differ. */
export const LEASE = 120_000;

/** Jobs that are made due in one step: others wait meanwhile. */
export const DUE_AT_ONCE = 1_000;

/** The names that are remembered at the most. */
export const MOST_NAMES = 100_000;

/**
 * Keeps events until their receivers have them, over restarts and for all gateways of one state.
 *
 * Every implementation keeps these promises:
 * - An event is added for all its receivers or for none, and once, however many add it at the same time.
 * - A job is taken by one taker at a time. One that does not say within `LEASE` what became of it leaves it to the next.
 * - What was added and neither done nor lost is there after a restart, and after a crash of every process.
 * - Jobs that were never tried are taken in the order in which they came.
 * - It holds no address: a receiver is known by a name that only settings can turn into one.
 * - The times of its callers count, it has no clock. It throws `Outage` where it cannot be asked.
 */
export interface Outbox {
  add(addition: Addition): MaybePromise<Added>;
  /** The next job of a receiver that is due; `null`: none is, or the receiver is to be left alone. */
  take(endpoint: string, now: number): MaybePromise<Job | null>;
  /** It was delivered: the receiver is well, and all that waits for it is due, `DUE_AT_ONCE` with each that is. */
  done(job: Job, now: number): MaybePromise<void>;
  failed(job: Job, failure: Failure): MaybePromise<void>;
  /** It is not tried again. */
  giveUp(job: Job, now: number): MaybePromise<void>;
  /** The receiver answered well beside any event. */
  well(endpoint: string, now: number): MaybePromise<void>;
  /** In the order of `endpoints`. */
  states(endpoints: readonly string[]): MaybePromise<EndpointState[]>;
  /** How far something was done that all gateways together do once; `null`: it never was. */
  mark(name: string): MaybePromise<number | null>;
  /** Moves a mark, unless somebody else has moved it meanwhile; answers whether it did. */
  move(name: string, from: number | null, to: number): MaybePromise<boolean>;
  close(): void;
}
