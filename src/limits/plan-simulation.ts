import { kindOf } from './kinds.ts';
import type { Window } from './limits.ts';

/** Usage of one window that a subject had opened. */
interface WindowUse {
  /**
   * The end of a fixed window; for a sliding one, the multiple of its span in which it was read.
   * Unix milliseconds.
   */
  readonly at: number;
  /** Units; for a sliding window the maximum in that span. */
  readonly used: number;
}

/** Bounds of unknown usage. */
interface UnrecordedUse {
  /** Maximum usage of windows that were not read. */
  readonly floor: number;
  /** Units of the costliest request. */
  readonly costliest: number;
}

/** Effect of a limit alone on requests that were admitted. */
export interface Simulation {
  /** The highest usage, and its window. */
  readonly peak: number;
  readonly at: number;
  /** Windows with refusals; for sliding windows, spans of the clock. */
  readonly times: number;
  /**
   * Units that would have been refused, as bounds. `null`: more windows may have exceeded the
   * limit.
   */
  readonly refused: { readonly least: number; readonly most: number | null };
}

/**
 * What the limit of a window would have refused, were it the only one; `null`: nothing, as far as
 * is known. `uses` are those of one subject in the order of their windows.
 *
 * A fixed window is opened by the first request after the one before, which every limit admits. So
 * under any limit the same windows open, and what is above the limit is refused, and `costliest -
 * 1` more at most, where the last units were too few for a request. A sliding window admits `limit`
 * in any span: what was read above it would have been refused in that span.
 */
export function simulateLimit(
  window: Window,
  uses: readonly WindowUse[],
  { floor, costliest }: UnrecordedUse,
): Simulation | null {
  const { limit } = window;
  const above = uses.filter(({ used }) => used > limit);
  if (above.length === 0) return null;
  const { at, used: peak } = above.reduce((one, other) =>
    other.used > one.used ? other : one,
  );
  const { least, most } = kindOf(window).resetsAsWhole
    ? inFixed(above, limit, costliest)
    : inSliding(above, window);
  return {
    peak,
    at,
    times: above.length,
    refused: { least, most: floor > limit ? null : most },
  };
}

type Bounds = Simulation['refused'];

function inFixed(
  above: readonly WindowUse[],
  limit: number,
  costliest: number,
): Bounds {
  // A request that costs more than the limit opens no window, so others open.
  if (costliest > limit) return { least: 0, most: null };
  const least = sum(above.map(({ used }) => used - limit));
  return { least, most: least + above.length * Math.max(0, costliest - 1) };
}

/**
 * Spans that what a sliding window counts at a moment may reach into: its own one, that before, and
 * a twentieth of one more.
 */
const MAX_SAMPLES = 3;

/**
 * At least: of spans so far apart that no unit counts in two of them, those that give most. At
 * most: all that came in spans in which the limit was passed.
 */
function inSliding(
  above: readonly WindowUse[],
  { limit, span }: Window,
): Bounds {
  const best: number[] = [];
  for (const [i, { at, used }] of above.entries()) {
    let before = i - 1;
    while (before >= 0 && above[before]!.at > at - MAX_SAMPLES * span) before--;
    best.push(Math.max(best[i - 1] ?? 0, (best[before] ?? 0) + used - limit));
  }
  return { least: best.at(-1)!, most: sum(above.map(({ used }) => used)) };
}

const sum = (values: readonly number[]): number =>
  values.reduce((all, value) => all + value, 0);
