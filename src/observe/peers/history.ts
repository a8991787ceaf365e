import { HOUR, MINUTE } from '../../common/time.ts';
import type { History, Span } from '../history/history.ts';
import { joinOutages, type StateOutage } from '../history/outages.ts';
import { isRowText, rowIn, rowText } from '../history/packing.ts';
import type { Recorder } from '../history/recorder.ts';
import { addTo } from '../history/row.ts';
import { peerQuery } from './query.ts';
import { has, isCount, isMoment, isText, listOf, type Of, oneOf, orNull } from './shapes.ts';

export const HISTORY_STEPS = { '1m': MINUTE, '10m': 10 * MINUTE, '1h': HOUR } as const;
export type HistoryStep = keyof typeof HISTORY_STEPS;
const STEP_NAMES = Object.keys(HISTORY_STEPS) as readonly HistoryStep[];

/** Keeps an answer below the message limit between gateways. */
export const MOST_STEPS = 360;
const LONGEST_ROW = 1_000;

const isQuery = has({ from: isMoment, to: isMoment, step: oneOf(...STEP_NAMES), row: isText });

/** `to` is exclusive. */
export interface HistoryQuery extends Of<typeof isQuery> {}

const isHistory = has({
  /** Oldest first. */
  spans: listOf(has({ start: isMoment, minutes: isCount, policies: isCount, row: isRowText })),
  /** The begin of the oldest minute; `null`: the history is empty. */
  since: orNull(isMoment),
  outages: listOf(has({ begin: isMoment, end: isMoment, policies: isCount })),
});

export interface HistoryAnswer extends Of<typeof isHistory> {}

export const history = peerQuery({
  name: 'history',
  isArgument: (asked): asked is HistoryQuery =>
    isQuery(asked) &&
    asked.row.length <= LONGEST_ROW &&
    (asked.to - asked.from) / HISTORY_STEPS[asked.step] <= MOST_STEPS,
  otherwise: null,
  /** Ends the minute first, so that the gateway has it before this part arrives. */
  part: ({ recorder }: { readonly recorder: Pick<Recorder, 'turn'> }) => recorder.turn(),
  async answer(
    _parts,
    asked,
    gateway: { readonly history: Pick<History, 'read' | 'outages' | 'since'> },
  ) {
    const spans = await gateway.history.read(asked.row, {
      ...asked,
      step: HISTORY_STEPS[asked.step],
    });
    const outages = gateway.history.outages(asked);
    const { since } = gateway.history;
    return { spans: spans.map((span) => ({ ...span, row: rowText(span.row) })), since, outages };
  },
  isAnswer: (answer): answer is HistoryAnswer =>
    isHistory(answer) && answer.spans.length <= MOST_STEPS + 1,
});

export function mergeHistory(answers: readonly HistoryAnswer[]): Span[] {
  const sums = new Map<number, Span>();
  for (const { row, ...rest } of answers.flatMap(({ spans }) => spans)) {
    const span = { ...rest, row: rowIn(row) };
    const sum = sums.get(span.start);
    if (sum === undefined) sums.set(span.start, span);
    else {
      addTo(sum.row, span.row);
      const minutes = Math.max(sum.minutes, span.minutes);
      sums.set(span.start, { ...sum, minutes, policies: sum.policies | span.policies });
    }
  }
  return [...sums.values()].sort((one, other) => one.start - other.start);
}

/** The latest begin, so that nothing after it is missing. */
export function historySince(
  { from, to }: Pick<HistoryQuery, 'from' | 'to'>,
  answers: readonly HistoryAnswer[],
): number {
  return Math.max(from, ...answers.map(({ since }) => since ?? to));
}

export function mergeOutages(answers: readonly HistoryAnswer[]): StateOutage[] {
  return joinOutages(answers.flatMap(({ outages }) => outages));
}
