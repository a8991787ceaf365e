import { AggregatorRegistry, type Registry } from 'prom-client';
import { openMetricsText, withExemplars } from './open-metrics.ts';

export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The exposition of several processes. `own` supplies metrics of one process, such as the start time. */
export function totalText(own: Figures, others: readonly Figures[]): Promise<string> {
  return aggregate(partsOf(own, others)).metrics();
}

export async function totalOpenMetrics(own: Figures, others: readonly Figures[]): Promise<string> {
  const parts = partsOf(own, others);
  return openMetricsText(withExemplars(await aggregate(parts).getMetricsAsJSON(), parts));
}

function partsOf(own: Figures, others: readonly Figures[]): readonly Figures[] {
  const ofOne = own.map((metric) => (isOfOne(metric) ? { ...metric, aggregator: 'first' as const } : metric));
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
