/** An outage of the shared state, in whole minutes. */
export interface StateOutage {
  /** Unix milliseconds. */
  readonly begin: number;
  readonly end: number;
  /** A bit for each of POLICIES that decided. */
  readonly policies: number;
}

/** Joins outages that overlap or adjoin. Oldest first. */
export function joinOutages(outages: Iterable<StateOutage>): StateOutage[] {
  const joined: StateOutage[] = [];
  for (const next of [...outages].sort(
    (one, other) => one.begin - other.begin,
  )) {
    const last = joined.at(-1);
    if (last === undefined || next.begin > last.end) joined.push(next);
    else {
      const { begin, end, policies } = last;
      joined[joined.length - 1] = {
        begin,
        end: Math.max(end, next.end),
        policies: policies | next.policies,
      };
    }
  }
  return joined;
}
