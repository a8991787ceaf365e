import { KIND_NAMES } from '../../limits/kinds.ts';
import { HighestUses } from '../peaks/highest.ts';
import { MOST_WEIGHT, type PeakCounts, type Peaks, type RequestedWindow, type WindowUses } from '../peaks/peaks.ts';
import { peerQuery } from './query.ts';
import { has, isCount, isMoment, listOf } from './shapes.ts';

/** A plan has four at most. */
const MOST_WINDOWS = 8;

export interface PeaksQuery {
  readonly plan: string;
  readonly windows: readonly RequestedWindow[];
}

export interface PeaksAnswer extends PeakCounts {
  /** Workers that did not answer in time. */
  readonly missing: number;
  /** Unix milliseconds; 0: since the gateway started. */
  readonly countedSince: readonly number[];
}

interface WindowsSince {
  readonly windowsSince: { of(plan: string, window: RequestedWindow): number };
}

export const peaks = peerQuery({
  name: 'peaks',
  isArgument: isPeaksQuery,
  otherwise: null,
  part: (process: { readonly peaks: Pick<Peaks, 'counts'> }, { plan, windows }) => process.peaks.counts(plan, windows),
  answer({ parts, missing }, { plan, windows }, { windowsSince }: WindowsSince) {
    if (parts.length === 0) return null;
    const countedSince = windows.map((window) => windowsSince.of(plan, window));
    return { ...mergeProcesses(parts), missing, countedSince };
  },
  isAnswer: isPeaksAnswer,
});

function isPeaksQuery(asked: unknown): asked is PeaksQuery {
  const { plan, windows } = Object(asked) as Partial<PeaksQuery>;
  if (typeof plan !== 'string' || !Array.isArray(windows) || windows.length > MOST_WINDOWS) return false;
  return windows.every(isRequestedWindow);
}

function isRequestedWindow(asked: unknown): boolean {
  const { kind, span, above } = Object(asked) as Partial<RequestedWindow>;
  return KIND_NAMES.includes(kind!) && isCount(span) && isCount(above);
}

function isPeaksAnswer(answer: unknown, { windows }: PeaksQuery): answer is PeaksAnswer {
  if (!isWellFormed(answer)) return false;
  return answer.windows.length === windows.length && answer.countedSince.length === windows.length;
}

const isWellFormed = has({
  since: isMoment,
  missing: isCount,
  costliest: isCount,
  countedSince: listOf(isMoment),
  windows: listOf(has({ floor: isCount, rows: listOf(isRow) })),
});

function isRow(row: unknown): row is WindowUses['rows'][number] {
  if (!Array.isArray(row)) return false;
  const [subject, readings] = row as readonly unknown[];
  if (typeof subject !== 'string' || !Array.isArray(readings) || readings.length % 2 !== 0) return false;
  return readings.every((number, i) => (i % 2 === 0 ? isMoment(number) : isCount(number)));
}

/** `since`: the latest start, so that nothing after it is missing. */
export function mergePeaks(counts: readonly PeakCounts[]): PeakCounts {
  return mergeUpTo(counts, Number.POSITIVE_INFINITY);
}

/** Bounded to the size that one gateway may return. */
function mergeProcesses(counts: readonly PeakCounts[]): PeakCounts {
  return mergeUpTo(counts, MOST_WEIGHT);
}

function mergeUpTo(counts: readonly PeakCounts[], most: number): PeakCounts {
  const { windows } = counts[0]!;
  return {
    since: Math.max(...counts.map(({ since }) => since)),
    costliest: Math.max(...counts.map(({ costliest }) => costliest)),
    windows: windows.map((_, i) =>
      mergeUses(
        counts.map(({ windows }) => windows[i]!),
        most / windows.length,
      ),
    ),
  };
}

function mergeUses(uses: readonly WindowUses[], most: number): WindowUses {
  const all = new HighestUses();
  for (const { floor, rows } of uses) all.absorb({ floor, rows: new Map(rows) });
  all.shrink(most);
  return { floor: all.floor, rows: [...all.rows] };
}
