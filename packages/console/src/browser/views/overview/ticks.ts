import type { HistoryStep, Status } from '@storegate/admin-api';
import {
  type IntervalTraffic,
  POLL_INTERVAL,
  type TrafficSample,
  trafficBetween,
  trafficSample,
} from '@storegate/admin-api/text';

/** Ticks that are shown: two minutes. */
const SHOWN = 60;
/** Milliseconds that rates are of, and the delays of their polls: rates of one tick jump. */
const LATELY = 11_000;

/** The traffic since the poll before. */
export interface Tick extends IntervalTraffic {
  /** Milliseconds. */
  readonly at: number;
  /** The traffic of the last ten seconds. */
  readonly lately: IntervalTraffic;
}

export interface Ticks {
  /** Of the last ten seconds. */
  readonly samples: readonly TrafficSample[];
  readonly all: readonly Tick[];
}

export const NO_TICKS: Ticks = { samples: [], all: [] };

/**
 * With the totals of a response that came at `at`, milliseconds. After a gap, as after the start, a
 * tick only begins to count.
 */
export function withStatus(
  { samples, all }: Ticks,
  status: Status,
  at: number,
): Ticks {
  const now = trafficSample(status, at);
  const recent = samples.filter((sample) => at - sample.at < LATELY);
  const tick = {
    at,
    ...trafficBetween(recent.at(-1) ?? now, now),
    lately: trafficBetween(recent[0] ?? now, now),
  };
  return {
    samples: [...recent, now],
    all: [...all.slice(1 - SHOWN), tick],
  };
}

/**
 * The last ticks on a line that ends with the newest, so that it is always in one place. `null`:
 * nothing was counted.
 */
export function ticksOnLine(
  { all }: Pick<Ticks, 'all'>,
  count = SHOWN,
): (Tick | null)[] {
  const line = Array<Tick | null>(count).fill(null);
  let before = Number.POSITIVE_INFINITY;
  for (const tick of all) {
    const passed = Math.round((tick.at - before) / POLL_INTERVAL);
    const missed = Math.max(0, Math.min(passed - 1, count));
    const place = tick.span > 0 ? tick : null;
    line.push(...Array<null>(missed).fill(null), place);
    before = tick.at;
  }
  return line.slice(-count);
}

const MINUTE = 60_000;

/** With the minutes of the history in the places before the first tick: each tick is their mean. */
export function withMinutes(
  line: readonly (Tick | null)[],
  starts: readonly number[],
  steps: readonly HistoryStep[],
): (Tick | null)[] {
  const known = new Map(steps.map((step) => [Date.parse(step.at), step]));
  const first = line.findIndex((tick) => tick !== null);
  return line.map((tick, i) => {
    const at = starts[i]!;
    const step = known.get(Math.floor(at / MINUTE) * MINUTE);
    if (step === undefined || (first !== -1 && i >= first)) return tick;
    const traffic = { ...step, span: MINUTE, latency: step };
    return { ...traffic, at, lately: traffic };
  });
}
