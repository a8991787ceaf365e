import { KIND_NAMES } from '../../limits/kinds.ts';
import { HighestUses } from '../peaks/highest.ts';
import { MOST_WEIGHT, type PeakCounts, type Peaks, type RequestedWindow, type WindowUses } from '../peaks/peaks.ts';
import { peerQuery } from './query.ts';
import { has, isCount, isMoment, listOf } from './shapes.ts';

/** Windows of one plan; a plan has four at most. */
const MOST_WINDOWS = 8;

/** How much those with this plan have used of these windows in the last day. */
export interface PeaksQuery {
  readonly plan: string;
  readonly windows: readonly RequestedWindow[];
}

/** What one gateway knows. */
export interface PeaksAnswer extends PeakCounts {
  /** Workers that did not answer in time, and are missing here. */
  readonly missing: number;
  /** Since when the plan has each of the windows, Unix milliseconds; 0: as long as the gateway has run. */
  readonly countedSince: readonly number[];
}

/** What of a gateway answers this. */
interface WindowsSince {
  /** Since when a plan has a window, as in `countedSince`. */
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

/** What several know, as one; `since`: when the last of them began, so that nothing is missing from then on. */
export function mergePeaks(counts: readonly PeakCounts[]): PeakCounts {
  return mergeUpTo(counts, Number.POSITIVE_INFINITY);
}

/** The same for the processes of one gateway, which together tell no more than one may. */
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

/** The same window of one subject has the highest use that anybody has read. */
function mergeUses(told: readonly WindowUses[], most: number): WindowUses {
  const all = new HighestUses();
  for (const { floor, rows } of told) all.absorb({ floor, rows: new Map(rows) });
  all.shrink(most);
  return { floor: all.floor, rows: [...all.rows] };
}
