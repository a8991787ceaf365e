import { AggregatorRegistry, type Registry } from 'prom-client';

/** Every metric of one process with its values: plain data that can be sent to another one. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/**
 * One exposition of several processes, each metric put together as it says itself: most are added up. `own` is the process
 * that answers for all; what only makes sense of one process, such as when it was started, is its.
 */
export function totalText(own: Figures, others: readonly Figures[]): Promise<string> {
  const ofOne = own.map((metric) => (isOfOne(metric) ? { ...metric, aggregator: 'first' as const } : metric));
  return aggregate([ofOne, ...others.map((figures) => figures.filter((metric) => !isOfOne(metric)))]).metrics();
}

/** What outlives the processes: their counters and histograms. What they held when they ended, they hold no more. */
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
