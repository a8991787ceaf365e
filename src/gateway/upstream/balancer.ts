/** What may be chosen: its share of the requests, and those that it has to answer now. */
export interface Candidate {
  readonly weight: number;
  readonly load: number;
}

/** What a request adds to the one that it would go to instead. A whole one gives too little to those of little weight. */
const HALF = 0.5;

/**
 * One of at least two: of two random ones, each as likely as its weight says, that with the fewest requests for its weight. With
 * little to do all get what their weights say: one of little weight that has nothing to do is no reason to leave one of much weight
 * that has hardly anything. One that is slow fills up and gets less. `random`: from 0, below 1.
 */
export function pickCandidate<T extends Candidate>(all: readonly T[], random: () => number): T {
  let sum = 0;
  for (const { weight } of all) sum += weight;
  const one = at(all, random() * sum, null);
  const other = at(all, random() * (sum - one.weight), one);
  return (other.load + HALF) * one.weight < one.load * other.weight ? other : one;
}

/** The one at a place on the line on which each, but `without`, is as long as its weight. */
function at<T extends Candidate>(all: readonly T[], place: number, without: T | null): T {
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
