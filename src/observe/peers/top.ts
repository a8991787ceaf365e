import { mergeSummaries } from '../top/summary.ts';
import { COUNTERS, TOP_BY, TOP_WINDOWS, type Top, type TopBy, type TopCounts } from '../top/top.ts';
import { peerQuery } from './query.ts';
import { has, isMoment, isNumber, isText, listOf, type Of, oneOf, orNull } from './shapes.ts';

const isQuery = has({ window: oneOf(...TOP_WINDOWS), by: oneOf(...TOP_BY) });

export interface TopQuery extends Of<typeof isQuery> {}

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
        key: isText,
        count: isNumber,
        error: isNumber,
        last: isMoment,
        about: has({ keyId: isName, account: isName, plan: isName, operation: isName }),
      }),
    ),
  }),
});

export const top = peerQuery({
  name: 'top',
  isArgument: isQuery,
  otherwise: null,
  part: (process: { readonly top: Pick<Top, 'counts'> }, { window, by }) =>
    process.top.counts(window, by),
  answer: ({ parts, missing }, { by }) =>
    parts.length === 0 ? null : { ...mergeTop(by, parts), missing },
  isAnswer: isTop,
});

/** `since`: the latest start, so that nothing after it is missing. */
export function mergeTop(by: TopBy, counts: readonly TopCounts[]): TopCounts {
  const summaries = counts.map(({ summary }) => summary);
  return {
    since: Math.max(...counts.map(({ since }) => since)),
    summary: mergeSummaries(summaries, COUNTERS[by]),
  };
}
