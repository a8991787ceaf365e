import type { Registry } from 'prom-client';
import type { MaybePromise } from '../common/maybe-promise.ts';
import {
  type Exemplar,
  type Family,
  ReadMetric,
  type Sample,
} from './exposition.ts';
import type {
  BackendReading,
  BackendRow,
  EventRow,
  GaugeRow,
  LabelNames,
  LabelValue,
  ReadGauge,
  Row,
} from './metric-rows.ts';

type Labelled = Pick<EventRow, 'name' | 'help' | 'labelNames'>;

type Labels = Readonly<Record<string, LabelValue>>;

/** `aggregator`: of several processes. */
function register(
  registry: Registry,
  row: Row,
  type: 'counter' | 'gauge' | 'histogram',
  read: () => MaybePromise<Sample[]>,
  aggregator: 'sum' | 'average' | 'max' = 'sum',
): void {
  const { name, help } = row;
  const metric = new ReadMetric(row, async () => {
    const values = await read();
    // The types of prom-client have an enum and a function that its values lack.
    const family: Omit<Family, 'type' | 'collect'> & { type: string } = {
      name,
      help,
      type,
      aggregator,
      values,
    };
    return family as object as Family;
  });
  registry.registerMetric(metric);
}

export function counterTally(registry: Registry, row: Labelled) {
  const { find, all } = createLabelTree(row.labelNames, () => ({ count: 0 }));
  register(registry, row, 'counter', () =>
    all.map(({ labels, cell }) => ({ labels, value: cell.count })),
  );
  return (
    a?: LabelValue,
    b?: LabelValue,
    c?: LabelValue,
    d?: LabelValue,
  ): void => {
    find(a, b, c, d).count++;
  };
}

export interface CurrentTrace {
  id: string | null;
}

/** A histogram in seconds. With `trace` each bucket keeps its newest exemplar. */
export function histogramTally(
  registry: Registry,
  row: Labelled,
  bounds: readonly number[],
  trace: CurrentTrace | null,
) {
  const { find, all } = createLabelTree(row.labelNames, () => ({
    buckets: new Float64Array(bounds.length + 1),
    sum: 0,
    examples: [] as Exemplar[],
  }));
  register(registry, row, 'histogram', () =>
    all.flatMap(({ labels, cell: { buckets, sum, examples } }): Sample[] => {
      let count = 0;
      const cumulative = [...bounds, '+Inf'].map((le, i) => {
        count += buckets[i]!;
        return {
          metricName: `${row.name}_bucket`,
          labels: { ...labels, le },
          value: count,
          exemplar: examples[i],
        };
      });
      return [
        ...cumulative,
        { metricName: `${row.name}_sum`, labels, value: sum },
        { metricName: `${row.name}_count`, labels, value: count },
      ];
    }),
  );
  return (
    seconds: number,
    a?: LabelValue,
    b?: LabelValue,
    c?: LabelValue,
  ): void => {
    const cell = find(a, b, c);
    const bucket = bucketOf(seconds, bounds);
    cell.buckets[bucket]!++;
    cell.sum += seconds;
    if (trace === null || trace.id === null) return;
    cell.examples[bucket] = {
      labelSet: { trace_id: trace.id },
      value: seconds,
      timestamp: Date.now() / 1_000,
    };
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
  row: Labelled,
  initially: readonly LabelValue[] | null,
) {
  let now = initially;
  // For several processes: the union of their labels.
  register(
    registry,
    row,
    'gauge',
    () => (now === null ? [] : [{ labels: labelsOf(row, now), value: 1 }]),
    'max',
  );
  return (...values: readonly LabelValue[]): void => {
    now = values;
  };
}

export function readGauge(
  registry: Registry,
  row: GaugeRow,
  read: ReadGauge,
): void {
  register(registry, row, row.type, async () => [
    { labels: {}, value: await read() },
  ]);
}

export function readBackends(
  registry: Registry,
  row: BackendRow,
  backends: () => readonly BackendReading[],
): void {
  const read = () =>
    backends().map((one) => ({
      labels: { upstream: one.upstream, backend: one.backend },
      value: row.read(one),
    }));
  register(registry, row, row.type, read, row.aggregator);
}

type Branch = Map<LabelValue | undefined, unknown>;

/**
 * A tree of maps, so that counting a request allocates and hashes no label object or list. `find`
 * takes values in the order of the label names, and creates the cell on first use.
 */
function createLabelTree<C>(labelNames: LabelNames, make: () => C) {
  const root: Branch = new Map();
  const all: { readonly labels: Labels; readonly cell: C }[] = [];

  function find(
    a?: LabelValue,
    b?: LabelValue,
    c?: LabelValue,
    d?: LabelValue,
  ): C {
    let branch = root;
    let key = a;
    if (b !== undefined) {
      branch = below(branch, key);
      key = b;
    }
    if (c !== undefined) {
      branch = below(branch, key);
      key = c;
    }
    if (d !== undefined) {
      branch = below(branch, key);
      key = d;
    }
    const existing = branch.get(key) as C | undefined;
    if (existing !== undefined) return existing;
    const cell = make();
    branch.set(key, cell);
    all.push({ labels: labelsOf({ labelNames }, [a, b, c, d]), cell });
    return cell;
  }

  // A metric without labels starts at 0.
  if (labelNames.length === 0) find();
  return { find, all };
}

function below(above: Branch, key: LabelValue | undefined): Branch {
  const existing = above.get(key) as Branch | undefined;
  if (existing !== undefined) return existing;
  const branch: Branch = new Map();
  above.set(key, branch);
  return branch;
}

/**
 * With the own name of the operation beside its API. Without one there is no label: an empty one is
 * the same series.
 */
function labelsOf(
  { labelNames }: Pick<Labelled, 'labelNames'>,
  values: readonly (LabelValue | undefined)[],
): Labels {
  const { api, ...others } = Object.fromEntries(
    labelNames.map((name, i) => [name, values[i]!]),
  );
  if (!api) return others;
  const operation = String(others.operation).slice(`${api}/`.length);
  return { api, ...others, operation };
}
