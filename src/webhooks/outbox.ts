import type { MaybePromise } from '../common/maybe-promise.ts';

export interface Message {
  /** The same for each attempt and endpoint. */
  readonly id: string;
  readonly type: string;
  /** JSON, signed and sent. */
  readonly body: string;
}

/** Deduplicates events of several gateways. Times are Unix milliseconds. */
export interface Once {
  /** Identifies what happened, equally on all gateways. */
  readonly name: string;
  /** An event of this name before this time is a different one; 0: never. */
  readonly since: number;
  readonly until: number;
  /** A name that may occur again from now: an end lets the next beginning be a new event. */
  readonly ends?: string;
}

export interface Addition {
  readonly message: Message;
  readonly endpoints: readonly string[];
  readonly once: Once;
  /** Maximum pending per endpoint; beyond it the oldest are dropped. */
  readonly most: number;
  readonly now: number;
}

/** Number of events dropped for it; `null`: it was a duplicate and was not added. */
export type Added = number | null;

/** An event for one endpoint. */
export interface Job extends Message {
  readonly endpoint: string;
  /** Identifies it among the jobs of its endpoint. */
  readonly number: string;
  readonly at: number;
  /** Including this one. */
  readonly attempts: number;
  /** Consecutive failed attempts at this endpoint. */
  readonly failures: number;
}

export interface Failure {
  readonly now: number;
  /** When this event is retried, and until when the endpoint is paused. */
  readonly again: number;
  readonly pausedUntil: number;
  readonly error: string;
  /** The endpoint wants no further events. */
  readonly isGone: boolean;
}

/** State of one endpoint. Times are Unix milliseconds. */
export interface EndpointState {
  readonly waiting: number;
  readonly oldest: number | null;
  readonly failingSince: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly deliveredAt: number | null;
  readonly pausedUntil: number;
  readonly isGone: boolean;
  /** Events never delivered: too many were pending, or they were too old. */
  readonly lost: number;
}

/** The state of an unknown endpoint. */
export const NEW_ENDPOINT_STATE: EndpointState = {
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

/** Milliseconds of a lease. Much longer than an attempt may take, because clocks of gateways differ. */
export const LEASE = 120_000;

/** Jobs made due in one step, which delays others. */
export const DUE_BATCH = 1_000;

/** Maximum remembered names. */
export const MAX_NAMES = 100_000;

/**
 * Stores events until their endpoints have them, over restarts and for all gateways of one state.
 *
 * Every implementation keeps these promises:
 *
 * - An event is added for all its endpoints or for none, and once, also by concurrent calls.
 * - A job has one taker at a time. Without a result within `LEASE` it is due for the next.
 * - What was added and is neither done nor dropped survives a restart, and a crash of every process.
 * - Jobs that were never tried are taken in order.
 * - It holds no address: an endpoint is known by a name that only settings resolve.
 * - It has no clock: callers pass the time. It throws `Outage` if it is unavailable.
 */
export interface Outbox {
  add(addition: Addition): MaybePromise<Added>;
  /** The next due job of an endpoint; `null`: none, or the endpoint is paused. */
  take(endpoint: string, now: number): MaybePromise<Job | null>;
  /** Delivered: the endpoint is up, and its pending jobs become due, `DUE_AT_ONCE` per call. */
  done(job: Job, now: number): MaybePromise<void>;
  failed(job: Job, failure: Failure): MaybePromise<void>;
  giveUp(job: Job, now: number): MaybePromise<void>;
  /** The endpoint responded successfully to a test. */
  resume(endpoint: string, now: number): MaybePromise<void>;
  /** In the order of `endpoints`. */
  states(endpoints: readonly string[]): MaybePromise<EndpointState[]>;
  /** The position of a task that all gateways share; `null`: never run. */
  mark(name: string): MaybePromise<number | null>;
  /** Moves a mark unless another gateway has moved it meanwhile; returns whether it did. */
  move(name: string, from: number | null, to: number): MaybePromise<boolean>;
  close(): void;
}
