import type { Latency, Outcomes } from '@storegate/admin-api';
import { number, outageInWords } from '@storegate/admin-api/words';
import { h } from 'preact';
import { useAnswer } from '../../api/hooks.ts';
import { dayTime, milliseconds } from '../../format.ts';
import { Chart, type Series } from '../../parts/chart.ts';
import { answerView } from '../../parts/view.ts';
import { type Kinds, kindsOf, onLine } from './outcomes.ts';

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

/** Requests and latency, step by step. */
export function HistoryPanel({
  title,
  since,
  step,
  length,
  count,
  each,
}: Panel) {
  const answer = useAnswer('getHistory', {
    params: { since, step },
    every: 60_000,
  });
  return h('section', { 'aria-label': title }, [
    h('h2', null, title),
    answerView(answer, ({ steps, outages }) => {
      const line = onLine(steps, length, count);
      const names = line.map(({ at }) => dayTime(at));
      const counted = line.map(({ step }) => step);
      return [
        h('div', { class: 'charts' }, [
          h(Chart, {
            title: `Requests per ${each}`,
            kind: 'bars',
            steps: names,
            series: kindsAsSeries(counted),
            format: number,
          }),
          h(Chart, {
            title: `Latency per ${each}`,
            kind: 'lines',
            steps: names,
            series: latencyAsSeries(counted),
            format: milliseconds,
          }),
        ]),
        outages.map((one) =>
          h(
            'p',
            { class: 'about' },
            outageInWords(one, (at) => dayTime(Date.parse(at))),
          ),
        ),
      ];
    }),
  ]);
}

const KINDS = [
  ['answered', 'answered', 'good'],
  ['limited', 'limited or banned', 'warn'],
  ['refused', 'other refusals', 'soft'],
  ['failed', 'failed', 'bad'],
] as const;

/**
 * Bars of what became of requests, one step for each; `null`: nothing is known of it. `factorOf`:
 * for a rate.
 */
export function kindsAsSeries<Step extends Outcomes>(
  steps: readonly (Step | null)[],
  factorOf: (step: Step) => number = () => 1,
): Series[] {
  const counts = (kind: keyof Kinds) =>
    steps.map((step) => step && kindsOf(step)[kind] * factorOf(step));
  return KINDS.map(([kind, name, look]) => ({
    name,
    look,
    values: counts(kind),
  }));
}

export function latencyAsSeries(steps: readonly (Latency | null)[]): Series[] {
  const line = (name: keyof Latency, look: Series['look']) => ({
    name,
    look,
    values: steps.map((step) => (step ? step[name] : null)),
  });
  return [line('p50', 'good'), line('p95', 'warn'), line('p99', 'bad')];
}
