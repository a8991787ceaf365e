/** A mergeable histogram with a quantile error of 5 % at most, as in DDSketch (Masson, Rim, Lee, VLDB 2019). */
const FACTOR = 1.1;
/** Milliseconds. Outliers count in the first or last bucket. */
const SHORTEST = 0.1;
export const BUCKETS = 143;

const STEP = Math.log(FACTOR);

export function bucketOf(duration: number): number {
  if (!(duration > SHORTEST)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(duration / SHORTEST) / STEP));
}

export function durationIn(bucket: number): number {
  return bucket === 0 ? SHORTEST : (SHORTEST * 2 * FACTOR ** bucket) / (FACTOR + 1);
}

/** `null`: no durations. */
export function quantile(counts: ArrayLike<number>, q: number): number | null {
  let all = 0;
  for (let i = 0; i < counts.length; i++) all += counts[i]!;
  if (all === 0) return null;
  let left = Math.max(1, Math.ceil(q * all));
  for (let bucket = 0; ; bucket++) {
    left -= counts[bucket]!;
    if (left <= 0) return durationIn(bucket);
  }
}
