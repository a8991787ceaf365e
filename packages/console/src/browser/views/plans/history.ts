import { h } from 'preact';
import type { History as HistoryAnswer } from '../../../admin-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { dayTime, number } from '../../format.ts';
import { Chart } from '../../parts/chart.ts';
import { Missing } from '../../parts/notice.ts';
import { AnswerView } from '../../parts/view.ts';

const STEP = 1_800_000;
const STEPS = 48;

/** How many requests of a plan limits admitted and refused, each half hour. */
export function PlanHistory({ plan }: { plan: string }) {
  const answer = useAnswer('/history', { query: { plan, since: '24h', step: '10m' }, every: 60_000 });
  return h(AnswerView<HistoryAnswer>, {
    answer,
    children: (history) => [h(Missing, { ...history }), h(Steps, { steps: history.steps })],
  });
}

type Step = HistoryAnswer['steps'][number];

function Steps({ steps }: { steps: readonly Step[] }) {
  // The clock of the gateway may be ahead of that of the reader.
  const last = startOf(Math.max(Date.now(), ...steps.map(({ at }) => Date.parse(at))));
  const starts = Array.from({ length: STEPS }, (_, i) => last - (STEPS - 1 - i) * STEP);
  // Where no gateway ran nothing is known.
  const sums = starts.map((start) => {
    const inside = steps.filter(({ at }) => startOf(Date.parse(at)) === start);
    return inside.length === 0 ? null : inside;
  });
  const of = (verdict: 'admitted' | 'limited' | 'banned') =>
    sums.map((inside) => inside?.reduce((sum, step) => sum + step[verdict], 0) ?? null);
  return h(Chart, {
    title: 'Requests of this plan per half hour',
    steps: starts.map(dayTime),
    series: [
      { name: 'admitted', values: of('admitted'), look: 'good' },
      { name: 'limited', values: of('limited'), look: 'warn' },
      { name: 'banned', values: of('banned'), look: 'bad' },
    ],
    kind: 'bars',
    format: number,
  });
}

const startOf = (time: number) => Math.floor(time / STEP) * STEP;
