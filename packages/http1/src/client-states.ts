/**
 * How far the exchange on a connection to a backend has come, and what may be next. Each event
 * leads to one state.
 */
export const NEXT_STATES = {
  idle: ['waiting', 'closed'],
  /** No byte of the response has come. */
  waiting: ['head', 'closed'],
  head: ['whole', 'streaming', 'tunnel', 'closed'],
  /** The body is in the same read and is passed on with the head. */
  whole: ['complete', 'closed'],
  streaming: ['complete', 'closed'],
  /** Until the end of the read: bytes behind the response must not become the next response. */
  complete: ['idle', 'closed'],
  tunnel: ['closed'],
  closed: [],
} as const satisfies Record<string, readonly string[]>;

export type State = keyof typeof NEXT_STATES;

/** A property of a varying name would take longer than the rest of a change. */
const LOOKUP: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(NEXT_STATES).map(([state, next]) => [
    state,
    new Set<string>(next),
  ]),
);

/** Throws if the state cannot follow, which is a bug of the caller. */
export function checkNext(state: State, next: State): void {
  if (!LOOKUP.get(state)!.has(next))
    throw new Error(`"${next}" cannot follow "${state}"`);
}
