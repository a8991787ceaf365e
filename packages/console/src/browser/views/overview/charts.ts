import type { Latency, Outcomes } from '@storegate/admin-api';
import { number, outageText } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useQuery } from '../../api/hooks.ts';
import { dayTime, milliseconds } from '../../format.ts';
import { Chart } from '../../parts/chart.ts';
import { outcomeSeries, type Series } from '../../parts/series.ts';
import { queryView } from '../../parts/view.ts';
import { countsOf, onLine } from './outcomes.ts';

interface Panel {
  readonly title: string;
  readonly since: string;
  readonly step: '1m' | '10m';
  /** Milliseconds of a step. */
  readonly length: number;
  /** The number of steps. */
  readonly count: number;
  readonly each: string;
}

export const LAST_HOUR: Panel = {
  title: 'Last hour',
  since: '1h',
  step: '1m',
  length: 60_000,
  count: 60,
  each: 'minute',
};
export const LAST_DAY: Panel = {
  title: 'Last day',
  since: '24h',
  step: '10m',
  length: 600_000,
  count: 144,
  each: '10 minutes',
};

export const useHistory = ({ since, step }: Panel) =>
  useQuery('getHistory', { params: { since, step }, every: 60_000 });

/** Requests and latency, step by step. */
export function HistoryPanel({
  query,
  title,
  length,
  count,
  each,
}: Panel & { readonly query: ReturnType<typeof useHistory> }) {
  return h('section', { 'aria-label': title }, [
    h('h2', null, title),
    queryView(query, ({ steps, outages }) => {
      const line = onLine(steps, length, count);
      const starts = line.map(({ at }) => at);
      const counted = line.map(({ step }) => step);
      return [
        h('div', { class: 'charts' }, [
          h(Chart, {
            title: `Requests per ${each}`,
            kind: 'bars',
            starts,
            grain: 'minute',
            series: outcomesAsSeries(counted),
            format: number,
          }),
          h(Chart, {
            title: `Latency per ${each}`,
            kind: 'lines',
            starts,
            grain: 'minute',
            series: latencyAsSeries(counted),
            format: milliseconds,
          }),
        ]),
        outages.map((one) =>
          h(
            'p',
            { class: 'about' },
            outageText(one, (at) => dayTime(Date.parse(at))),
          ),
        ),
      ];
    }),
  ]);
}

/**
 * Bars of what became of requests, one step for each; `null`: nothing is known of it. `factorOf`:
 * for a rate.
 */
export const outcomesAsSeries = <Step extends Outcomes>(
  steps: readonly (Step | null)[],
  factorOf: (step: Step) => number = () => 1,
): Series[] =>
  outcomeSeries((outcome) =>
    steps.map((step) => step && countsOf(step)[outcome] * factorOf(step)),
  );

export const latencyAsSeries = (steps: readonly (Latency | null)[]): Series[] =>
  (['p50', 'p95', 'p99'] as const).map((name) => ({
    name,
    sign: name,
    values: steps.map((step) => (step ? step[name] : null)),
  }));
