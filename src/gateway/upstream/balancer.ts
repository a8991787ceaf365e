interface Candidate {
  readonly weight: number;
  readonly load: number;
}

/** A whole one disadvantages small weights. */
const HALF = 0.5;

/** Weighted power of two choices. `random`: from 0, below 1. */
export function pickCandidate<T extends Candidate>(
  all: readonly T[],
  random: () => number,
): T {
  let sum = 0;
  for (const { weight } of all) sum += weight;
  const one = at(all, random() * sum, null);
  const other = at(all, random() * (sum - one.weight), one);
  return (other.load + HALF) * one.weight < one.load * other.weight
    ? other
    : one;
}

function at<T extends Candidate>(
  all: readonly T[],
  place: number,
  without: T | null,
): T {
  let rest = place;
  let last: T | undefined;
  for (const one of all) {
    if (one === without) continue;
    last = one;
    rest -= one.weight;
    if (rest < 0) return one;
  }
  // Only rounding leads here.
  return last!;
}
