import type { Latency } from '../../../admin-api.ts';
import type { Series } from '../../parts/chart.ts';
import type { Kinds } from './outcomes.ts';

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
