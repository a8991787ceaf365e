import { Counter, type Metric, type Registry } from 'prom-client';

/** The name, help and labels of a tally. */
export interface TallyName {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/**
 * One cell for each combination of label values, in a tree of maps, so that counting a request makes and hashes no
 * label object. prom-client reads the cells when Prometheus asks.
 */
class Cells<C> {
  readonly #make: () => C;
  readonly #labelNames: readonly string[];
  readonly #root = new Map<string | number, unknown>();
  readonly #all: { readonly labels: Record<string, string | number>; readonly cell: C }[] = [];

  constructor(labelNames: readonly string[], make: () => C) {
    this.#labelNames = labelNames;
    this.#make = make;
  }

  at(values: readonly (string | number)[]): C {
    let level = this.#root;
    for (let i = 0; i < values.length - 1; i++) {
      let next = level.get(values[i]!) as Map<string | number, unknown> | undefined;
      if (!next) {
        next = new Map();
        level.set(values[i]!, next);
      }
      level = next;
    }
    const last = values[values.length - 1] ?? '';
    return (level.get(last) as C | undefined) ?? this.#grow(level, last, values);
  }

  [Symbol.iterator]() {
    return this.#all.values();
  }

  #grow(level: Map<string | number, unknown>, last: string | number, values: readonly (string | number)[]): C {
    const cell = this.#make();
    level.set(last, cell);
    this.#all.push({ labels: Object.fromEntries(this.#labelNames.map((name, i) => [name, values[i]!])), cell });
    return cell;
  }
}

/** Makes a counter and returns the function that adds one for the given label values. */
export function counterTally(registry: Registry, { name, help, labelNames }: TallyName) {
  const cells = new Cells(labelNames, () => ({ count: 0 }));
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, cell } of cells) this.inc(labels, cell.count);
    },
  });
  if (labelNames.length === 0) cells.at([]);
  return (...values: (string | number)[]): void => {
    cells.at(values).count++;
  };
}

/** Makes a histogram in seconds and returns the function that observes one duration for the given label value. */
export function histogramTally(registry: Registry, { name, help, labelNames }: TallyName, bounds: readonly number[]) {
  const cells = new Cells(labelNames, () => ({ buckets: new Float64Array(bounds.length + 1), sum: 0 }));

  function values() {
    return [...cells].flatMap(({ labels, cell: { buckets, sum } }) => {
      let below = 0;
      const cumulative = bounds.map((le, i) => {
        below += buckets[i]!;
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
      });
      const count = below + buckets[bounds.length]!;
      return [
        ...cumulative,
        { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }

  // The registry uses only these parts of a metric.
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() }),
  };
  registry.registerMetric(metric as unknown as Metric);

  return (seconds: number, ...labelValues: (string | number)[]): void => {
    const cell = cells.at(labelValues);
    let bucket = 0;
    while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
    cell.buckets[bucket]!++;
    cell.sum += seconds;
  };
}
