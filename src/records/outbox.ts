import type { MaybePromise } from '../common/maybe-promise.ts';

export interface Message {
  /** The same for each attempt and receiver. */
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
  /** Those that want it. A receiver without a mark begins with this event. */
  readonly endpoints: readonly string[];
  readonly once: Once;
  /** Events to keep, the newest. */
  readonly most: number;
  readonly now: number;
}

export interface StoredEvent extends Message {
  /** 1 for the first event, and one more for each. */
  readonly number: number;
  readonly at: number;
}

/**
 * The log of events for receivers, shared by all gateways of one state, and marks: how far each
 * reader is. Every implementation guarantees:
 *
 * - An event is appended once, also by concurrent calls, and is stored once for all receivers.
 * - Events and marks survive a restart, and a crash of every process.
 * - It holds no address, only names that settings resolve.
 * - Callers pass times, those of `time`. It throws `Outage` if it is unavailable.
 */
export interface Outbox {
  /** Returns whether the event is new. */
  add(addition: Addition): MaybePromise<boolean>;
  /** Events above a number, the oldest first. */
  read(above: number, limit: number): MaybePromise<readonly StoredEvent[]>;
  /** The number of the newest event; 0: none. */
  newest(): MaybePromise<number>;
  /** How many events above a number are stored, by type. */
  count(above: number): MaybePromise<ReadonlyMap<string, number>>;
  /** The time for all its processes, Unix milliseconds: by its own clock if it has one. */
  time(local: number): MaybePromise<number>;
  mark(name: string): MaybePromise<string | null>;
  /** Compare and set; returns whether it moved. `null`: no mark yet. */
  move(name: string, from: string | null, to: string): MaybePromise<boolean>;
  close(): void;
}

/** The mark of a receiver that begins after an event. As in lua/enqueue-6.lua. */
export const beginAfter = (position: number): string =>
  JSON.stringify({ position });
