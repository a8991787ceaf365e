/**
 * Of an accepted connection: its owner counts it until the socket closes, and may end it for
 * another.
 */
export interface Place {
  /** The server sets it: the preamble, then the HTTP connection. */
  occupant: Occupant | null;
}

export interface Occupant {
  /** On the clock of `performance.now()`, up to a second too late; Infinity during a request. */
  readonly idleSince: number;
  readonly known: boolean;
  /** In good order, as the deadline of an idle connection does. */
  endIdle(): void;
  destroy(): void;
}

/** Of calls. The owner marks the connections of clients that it knows. */
export interface CallConnection {
  known: boolean;
}
