import { TOP_WINDOWS, type TopWindow } from '../top/slices.ts';
import { mergeSummaries } from '../top/summary.ts';
import { COUNTERS, TOP_BY, type Top, type TopBy, type TopCounts } from '../top/top.ts';
import { peerQuery } from './query.ts';
import { has, isMoment, isNumber, isText, listOf, type Of, orNull } from './shapes.ts';

export interface TopQuery {
  readonly window: TopWindow;
  readonly by: TopBy;
}

const isName = orNull(isText);

const isTop = has({
  since: isMoment,
  /** Workers that did not answer in time. */
  missing: isNumber,
  summary: has({
    total: isNumber,
    floor: isNumber,
    items: listOf(
      has({
        ...{ key: isText, count: isNumber, error: isNumber, last: isMoment },
        about: has({ keyId: isName, account: isName, plan: isName, operation: isName }),
      }),
    ),
  }),
});

export interface TopAnswer extends Of<typeof isTop> {}

export const top = peerQuery({
  name: 'top',
  isArgument: isTopQuery,
  otherwise: null,
  part: (process: { readonly top: Pick<Top, 'counts'> }, { window, by }) => process.top.counts(window, by),
  answer: ({ parts, missing }, { by }) => (parts.length === 0 ? null : { ...mergeTop(by, parts), missing }),
  isAnswer: isTop,
});

function isTopQuery(asked: unknown): asked is TopQuery {
  const { window, by } = Object(asked) as Partial<TopQuery>;
  return TOP_WINDOWS.includes(window!) && TOP_BY.includes(by!);
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
