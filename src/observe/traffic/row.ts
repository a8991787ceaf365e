import type { RequestEvent } from '../events.ts';

/**
 * A mergeable histogram with a quantile error of 5 % at most, as in DDSketch (Masson, Rim, Lee,
 * VLDB 2019).
 */
const FACTOR = 1.1;
/** Milliseconds. Outliers count in the first or last bucket. */
const SHORTEST = 0.1;
export const BUCKETS = 143;

const STEP = Math.log(FACTOR);

const VERDICTS = ['admitted', 'limited', 'banned'] as const;
/** `aborted`: the client closed the connection before its response. */
const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'aborted'] as const;
const STATUSES = [
  400, 401, 403, 404, 405, 408, 410, 413, 415, 429, 500, 502, 503, 504,
] as const;

const CLASSES_AT = VERDICTS.length;
const STATUSES_AT = CLASSES_AT + CLASSES.length;
const BUCKETS_AT = STATUSES_AT + STATUSES.length;

/** The numbers of a row: verdicts, classes, statuses, then the buckets of durations. */
export const COLUMNS = BUCKETS_AT + BUCKETS;

/** Counts, so that rows are merged by adding. */
export type Row = Float64Array | Uint32Array;

/** -1: does not count. */
export interface Places {
  readonly verdict: number;
  readonly class: number;
  readonly status: number;
  readonly bucket: number;
}

export function placesOf({ verdict, status, duration }: RequestEvent): Places {
  const byStatus = STATUSES.indexOf(status as (typeof STATUSES)[number]);
  return {
    verdict:
      verdict === null
        ? -1
        : VERDICTS.indexOf(verdict as (typeof VERDICTS)[number]),
    class: CLASSES_AT + classOf(status),
    status: byStatus < 0 ? -1 : STATUSES_AT + byStatus,
    bucket: BUCKETS_AT + bucketOf(duration),
  };
}

function classOf(status: number): number {
  if (status === 499) return CLASSES.indexOf('aborted');
  // Only 101 is below 200.
  return Math.max(0, Math.min(3, Math.floor(status / 100) - 2));
}

export function countIn(
  row: Row,
  { verdict, class: ofClass, status, bucket }: Places,
): void {
  if (verdict >= 0) row[verdict]!++;
  if (status >= 0) row[status]!++;
  row[ofClass]!++;
  row[bucket]!++;
}

export function addTo(sum: Row, row: Row): void {
  for (let i = 0; i < COLUMNS; i++) sum[i]! += row[i]!;
}

/** Every request has one class. */
export function requestsIn(row: Row): number {
  let sum = 0;
  for (let i = CLASSES_AT; i < STATUSES_AT; i++) sum += row[i]!;
  return sum;
}

const verdictsIn = (row: Row) => named(VERDICTS, row, 0);
export const statusesIn = (row: Row) => named(STATUSES, row, STATUSES_AT);

export const outcomesIn = (row: Row) => ({
  requests: requestsIn(row),
  ...verdictsIn(row),
  classes: named(CLASSES, row, CLASSES_AT),
});

/** Requests by their duration in milliseconds. */
export function durationsIn(row: Row): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [i, duration] of DURATIONS.entries()) {
    const count = row[BUCKETS_AT + i]!;
    if (count > 0) counts[duration] = count;
  }
  return counts;
}

function named<N extends string | number>(
  names: readonly N[],
  row: Row,
  at: number,
) {
  return Object.fromEntries(
    names.map((name, i) => [name, row[at + i]!]),
  ) as Record<N, number>;
}

export function bucketOf(duration: number): number {
  if (!(duration > SHORTEST)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(duration / SHORTEST) / STEP));
}

/** To four digits, which keeps the error below 5 %. */
export function durationIn(bucket: number): number {
  const duration =
    bucket === 0 ? SHORTEST : (SHORTEST * 2 * FACTOR ** bucket) / (FACTOR + 1);
  return Number(duration.toPrecision(4));
}

const DURATIONS = Array.from({ length: BUCKETS }, (_, i) => durationIn(i));
