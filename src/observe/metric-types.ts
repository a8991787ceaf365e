import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import { createLabelTree, type LabelNames, type LabelValue } from './label-tree.ts';
import type { StoreReading, StoreRow } from './metric-rows.ts';
import type { Exemplar } from './open-metrics.ts';

export interface TallyName {
  readonly name: string;
  readonly help: string;
  readonly labelNames: LabelNames;
}

export function counterTally(registry: Registry, { name, help, labelNames }: TallyName) {
  const { find, all } = createLabelTree(labelNames, () => ({ count: 0 }));
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, cell } of all) this.inc(labels, cell.count);
    },
  });
  return (a?: LabelValue, b?: LabelValue, c?: LabelValue): void => {
    find(a, b, c).count++;
  };
}

export interface CurrentTrace {
  id: string | null;
}

/** A histogram in seconds. With `trace` each bucket keeps its newest exemplar. */
export function histogramTally(
  registry: Registry,
  { name, help, labelNames }: TallyName,
  bounds: readonly number[],
  trace: CurrentTrace | null = null,
) {
  const { find, all } = createLabelTree(labelNames, () => ({
    buckets: new Float64Array(bounds.length + 1),
    sum: 0,
    examples: [] as Exemplar[],
  }));

  function values() {
    return all.flatMap(({ labels, cell: { buckets, sum, examples } }) => {
      const example = (i: number) => (examples[i] === undefined ? null : { exemplar: examples[i] });
      let below = 0;
      const cumulative = bounds.map((le, i) => {
        below += buckets[i]!;
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below, ...example(i) };
      });
      const count = below + buckets[bounds.length]!;
      const last = example(bounds.length);
      return [
        ...cumulative,
        { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count, ...last },
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }

  // The registry uses only these members.
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() }),
  };
  registry.registerMetric(metric as unknown as Metric);

  function add(seconds: number, a?: LabelValue, b?: LabelValue, c?: LabelValue): void {
    const cell = find(a, b, c);
    cell.buckets[bucketOf(seconds, bounds)]!++;
    cell.sum += seconds;
  }

  if (trace === null) return add;
  return (seconds: number, a?: LabelValue, b?: LabelValue, c?: LabelValue): void => {
    add(seconds, a, b, c);
    if (trace.id === null) return;
    const exemplar = { labelSet: { trace_id: trace.id }, value: seconds, timestamp: Date.now() / 1_000 };
    find(a, b, c).examples[bucketOf(seconds, bounds)] = exemplar;
  };
}

function bucketOf(seconds: number, bounds: readonly number[]): number {
  let bucket = 0;
  while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
  return bucket;
}

/** Only the labels set last exist, with the value 1. `initially` null: none before they are set. */
export function infoGauge(
  registry: Registry,
  { name, help, labelNames }: TallyName,
  initially: readonly LabelValue[] | null,
) {
  let now = initially;
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    // The union of the labels of all processes.
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.reset();
      if (now !== null) this.labels(...now.map(String)).set(1);
    },
  });
  return (...values: readonly LabelValue[]): void => {
    now = values;
  };
}

export function readGauge(registry: Registry, { name, help }: Omit<TallyName, 'labelNames'>, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

export function readStores(
  registry: Registry,
  { name, help, type, together: aggregator, read }: StoreRow,
  stores: () => readonly StoreReading[],
): void {
  const Kind = type === 'counter' ? Counter : Gauge;
  new Kind({
    ...{ name, help, labelNames: ['upstream', 'store'], aggregator, registers: [registry] },
    collect() {
      this.reset();
      for (const one of stores()) this.inc({ upstream: one.upstream, store: one.store }, read(one));
    },
  });
}
