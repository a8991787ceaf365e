import { collectDefaultMetrics, type Gauge, Registry } from 'prom-client';
import type { Event, Observe } from './events.ts';
import type { Figures } from './exposition.ts';
import type {
  BackendReading,
  EventRow,
  GaugeName,
  Gauges,
  LabelValue,
  ReadGauge,
} from './metric-rows.ts';
import { METRICS } from './metric-table.ts';
import {
  type CurrentTrace,
  counterTally,
  histogramTally,
  infoGauge,
  readBackends,
  readGauge,
} from './metric-types.ts';

export interface Metrics {
  readonly observe: Observe;
  /** Only OpenMetrics has them. */
  readonly exemplars: boolean;
  figures(): Promise<Figures>;
}

type Counts = Partial<Record<Event['type'], Count[]>>;

interface Count {
  readonly add: (...values: LabelValue[]) => void;
  count(add: Count['add'], event: Event, names?: Set<string>): void;
}

const SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Gauges with the suffix of counters, which linters report. Each is the sum of another gauge. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Milliseconds. The default of 10 ms is most of the CPU of an idle gateway. */
const LOOK_EVERY = 1_000;
/** Node's monitor reports these as the interval, not as the delay. */
const DELAYS = ['min', 'max', 'mean', 'p50', 'p90', 'p99'].map(
  (name) => `nodejs_eventloop_lag_${name}_seconds`,
);

function takeInterval(gauge: Gauge): void {
  const set = gauge.set.bind(gauge);
  gauge.set = (labels: object | number, seconds?: number) =>
    set(labels as object, Math.max(0, seconds! - LOOK_EVERY / 1_000));
}

export function createMetrics(
  gauges: Gauges,
  backends?: () => readonly BackendReading[],
  { exemplars = false }: { readonly exemplars?: boolean } = {},
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: LOOK_EVERY,
  });
  for (const name of DELAYS)
    takeInterval(registry.getSingleMetric(name) as Gauge);
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const trace: CurrentTrace | null = exemplars ? { id: null } : null;
  const counts = register(registry, gauges, backends, trace);

  function observe(event: Event): void {
    const concerned = counts[event.type];
    if (concerned === undefined) return;
    for (const { count, add } of concerned) count(add, event);
  }

  return {
    observe: trace === null ? observe : inTrace(trace, observe),
    exemplars,
    figures: () => registry.getMetricsAsJSON(),
  };
}

/** An exemplar without spans leads nowhere. */
function inTrace(trace: CurrentTrace, observe: Observe): Observe {
  return (event) => {
    const span = event.type === 'request' ? event.trace?.span : null;
    trace.id = span?.sampled ? span.traceId : null;
    observe(event);
  };
}

function register(
  registry: Registry,
  gauges: Readonly<Partial<Record<GaugeName, ReadGauge>>>,
  backends: (() => readonly BackendReading[]) | undefined,
  trace: CurrentTrace | null,
): Counts {
  const counts: Counts = Object.create(null);
  for (const row of METRICS) {
    if (row.kind === 'gauge') {
      const read = gauges[row.reads];
      if (read !== undefined) readGauge(registry, row, read);
    } else if (row.kind === 'backend') {
      if (backends !== undefined) readBackends(registry, row, backends);
    } else if (
      row.onlyWith === undefined ||
      gauges[row.onlyWith] !== undefined
    ) {
      const count = prepare(registry, row, trace);
      for (const type of row.on)
        counts[type] = [...(counts[type] ?? []), count];
    }
  }
  return counts;
}

function prepare(
  registry: Registry,
  row: EventRow,
  trace: CurrentTrace | null,
): Count {
  switch (row.kind) {
    case 'counter':
      return { add: counterTally(registry, row), count: row.count };
    case 'histogram':
      return {
        add: histogramTally(
          registry,
          row,
          row.buckets ?? SECONDS,
          trace,
        ) as Count['add'],
        count: row.count,
      };
    case 'info': {
      const names = new Set<string>();
      const count: Count['count'] = (set, event) =>
        row.count(set, event, names);
      return { add: infoGauge(registry, row, row.initially ?? null), count };
    }
  }
}
