import type { HistoryStep, LiveNow, Outcomes } from '@storegate/admin-api';

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

/** Milliseconds of the ticks together, and the requests in them. */
export type Sum = Kinds & Pick<LiveNow, 'span' | 'requests'>;

/**
 * The sum of the ticks of the last milliseconds before the newest. What was heard before a gap is
 * of another time.
 */
export function sumOf(ticks: readonly LiveNow[], lately: number): Sum {
  const end = Date.parse(ticks.at(-1)?.at ?? '');
  const sum = {
    span: 0,
    requests: 0,
    answered: 0,
    limited: 0,
    refused: 0,
    failed: 0,
  };
  for (const tick of ticks.toReversed()) {
    if (sum.span >= lately || end - Date.parse(tick.at) >= lately) break;
    const { span, requests } = tick;
    for (const [name, count] of Object.entries({
      span,
      requests,
      ...kindsOf(tick),
    }))
      sum[name as keyof Sum] += count;
  }
  return sum;
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

/** Milliseconds from one tick to the next. */
const TICK = 2_000;

/**
 * The last ticks on a line of `count` places that ends with the newest, so that it is always in one
 * place. `null`: without a listener. A tick that only begins to count has no data of its own time.
 */
export function ticksOnLine(
  ticks: readonly LiveNow[],
  count: number,
): (LiveNow | null)[] {
  const line: (LiveNow | null)[] = [];
  let before: LiveNow | undefined;
  for (const tick of ticks) {
    const since =
      before === undefined
        ? 0
        : Date.parse(tick.at) - Date.parse(before.at) - (tick.span || TICK);
    const missed = Math.min(count, Math.max(0, Math.round(since / TICK)));
    line.push(
      ...new Array<null>(missed).fill(null),
      tick.span > 0 ? tick : null,
    );
    before = tick;
  }
  return [
    ...new Array<null>(Math.max(0, count - line.length)).fill(null),
    ...line.slice(-count),
  ];
}
