import type { HistoryStep, Outcomes } from '@storegate/admin-api';
import type { Outcome } from '../../parts/series.ts';

/** `refused`: for another reason than limits and bans, or the client left before its response. */
export function countsOf({
  limited,
  banned,
  classes,
}: Outcomes): Readonly<Record<Outcome, number>> {
  return {
    answered: classes['2xx'] + classes['3xx'],
    limited,
    banned,
    // Some requests refused by limits were aborted before their response, and are not 4xx then.
    refused: Math.max(0, classes['4xx'] + classes.aborted - limited - banned),
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
  const byTime = new Map(steps.map((step) => [Date.parse(step.at), step]));
  const last = Math.max(
    Math.floor(now / length) * length - length,
    ...byTime.keys(),
  );
  return Array.from({ length: count }, (_, i) => {
    const at = last - (count - 1 - i) * length;
    return { at, step: byTime.get(at) ?? null };
  });
}
