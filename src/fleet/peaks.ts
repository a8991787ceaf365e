import { KIND_NAMES } from '../limits/kinds.ts';
import { HighestUses } from '../observe/peaks/highest.ts';
import type { AskedWindow, PeakCounts, ToldUses } from '../observe/peaks/peaks.ts';

/** Windows of one plan; a plan has four at most. */
const MOST_WINDOWS = 8;

/** How much those with this plan have used of these windows in the last day. */
export interface PeaksQuestion {
  readonly plan: string;
  readonly windows: readonly AskedWindow[];
}

/** What one gateway knows. */
export interface PeaksAnswer extends PeakCounts {
  /** Workers that did not answer in time, and are missing here. */
  readonly missing: number;
  /** Since when the plan has each of the windows, Unix milliseconds; 0: as long as the gateway has run. */
  readonly countedSince: readonly number[];
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** `null`: this is no such question. */
export function readPeaksQuestion(asked: unknown): PeaksQuestion | null {
  const { plan, windows } = Object(asked) as Partial<PeaksQuestion>;
  if (typeof plan !== 'string' || !Array.isArray(windows) || windows.length > MOST_WINDOWS) return null;
  return windows.every(isAskedWindow) ? { plan, windows } : null;
}

function isAskedWindow(asked: unknown): boolean {
  const { kind, span, above } = Object(asked) as Partial<AskedWindow>;
  return KIND_NAMES.includes(kind!) && isCount(span) && isCount(above);
}

/** Whether a gateway, perhaps of another version, answered what is understood here, about so many windows. */
export function isPeaksAnswer(answer: unknown, windows: number): answer is PeaksAnswer {
  const { since, missing, costliest, countedSince, windows: told } = Object(answer) as Partial<PeaksAnswer>;
  if (![since, missing, costliest].every(isCount) || !Array.isArray(told) || !Array.isArray(countedSince)) return false;
  return (
    [told, countedSince].every(({ length }) => length === windows) &&
    told.every(isToldUses) &&
    countedSince.every(isCount)
  );
}

function isToldUses(told: unknown): boolean {
  const { floor, rows } = Object(told) as Partial<ToldUses>;
  return isCount(floor) && Array.isArray(rows) && rows.every(isRow);
}

function isRow(row: unknown): boolean {
  if (!Array.isArray(row)) return false;
  const [subject, readings] = row as readonly unknown[];
  if (typeof subject !== 'string' || !Array.isArray(readings)) return false;
  return readings.length % 2 === 0 && readings.every(isCount);
}

/** What several know, as one; `since`: when the last of them began, so that nothing is missing from then on. */
export function mergePeaks(counts: readonly PeakCounts[]): PeakCounts {
  return {
    since: Math.max(...counts.map(({ since }) => since)),
    costliest: Math.max(...counts.map(({ costliest }) => costliest)),
    windows: counts[0]!.windows.map((_, i) => mergeUses(counts.map(({ windows }) => windows[i]!))),
  };
}

/** The same window of one subject has the highest use that anybody has read. */
function mergeUses(told: readonly ToldUses[]): ToldUses {
  const all = new HighestUses();
  for (const { floor, rows } of told) all.absorb({ floor, rows: new Map(rows) });
  return { floor: all.floor, rows: [...all.rows] };
}
