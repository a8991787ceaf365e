import type { HistoryStep, Outcomes } from '@storegate/admin-api';

/** Outcomes of requests, in the kinds that are shown here. */
export interface Kinds {
  readonly answered: number;
  /** By limits and bans. */
  readonly limited: number;
  /** For another reason, or the caller left before its answer. */
  readonly refused: number;
  readonly failed: number;
}

export function kindsOf({ limited, banned, classes }: Outcomes): Kinds {
  const byLimits = limited + banned;
  return {
    answered: classes['2xx'] + classes['3xx'],
    limited: byLimits,
    // Some requests refused by limits were aborted before their answer, and are not 4xx then.
    refused: Math.max(0, classes['4xx'] + classes.aborted - byLimits),
    failed: classes['5xx'],
  };
}

/**
 * The steps in their places on a line that ends with the newest. `at`: Unix milliseconds; `null`:
 * not counted.
 */
export function onLine(
  steps: readonly HistoryStep[],
  length: number,
  count: number,
  now = Date.now(),
) {
  const known = new Map(steps.map((step) => [Date.parse(step.at), step]));
  const last = Math.max(
    Math.floor(now / length) * length - length,
    ...known.keys(),
  );
  return Array.from({ length: count }, (_, i) => {
    const at = last - (count - 1 - i) * length;
    return { at, step: known.get(at) ?? null };
  });
}
