import type { Latency, Outcomes, Status, Traffic } from '../generated/types.ts';

// Rates, as differences of the totals of processes.

/** Milliseconds from one poll of live data to the next. */
export const POLL_INTERVAL = 2_000;

export interface TrafficSample {
  /** Milliseconds. */
  readonly at: number;
  /** By gateway and process. */
  readonly totals: ReadonlyMap<string, Traffic>;
}

/** The requests between two samples. */
export interface IntervalTraffic extends Outcomes {
  /** Milliseconds. */
  readonly span: number;
  readonly latency: Latency;
}

const NO_TRAFFIC: Traffic = {
  requests: 0,
  admitted: 0,
  limited: 0,
  banned: 0,
  classes: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, aborted: 0 },
  durations: {},
};

/** `at`: milliseconds of the clock of all samples. */
export function trafficSample(
  { gateways }: Pick<Status, 'gateways'>,
  at: number,
): TrafficSample {
  const totals = gateways.flatMap(({ gateway, processes }) =>
    processes.map(
      ({ pid, traffic }) => [`${gateway} ${pid}`, traffic] as const,
    ),
  );
  return { at, totals: new Map(totals) };
}

/**
 * Only of processes in both samples: a process that starts or returns between them counts from the
 * later one on.
 */
export function trafficBetween(
  before: TrafficSample,
  after: TrafficSample,
): IntervalTraffic {
  let sum = NO_TRAFFIC;
  for (const [process, total] of after.totals) {
    const begin = before.totals.get(process);
    if (begin === undefined || begin.requests > total.requests) continue;
    sum = combined(combined(sum, total, 1), begin, -1);
  }
  const { durations, ...outcomes } = sum;
  const span = after.at - before.at;
  return { span, ...outcomes, latency: latencyOf(durations) };
}

/** `durations`: requests by milliseconds. The quantiles have three digits. */
export function latencyOf(durations: Traffic['durations']): Latency {
  const counts = Object.entries(durations).map(
    ([duration, count]) => [Number(duration), count] as const,
  );
  counts.sort(([one], [other]) => one - other);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const at = (q: number): number | null => {
    let remaining = Math.max(1, Math.ceil(q * all));
    for (const [duration, count] of counts) {
      remaining -= count;
      if (remaining <= 0) return Number(duration.toPrecision(3));
    }
    return null;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function combined(one: Traffic, other: Traffic, factor: 1 | -1): Traffic {
  const { classes, durations, ...counts } = one;
  const { classes: moreClasses, durations: moreDurations, ...more } = other;
  return {
    ...sumOf(counts, more, factor),
    classes: sumOf(classes, moreClasses, factor),
    durations: sumOf(durations, moreDurations, factor),
  };
}

/** Of each name in either of them. */
function sumOf<Counts extends object>(
  one: Counts,
  other: Counts,
  factor: number,
): Counts {
  const sum = { ...one } as Record<string, number>;
  for (const [name, count] of Object.entries(other))
    sum[name] = (sum[name] ?? 0) + factor * count;
  return sum as Counts;
}
