import { TOP_WINDOWS, type TopWindow } from '../top/slices.ts';
import { mergeSummaries, type Summary } from '../top/summary.ts';
import { COUNTERS, type Counting, TOP_BY, type Top, type TopBy, type TopCounts } from '../top/top.ts';
import { peerQuery } from './query.ts';
import { isMoment } from './shapes.ts';

export interface TopQuery {
  readonly window: TopWindow;
  readonly by: TopBy;
}

export interface TopAnswer extends TopCounts {
  /** Workers that did not answer in time. */
  readonly missing: number;
}

export const top = peerQuery({
  name: 'top',
  isArgument: isTopQuery,
  otherwise: null,
  part: (process: { readonly top: Pick<Top, 'counts'> }, { window, by }) => process.top.counts(window, by),
  answer: ({ parts, missing }, { by }) => (parts.length === 0 ? null : { ...mergeTop(by, parts), missing }),
  isAnswer: isTopAnswer,
});

function isTopQuery(asked: unknown): asked is TopQuery {
  const { window, by } = Object(asked) as Partial<TopQuery>;
  return TOP_WINDOWS.includes(window!) && TOP_BY.includes(by!);
}

function isTopAnswer(answer: unknown): answer is TopAnswer {
  const { since, missing, summary } = Object(answer) as Partial<TopAnswer>;
  const { total, floor, items } = Object(summary) as Partial<Summary<Counting>>;
  return (
    isMoment(since) && [missing, total, floor].every(Number.isFinite) && Array.isArray(items) && items.every(isCounted)
  );
}

function isCounted(item: unknown): boolean {
  const { key, count, error, last, about } = Object(item) as Partial<Summary<Counting>['items'][number]>;
  if (typeof key !== 'string' || !isMoment(last) || ![count, error].every(Number.isFinite)) return false;
  const { keyId, account, plan, operation } = Object(about) as Partial<Counting>;
  return [keyId, account, plan, operation].every((name) => name === null || typeof name === 'string');
}

/** `since`: the earliest start. */
export function mergeTop(by: TopBy, counts: readonly TopCounts[]): TopCounts {
  return {
    since: Math.min(...counts.map(({ since }) => since)),
    summary: mergeSummaries(
      counts.map(({ summary }) => summary),
      COUNTERS[by],
    ),
  };
}
