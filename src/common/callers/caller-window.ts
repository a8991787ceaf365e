import { createRequire } from 'node:module';
import type * as Package from 'rate-limiter-flexible';
import type { Readings } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';
import { networkOf } from './address.ts';
import { CounterQuota, OWN_COUNTERS } from './counter-quota.ts';

/** The package index would load 35 more modules at every start. */
const RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
) as typeof Package.RateLimiterMemory;

export type CallerWindow = ReturnType<typeof createCallerWindow>;

/**
 * `window` begins with the first request of each client: an address, an IPv6 /64, or a key id. A
 * counter lasts one span, so memory is bounded by three times `ownCounters` plus the shared counters.
 */
export function createCallerWindow(window: Window, ownCounters = OWN_COUNTERS) {
  const { limit, span } = window;
  const limiter = new RateLimiterMemory({
    points: limit,
    duration: span / 1_000,
    keyPrefix: '',
  });
  /** On the clock of `performance.now()`. */
  let began = performance.now();
  const quota = new CounterQuota(ownCounters);

  async function counterOf(address: string): Promise<string> {
    const caller = networkOf(address);
    const now = performance.now();
    if (now - began >= span) {
      began = now;
      quota.clear();
    }
    const shared = quota.sharedBy(caller);
    return shared === null || (await limiter.get(caller)) !== null
      ? caller
      : shared;
  }

  function readingOf(
    result: Package.RateLimiterRes | null,
    now: number,
  ): Readings {
    const open = result !== null && result.msBeforeNext > 0 ? result : null;
    // Counters end by a timer; after the clock was set back, their times lie beyond it.
    const resetAt = now + Math.min(open?.msBeforeNext ?? span, span);
    return {
      // Requests that it refused are not used units.
      readings: [
        { window, used: limit - (open?.remainingPoints ?? limit), resetAt },
      ],
      now,
    };
  }

  return {
    /** Copies all counters. */
    get size(): number {
      return limiter.dump().storage.length;
    },
    async take(caller: string, units = 1) {
      const now = Date.now();
      // `penalty` counts like `consume`, but does not reject when the counter is exhausted.
      const counter = await counterOf(caller);
      const result = await limiter.penalty(counter, units);
      if (result.isFirstInDuration && counter === networkOf(caller))
        quota.take(counter);
      return {
        ...readingOf(result, now),
        exhausted: result.consumedPoints > limit,
      };
    },
    async look(caller: string): Promise<Readings> {
      const now = Date.now();
      return readingOf(await limiter.get(await counterOf(caller)), now);
    },
  };
}
