/**
 * A histogram of durations whose quantiles are off by 5 % at most, and which is merged by adding: buckets whose bounds grow by a
 * factor, as in DDSketch (Masson, Rim, Lee: "DDSketch", VLDB 2019).
 */
const FACTOR = 1.1;
/** Milliseconds. What is shorter counts as this, what is longer than the last bucket, about 76 s, as that. */
const SHORTEST = 0.1;
export const BUCKETS = 143;

const STEP = Math.log(FACTOR);

/** The bucket of a duration in milliseconds. */
export function bucketOf(duration: number): number {
  if (!(duration > SHORTEST)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(duration / SHORTEST) / STEP));
}

/** The duration that is told for a bucket: as far from its bounds, in relation to them. */
export function durationIn(bucket: number): number {
  return bucket === 0 ? SHORTEST : (SHORTEST * 2 * FACTOR ** bucket) / (FACTOR + 1);
}

/** The duration that the part `q` of all counted ones did not exceed; `null`: none was counted. */
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
