import { AggregatorRegistry, type Registry } from 'prom-client';

/** The metrics of one process. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Whether an Accept prefers OpenMetrics. Its parameters do not matter. */
export function prefersOpenMetrics(accept: string): boolean {
  let [open, usual] = [0, 0];
  for (const range of accept.toLowerCase().split(',')) {
    const type = range.split(';', 1)[0]!.trim();
    const weight = Number(/;\s*q=([01](?:\.[0-9]{0,3})?)\s*(?:;|$)/.exec(range)?.[1] ?? 1);
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

type Family = Figures[number];
type Sample = Family['values'][number] & {
  readonly metricName?: string;
  readonly exemplar?: Exemplar | null;
};

/** Not prom-client's, which renames its metrics in place and so breaks the other exposition. */
export function openMetricsText(figures: Figures): string {
  return `${figures.map(familyText).join('')}# EOF\n`;
}

function familyText(family: Family): string {
  const isCounter = String(family.type) === 'counter' && family.name.endsWith(TOTAL);
  const name = isCounter ? family.name.slice(0, -TOTAL.length) : family.name;
  // OpenMetrics requires the suffix `_total` for counters.
  const type = String(family.type) === 'counter' && !isCounter ? 'unknown' : family.type;
  const samples = (family.values as readonly Sample[]).map((sample) =>
    sampleText(family.name, sample),
  );
  return `# TYPE ${name} ${type}\n# HELP ${name} ${escaped(family.help)}\n${samples.join('')}`;
}

const TOTAL = '_total';

function sampleText(
  family: string,
  { metricName = family, labels, value, exemplar }: Sample,
): string {
  const list = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(labelOf(name, value))}"`,
  );
  const text = `${metricName}${list.length === 0 ? '' : `{${list.join(',')}}`} ${numberText(value)}`;
  if (!exemplar) return `${text}\n`;
  const { labelSet, value: seconds, timestamp } = exemplar;
  return `${text} # {trace_id="${labelSet.trace_id}"} ${numberText(seconds)} ${timestamp.toFixed(3)}\n`;
}

/** OpenMetrics wants bucket bounds with a point. */
function labelOf(name: string, value: string | number | undefined): string {
  const isBound = (name === 'le' || name === 'quantile') && Number.isInteger(Number(value));
  return isBound ? `${Number(value)}.0` : `${value}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return `${value}`;
  return value > 0 ? '+Inf' : '-Inf';
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function withExemplars(together: Figures, parts: readonly Figures[]): Figures {
  const newest = new Map<string, Exemplar>();
  for (const family of parts.flat()) {
    for (const sample of family.values as readonly Sample[]) {
      const { exemplar } = sample;
      if (!exemplar) continue;
      const key = keyOf(family.name, sample);
      const known = newest.get(key);
      if (known === undefined || known.timestamp < exemplar.timestamp) newest.set(key, exemplar);
    }
  }
  if (newest.size === 0) return together;
  return together.map((family) => ({
    ...family,
    values: (family.values as readonly Sample[]).map((sample) => {
      const exemplar = newest.get(keyOf(family.name, sample));
      return exemplar === undefined ? sample : { ...sample, exemplar };
    }),
  })) as Figures;
}

function keyOf(family: string, { metricName = family, labels }: Sample): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return [metricName, ...pairs.sort()].join('\n');
}

/**
 * The exposition of several processes. `own` supplies metrics of one process, such as the start
 * time.
 */
export function totalText(own: Figures, others: readonly Figures[]): Promise<string> {
  return aggregate(partsOf(own, others)).metrics();
}

export async function totalOpenMetrics(own: Figures, others: readonly Figures[]): Promise<string> {
  const parts = partsOf(own, others);
  return openMetricsText(withExemplars(await aggregate(parts).getMetricsAsJSON(), parts));
}

function partsOf(own: Figures, others: readonly Figures[]): readonly Figures[] {
  const ofOne = own.map((metric) =>
    isOfOne(metric) ? { ...metric, aggregator: 'first' as const } : metric,
  );
  return [ofOne, ...others.map((figures) => figures.filter((metric) => !isOfOne(metric)))];
}

/** Counters and histograms outlive their process; gauges do not. */
export function lastingFigures(figures: readonly Figures[]): Promise<Figures> {
  const growing = figures.map((metrics) => metrics.filter(({ type }) => String(type) !== 'gauge'));
  return aggregate(growing).getMetricsAsJSON();
}

function isOfOne({ aggregator }: Figures[number]): boolean {
  return aggregator === 'omit';
}

function aggregate(figures: readonly Figures[]): Registry {
  return AggregatorRegistry.aggregate([...figures]);
}
