// What the series of charts mean. Each sign has one colour and one pattern in every chart: see
// styles/charts.css.

/** How requests ended, in the order of their bars; each is of one kind. */
export const OUTCOMES = [
  'answered',
  'limited',
  'banned',
  'refused',
  'failed',
] as const;
export type Outcome = (typeof OUTCOMES)[number];
export type Sign = Outcome | 'p50' | 'p95' | 'p99';

/** One kind of what is counted, or one line. */
export interface Series {
  readonly name: string;
  /** One for each step; `null`: nothing is known of it. */
  readonly values: readonly (number | null)[];
  readonly sign: Sign;
}

/** Bars of how requests ended: `countsOf` has those of an outcome in each step. */
export const outcomeSeries = (
  countsOf: (outcome: Outcome) => Series['values'],
  outcomes: readonly Outcome[] = OUTCOMES,
): Series[] =>
  outcomes.map((outcome) => ({
    name: outcome === 'refused' ? 'other refusals' : outcome,
    sign: outcome,
    values: countsOf(outcome),
  }));
