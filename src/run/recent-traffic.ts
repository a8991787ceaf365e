import { MINUTE } from '../common/time.ts';
import type { RequestEvent } from '../observe/events.ts';
import type { ProcessStatus } from '../observe/peers/status.ts';

/** Steps of a minute. */
const STEPS = 12;
const STEP = MINUTE / STEPS;

/** Callers cause these with methods, transfer codings and versions that no request may have. */
const OF_CLIENTS: ReadonlySet<number> = new Set([501, 505]);

/**
 * Requests of the last minute, to a twelfth of it. Times are Unix milliseconds; what lies in the
 * future, because the clock was set back, is not counted.
 */
export class RecentTraffic {
  readonly #steps = Array.from({ length: STEPS }, () => emptyStep(-1));

  count(
    { status, verdict }: Pick<RequestEvent, 'status' | 'verdict'>,
    now: number,
  ): void {
    const number = Math.floor(now / STEP);
    const place = number % STEPS;
    if (this.#steps[place]!.number !== number)
      this.#steps[place] = emptyStep(number);
    const step = this.#steps[place]!;
    step.requests++;
    if (status >= 500 && !OF_CLIENTS.has(status)) step.failed++;
    if (verdict === 'limited' || verdict === 'banned') step.refused++;
  }

  sum(now: number): NonNullable<ProcessStatus['traffic']> {
    const newest = Math.floor(now / STEP);
    const sum = { requests: 0, failed: 0, refused: 0 };
    for (const { number, requests, failed, refused } of this.#steps) {
      if (number <= newest - STEPS || number > newest) continue;
      sum.requests += requests;
      sum.failed += failed;
      sum.refused += refused;
    }
    return sum;
  }
}

const emptyStep = (number: number) => ({
  number,
  requests: 0,
  failed: 0,
  refused: 0,
});
