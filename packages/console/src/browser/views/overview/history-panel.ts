import { h } from 'preact';
import type { History, HistoryStep } from '../../../admin-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { dayTime, milliseconds, number } from '../../format.ts';
import { Chart } from '../../parts/chart.ts';
import { Missing } from '../../parts/notice.ts';
import { AnswerView } from '../../parts/view.ts';
import { onLine } from './line.ts';
import { kindsOf } from './outcomes.ts';
import { kindsAsSeries, latencyAsSeries } from './series.ts';

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
    h(AnswerView<History>, {
      answer,
      children: ({ steps, unresponsive, isolated }) => {
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
      },
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
