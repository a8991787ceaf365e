import type { LiveNow, Outcomes } from '../../../admin-api.ts';

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
export interface Sum extends Kinds {
  readonly span: number;
  readonly requests: number;
}

/** The sum of the ticks of the last milliseconds before the newest. What was heard before a gap is of another time. */
export function sumOf(ticks: readonly LiveNow[], lately: number): Sum {
  const end = Date.parse(ticks.at(-1)?.at ?? '');
  let sum: Sum = { span: 0, requests: 0, answered: 0, limited: 0, refused: 0, failed: 0 };
  for (const tick of ticks.toReversed()) {
    if (sum.span >= lately || end - Date.parse(tick.at) >= lately) break;
    const { answered, limited, refused, failed } = kindsOf(tick);
    sum = {
      span: sum.span + tick.span,
      requests: sum.requests + tick.requests,
      answered: sum.answered + answered,
      limited: sum.limited + limited,
      refused: sum.refused + refused,
      failed: sum.failed + failed,
    };
  }
  return sum;
}
