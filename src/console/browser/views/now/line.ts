import type { HistoryStep } from '../../api/answers/history.ts';

export interface OnLine {
  /** Its begin, Unix milliseconds. */
  readonly at: number;
  /** `null`: nobody counted then. */
  readonly step: HistoryStep | null;
}

/** The steps in their places on a line that ends with the newest. */
export function onLine(steps: readonly HistoryStep[], length: number, count: number, now = Date.now()): OnLine[] {
  const known = new Map(steps.map((step) => [Date.parse(step.at), step]));
  const last = Math.max(Math.floor(now / length) * length - length, ...known.keys());
  return Array.from({ length: count }, (_, i) => {
    const at = last - (count - 1 - i) * length;
    return { at, step: known.get(at) ?? null };
  });
}
