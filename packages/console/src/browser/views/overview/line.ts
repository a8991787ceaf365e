import type { HistoryStep, LiveNow } from '../../../admin-api.ts';

export interface OnLine {
  /** Its begin, Unix milliseconds. */
  readonly at: number;
  /** `null`: not counted. */
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

/** Milliseconds from one tick to the next. */
const TICK = 2_000;

/**
 * The last ticks on a line of `count` places that ends with the newest, so that it is always in one place. `null`:
 * without a listener. A tick that only begins to count has no data of its own time.
 */
export function ticksOnLine(ticks: readonly LiveNow[], count: number): (LiveNow | null)[] {
  const line: (LiveNow | null)[] = [];
  let before: LiveNow | undefined;
  for (const tick of ticks) {
    const since = before === undefined ? 0 : Date.parse(tick.at) - Date.parse(before.at) - (tick.span || TICK);
    const missed = Math.min(count, Math.max(0, Math.round(since / TICK)));
    line.push(...new Array<null>(missed).fill(null), tick.span > 0 ? tick : null);
    before = tick;
  }
  return [...new Array<null>(Math.max(0, count - line.length)).fill(null), ...line.slice(-count)];
}
