import { KIND_NAMES } from '../../limits/kinds.ts';
import { HighestUses, type WindowUses } from '../peaks/highest.ts';
import { MOST_WEIGHT, type PeakCounts, type Peaks, type RequestedWindow } from '../peaks/peaks.ts';
import { peerQuery } from './query.ts';
import { has, isCount, isFlag, isMoment, isText, listOf, type Of, oneOf } from './shapes.ts';

/** A plan has four at most. */
const MOST_WINDOWS = 8;

const isQuery = has({
  plan: isText,
  windows: listOf(has({ kind: oneOf(...KIND_NAMES), span: isCount, above: isCount })),
});

export interface PeaksQuery extends Of<typeof isQuery> {}

const isPeaks = has({
  since: isMoment,
  /** Workers that did not answer in time. */
  missing: isCount,
  costliest: isCount,
  /** 0: since the gateway started. */
  countedSince: listOf(isMoment),
  windows: listOf(has({ floor: isCount, local: isFlag, rows: listOf(isRow) })),
});

export interface PeaksAnswer extends Of<typeof isPeaks> {}

interface WindowsSince {
  readonly windowsSince: { of(plan: string, window: RequestedWindow): number };
}

export const peaks = peerQuery({
  name: 'peaks',
  isArgument: (asked): asked is PeaksQuery =>
    isQuery(asked) && asked.windows.length <= MOST_WINDOWS,
  otherwise: null,
  part: (process: { readonly peaks: Pick<Peaks, 'counts'> }, { plan, windows }) =>
    process.peaks.counts(plan, windows),
  answer({ parts, missing }, { plan, windows }, { windowsSince }: WindowsSince) {
    if (parts.length === 0) return null;
    const countedSince = windows.map((window) => windowsSince.of(plan, window));
    return { ...mergePeaks(parts, MOST_WEIGHT), missing, countedSince };
  },
  isAnswer: (answer, { windows }): answer is PeaksAnswer =>
    isPeaks(answer) &&
    answer.windows.length === windows.length &&
    answer.countedSince.length === windows.length,
});

function isRow(row: unknown): row is WindowUses['rows'][number] {
  if (!Array.isArray(row)) return false;
  const [subject, readings] = row as readonly unknown[];
  if (typeof subject !== 'string' || !Array.isArray(readings) || readings.length % 2 !== 0)
    return false;
  return readings.every((number, i) => (i % 2 === 0 ? isMoment(number) : isCount(number)));
}

/**
 * `since`: the latest start, so that nothing after it is missing. `most`: the size that one gateway
 * may return.
 */
export function mergePeaks(
  counts: readonly PeakCounts[],
  most = Number.POSITIVE_INFINITY,
): PeakCounts {
  const { windows } = counts[0]!;
  return {
    since: Math.max(...counts.map(({ since }) => since)),
    costliest: Math.max(...counts.map(({ costliest }) => costliest)),
    windows: windows.map((_, i) => {
      const all = new HighestUses();
      for (const { windows } of counts) all.absorb(windows[i]!);
      return all.list(most / windows.length);
    }),
  };
}
