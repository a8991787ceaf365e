import { HOUR, MINUTE } from '../../common/time.ts';
import type { History, Span } from '../history/history.ts';
import { isRowText, rowIn, rowText } from '../history/packing.ts';
import type { Recorder } from '../history/recorder.ts';
import { addTo } from '../history/row.ts';
import { peerQuery } from './query.ts';
import { has, isCount, isMoment, listOf, type Of } from './shapes.ts';

/** Milliseconds. */
export const HISTORY_STEPS = { '1m': MINUTE, '10m': 10 * MINUTE, '1h': HOUR } as const;
export type HistoryStep = keyof typeof HISTORY_STEPS;

/** Keeps an answer below the message limit between gateways. */
export const MOST_STEPS = 360;

/** Unix milliseconds; `to` is exclusive. */
export interface HistoryQuery {
  readonly from: number;
  readonly to: number;
  readonly step: HistoryStep;
  readonly row: string;
}

const isHistory = has({
  /** Oldest first. */
  spans: listOf(has({ start: isMoment, minutes: isCount, policies: isCount, row: isRowText })),
});

export interface HistoryAnswer extends Of<typeof isHistory> {}

export const history = peerQuery({
  name: 'history',
  isArgument: isHistoryQuery,
  otherwise: null,
  /** Ends the minute first, so that the gateway has it before this part arrives. */
  part: ({ recorder }: { readonly recorder: Pick<Recorder, 'turn'> }) => recorder.turn(),
  async answer(_parts, asked, gateway: { readonly history: Pick<History, 'read'> }) {
    const spans = await gateway.history.read(asked.row, { ...asked, step: HISTORY_STEPS[asked.step] });
    return { spans: spans.map((span) => ({ ...span, row: rowText(span.row) })) };
  },
  isAnswer: (answer): answer is HistoryAnswer => isHistory(answer) && answer.spans.length <= MOST_STEPS + 1,
});

function isHistoryQuery(asked: unknown): asked is HistoryQuery {
  const { from, to, step, row } = Object(asked) as Partial<HistoryQuery>;
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || typeof row !== 'string' || row.length > 1_000)
    return false;
  if (typeof step !== 'string' || !Object.hasOwn(HISTORY_STEPS, step)) return false;
  return (to! - from!) / HISTORY_STEPS[step] <= MOST_STEPS;
}

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
