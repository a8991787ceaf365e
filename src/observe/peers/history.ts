import { HOUR, MINUTE } from '../../common/time.ts';
import type { History, Span } from '../history/history.ts';
import { addPacked, NotPacked, packRow } from '../history/packing.ts';
import type { Recorder } from '../history/recorder.ts';
import { addTo, COLUMNS } from '../history/row.ts';
import { peerQuery } from './query.ts';
import { isMoment } from './shapes.ts';

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

/** Oldest first. Rows are packed, in Base64. */
export interface HistoryAnswer {
  readonly spans: readonly (Omit<Span, 'row'> & { readonly row: string })[];
}

export const history = peerQuery({
  name: 'history',
  isArgument: isHistoryQuery,
  otherwise: null,
  /** Ends the minute first, so that the gateway has it before this part arrives. */
  part: ({ recorder }: { readonly recorder: Pick<Recorder, 'turn'> }) => recorder.turn(),
  answer: async (_parts, asked, gateway: { readonly history: Pick<History, 'read'> }) =>
    historyAnswer(await gateway.history.read(asked.row, { ...asked, step: HISTORY_STEPS[asked.step] })),
  isAnswer: isHistoryAnswer,
});

function isHistoryQuery(asked: unknown): asked is HistoryQuery {
  const { from, to, step, row } = Object(asked) as Partial<HistoryQuery>;
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || typeof row !== 'string' || row.length > 1_000)
    return false;
  if (typeof step !== 'string' || !Object.hasOwn(HISTORY_STEPS, step)) return false;
  return (to! - from!) / HISTORY_STEPS[step] <= MOST_STEPS;
}

function historyAnswer(spans: readonly Span[]): HistoryAnswer {
  return { spans: spans.map((span) => ({ ...span, row: packRow(span.row).toString('base64') })) };
}

function isHistoryAnswer(answer: unknown): answer is HistoryAnswer {
  const { spans } = Object(answer) as Partial<HistoryAnswer>;
  if (!Array.isArray(spans) || spans.length > MOST_STEPS + 1) return false;
  try {
    spans.forEach(readSpan);
    return true;
  } catch (error) {
    if (error instanceof NotPacked) return false;
    throw error;
  }
}

function readSpan(span: unknown): Span {
  const { start, minutes, policies, row: packed } = Object(span) as Partial<HistoryAnswer['spans'][number]>;
  if (!isMoment(start) || ![minutes, policies].every(Number.isSafeInteger) || typeof packed !== 'string')
    throw new NotPacked('a span has other fields');
  const row = new Float64Array(COLUMNS);
  addPacked(row, Buffer.from(packed, 'base64'));
  return { start: start!, minutes: minutes!, policies: policies!, row };
}

export function mergeHistory(answers: readonly HistoryAnswer[]): Span[] {
  const sums = new Map<number, Span>();
  for (const span of answers.flatMap(({ spans }) => spans.map(readSpan))) {
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
