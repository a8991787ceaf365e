import { AggregatorRegistry, Gauge, Registry } from 'prom-client';
import type { MaybePromise } from '../common/maybe-promise.ts';

/** The metrics of one process. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export type Family = Figures[number];

export const {
  PROMETHEUS_CONTENT_TYPE: TEXT,
  OPENMETRICS_CONTENT_TYPE: OPEN_METRICS,
} = Registry;

/** Whether an Accept prefers OpenMetrics. Its parameters do not matter. */
export function prefersOpenMetrics(accept: string): boolean {
  let [open, usual] = [0, 0];
  for (const range of accept.toLowerCase().split(',')) {
    const type = range.split(';', 1)[0]!.trim();
    const weight = Number(
      /;\s*q=([01](?:\.[0-9]{0,3})?)\s*(?:;|$)/.exec(range)?.[1] ?? 1,
    );
    if (type === 'application/openmetrics-text') open = Math.max(open, weight);
    else if (type === 'text/plain' || type === 'text/*' || type === '*/*')
      usual = Math.max(usual, weight);
  }
  return open > 0 && open >= usual;
}

/** `timestamp`: Unix seconds. */
export interface Exemplar {
  readonly labelSet: { readonly trace_id: string };
  readonly value: number;
  readonly timestamp: number;
}

export type Sample = Family['values'][number] & {
  readonly metricName?: string;
  readonly exemplar?: Exemplar | null | undefined;
};

/** Whatever type it reads: a metric of prom-client counts, and hashes labels, by itself. */
export class ReadMetric extends Gauge {
  readonly #read: () => MaybePromise<Family>;

  constructor(
    { name, help }: Pick<Family, 'name' | 'help'>,
    read: () => MaybePromise<Family>,
  ) {
    super({ name, help, registers: [] });
    this.#read = read;
  }

  override async get(): Promise<Family> {
    return await this.#read();
  }
}

type ExpositionType = typeof TEXT | typeof OPEN_METRICS;

export function expositionOf(
  figures: Figures,
  type: ExpositionType,
): Promise<string> {
  const registry = new Registry<ExpositionType>();
  registry.setContentType(type);
  const families = type === OPEN_METRICS ? figures.map(openFamily) : figures;
  for (const family of families)
    registry.registerMetric(new ReadMetric(family, () => family));
  return registry.metrics();
}

/** prom-client appends `_total` to counters and writes the bound 1 without the required point. */
function openFamily(family: Family): Family {
  if (String(family.type) === 'counter')
    return { ...family, name: family.name.replace(/_total$/, '') };
  return String(family.type) === 'histogram'
    ? { ...family, values: family.values.map(withPoint) }
    : family;
}

function withPoint(sample: Sample): Sample {
  const { le } = sample.labels;
  return Number.isInteger(le)
    ? { ...sample, labels: { ...sample.labels, le: `${le}.0` } }
    : sample;
}

/** The sum of several processes. `own` supplies metrics of one process, such as the start time. */
export async function totalOf(
  own: Figures,
  others: readonly Figures[],
): Promise<Figures> {
  const ofOne = own.map((family) =>
    isOfOne(family) ? { ...family, aggregator: 'first' as const } : family,
  );
  const parts = [
    ofOne,
    ...others.map((figures) => figures.filter((family) => !isOfOne(family))),
  ];
  return withExemplars(await sumOf(parts), parts.flat());
}

/** Counters and histograms outlive their process; gauges do not. */
export function lastingFigures(figures: readonly Figures[]): Promise<Figures> {
  return sumOf(
    figures.map((families) =>
      families.filter(({ type }) => String(type) !== 'gauge'),
    ),
  );
}

function isOfOne({ aggregator }: Family): boolean {
  return aggregator === 'omit';
}

function sumOf(figures: readonly Figures[]): Promise<Figures> {
  return AggregatorRegistry.aggregate([...figures]).getMetricsAsJSON();
}

/** The newest of each bucket: a sum of prom-client has none. */
function withExemplars(total: Figures, parts: Figures): Figures {
  const newest = new Map<string, Exemplar>();
  for (const sample of parts.flatMap(({ values }): Sample[] => values)) {
    const { exemplar } = sample;
    if (!exemplar) continue;
    const existing = newest.get(bucketOf(sample));
    if (existing === undefined || existing.timestamp < exemplar.timestamp)
      newest.set(bucketOf(sample), exemplar);
  }
  if (newest.size === 0) return total;
  const withNewest = (sample: Sample): Sample => ({
    ...sample,
    exemplar: newest.get(bucketOf(sample)),
  });
  return total.map((family) => ({
    ...family,
    values: family.values.map(withNewest),
  }));
}

function bucketOf({ metricName, labels }: Sample): string {
  return JSON.stringify([metricName, labels]);
}
