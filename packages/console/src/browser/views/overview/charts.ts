import { h } from 'preact';
import type { HistoryStep, Latency } from '../../../admin-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { dayTime, milliseconds, number } from '../../format.ts';
import { Chart, type Series } from '../../parts/chart.ts';
import { Missing } from '../../parts/notice.ts';
import { answerView } from '../../parts/view.ts';
import { type Kinds, kindsOf, onLine } from './outcomes.ts';

interface HistoryPanelProps {
  readonly title: string;
  readonly since: string;
  readonly step: string;
  /** Milliseconds of a step, how many there are, and how they are called. */
  readonly length: number;
  readonly count: number;
  readonly each: string;
}

/** What happened in the last hour or day: requests and latency, step by step. */
export function HistoryPanel({ title, since, step, length, count, each }: HistoryPanelProps) {
  const answer = useAnswer('/history', { query: { since, step }, every: 60_000 });
  return h('section', { 'aria-label': title }, [
    h('h2', null, title),
    answerView(answer, ({ steps, unresponsive, isolated }) => {
      const line = onLine(steps, length, count);
      const names = line.map(({ at }) => dayTime(at));
      return [
        h(Missing, { unresponsive, isolated }),
        h('div', { class: 'charts' }, [
          h(Chart, {
            title: `Requests per ${each}`,
            kind: 'bars',
            steps: names,
            series: kindsAsSeries(line.map(({ step }) => step && kindsOf(step))),
            format: number,
          }),
          h(Chart, {
            title: `Latency per ${each}`,
            kind: 'lines',
            steps: names,
            series: latencyAsSeries(line.map(({ step }) => step)),
            format: milliseconds,
          }),
        ]),
        h(Alone, { steps }),
      ];
    }),
  ]);
}

function Alone({ steps }: { steps: readonly HistoryStep[] }) {
  const alone = steps.filter((step) => step.outagePolicies.length > 0);
  if (alone.length === 0) return null;
  const [first, last] = [alone[0]!, alone.at(-1)!].map(({ at }) => dayTime(Date.parse(at)));
  const policies = [...new Set(alone.flatMap((step) => step.outagePolicies))].join(', ');
  const when = first === last ? `at ${first}` : `between ${first} and ${last}`;
  return h('p', { class: 'about' }, `The shared state was down ${when}; the outage policy ${policies} applied.`);
}

const WORDS: readonly (readonly [kind: keyof Kinds, name: string, look: Series['look']])[] = [
  ['answered', 'answered', 'good'],
  ['limited', 'refused by limits', 'warn'],
  ['refused', 'refused otherwise', 'soft'],
  ['failed', 'failed', 'bad'],
];

/** Bars of what became of requests, one step for each; `null`: nothing is known of it. */
export function kindsAsSeries(steps: readonly (Kinds | null)[]): Series[] {
  return WORDS.map(([kind, name, look]) => ({
    name,
    look,
    values: steps.map((step) => (step === null ? null : step[kind])),
  }));
}

/** Lines of latencies. */
export function latencyAsSeries(steps: readonly (Latency | null)[]): Series[] {
  const line = (name: keyof Latency, look: Series['look']): Series => ({
    name,
    look,
    values: steps.map((step) => (step === null ? null : step[name])),
  });
  return [line('p50', 'good'), line('p95', 'warn'), line('p99', 'bad')];
}
