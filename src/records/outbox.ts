import type { MaybePromise } from '../common/maybe-promise.ts';

export interface Message {
  /** The same for each attempt and endpoint. */
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** Deduplicates events of several gateways. Times are Unix milliseconds. */
export interface Once {
  readonly name: string;
  /** An event of this name before this time is a different one; 0: never. */
  readonly since: number;
  readonly until: number;
  /** Lets the next event of this name be a new one. */
  readonly ends?: string;
}

export interface Addition {
  readonly message: Message;
  readonly endpoints: readonly string[];
  readonly once: Once;
  readonly most: number;
  readonly now: number;
}

/** The number of events dropped for it; `null`: a duplicate, not added. */
type Added = number | null;

export interface Job extends Message {
  readonly endpoint: string;
  readonly number: string;
  readonly at: number;
  readonly attempts: number;
  readonly failures: number;
}

export interface Failure {
  readonly now: number;
  readonly again: number;
  readonly pausedUntil: number;
  readonly error: string;
  readonly isGone: boolean;
}

/** Times are Unix milliseconds. */
export interface EndpointState {
  readonly waiting: number;
  readonly oldest: number | null;
  readonly failingSince: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly deliveredAt: number | null;
  readonly pausedUntil: number;
  readonly isGone: boolean;
  readonly lost: number;
}

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

/** Milliseconds. Much longer than an attempt, because clocks of gateways differ. */
export const LEASE = 120_000;

export const DUE_BATCH = 1_000;

export const MAX_NAMES = 100_000;

/**
 * Stores events for all gateways of one state. Every implementation guarantees:
 *
 * - An event is added for all its endpoints or for none, and once, also by concurrent calls.
 * - A job has one taker at a time. Without a result within `LEASE` it is due again.
 * - Pending jobs survive a restart, and a crash of every process.
 * - Jobs that were never tried are taken in order.
 * - It holds no address, only names that settings resolve.
 * - Callers pass the time. It throws `Outage` if it is unavailable.
 */
export interface Outbox {
  add(addition: Addition): MaybePromise<Added>;
  take(endpoint: string, now: number): MaybePromise<Job | null>;
  /** The endpoint is up: its pending jobs become due, `DUE_BATCH` per call. */
  done(job: Job, now: number): MaybePromise<void>;
  failed(job: Job, failure: Failure): MaybePromise<void>;
  giveUp(job: Job, now: number): MaybePromise<void>;
  resume(endpoint: string, now: number): MaybePromise<void>;
  states(endpoints: readonly string[]): MaybePromise<EndpointState[]>;
  /** `null`: never run. */
  mark(name: string): MaybePromise<number | null>;
  /** Compare and set; returns whether it moved. */
  move(name: string, from: number | null, to: number): MaybePromise<boolean>;
  close(): void;
}
