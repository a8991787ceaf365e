import type { Latency, Outcomes } from '@storegate/admin-api';
import { number, outageInWords } from '@storegate/admin-api/words';
import { h } from 'preact';
import { useAnswer } from '../../api/hooks.ts';
import { dayTime, milliseconds } from '../../format.ts';
import { Chart, type Series } from '../../parts/chart.ts';
import { answerView, Missing } from '../../parts/view.ts';
import { type Kinds, kindsOf, onLine } from './outcomes.ts';

/** `length`: milliseconds of a step; `count`: the number of steps. */
const PANELS = [
  { title: 'Last hour', since: '1h', step: '1m', length: 60_000, count: 60, each: 'minute' },
  { title: 'Last day', since: '24h', step: '10m', length: 600_000, count: 144, each: '10 minutes' },
] as const;

export const HistoryPanels = () =>
  PANELS.map((panel) => h(HistoryPanel, { key: panel.title, ...panel }));

/** Requests and latency, step by step. */
function HistoryPanel({ title, since, step, length, count, each }: (typeof PANELS)[number]) {
  const answer = useAnswer('getHistory', { params: { since, step }, every: 60_000 });
  return h('section', { 'aria-label': title }, [
    h('h2', null, title),
    answerView(answer, ({ steps, outages, unresponsive, isolated }) => {
      const line = onLine(steps, length, count);
      const names = line.map(({ at }) => dayTime(at));
      const counted = line.map(({ step }) => step);
      return [
        h(Missing, { unresponsive, isolated }),
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
  ['limited', 'refused by limits', 'warn'],
  ['refused', 'refused otherwise', 'soft'],
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
  return KINDS.map(([kind, name, look]) => ({ name, look, values: counts(kind) }));
}

export function latencyAsSeries(steps: readonly (Latency | null)[]): Series[] {
  const line = (name: keyof Latency, look: Series['look']) => ({
    name,
    look,
    values: steps.map((step) => (step ? step[name] : null)),
  });
  return [line('p50', 'good'), line('p95', 'warn'), line('p99', 'bad')];
}
