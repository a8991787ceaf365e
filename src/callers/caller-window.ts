import { createRequire } from 'node:module';
import type * as Package from 'rate-limiter-flexible';
import type { Readings } from '../limits/admission.ts';
import type { Window } from '../limits/limits.ts';
import { networkOf } from './address.ts';
import { OWN_COUNTERS, SHARED_COUNTERS, spread } from './address-subjects.ts';

/** The package index would load 35 more modules at every start. */
const RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
) as typeof Package.RateLimiterMemory;

export type CallerWindow = ReturnType<typeof createCallerWindow>;

/**
 * `window` begins with the first request of each client: an address, an IPv6 /64, or a key id. Counters last one span,
 * so memory is bounded by twice `ownCounters` plus the shared counters.
 */
export function createCallerWindow(window: Window, ownCounters = OWN_COUNTERS) {
  const { limit, span } = window;
  const limiter = new RateLimiterMemory({ points: limit, duration: span / 1_000, keyPrefix: '' });
  /** On the clock of `performance.now()`. */
  let began = 0;
  let opened = 0;

  async function counterOf(address: string): Promise<string> {
    const caller = networkOf(address);
    const now = performance.now();
    if (now - began >= span) {
      began = now;
      opened = 0;
    }
    if (opened < ownCounters || (await limiter.get(caller)) !== null) return caller;
    return `shared ${spread(caller) % SHARED_COUNTERS}`;
  }

  function readingOf(result: Package.RateLimiterRes | null, now: number): Readings {
    const open = result !== null && result.msBeforeNext > 0 ? result : null;
    // Counters end by a timer; after the clock was set back, their times lie beyond it.
    const resetAt = now + Math.min(open?.msBeforeNext ?? span, span);
    return { readings: [{ window, remaining: open?.remainingPoints ?? limit, resetAt }], now };
  }

  return {
    /** Copies all counters. */
    get size(): number {
      return limiter.dump().storage.length;
    },
    async take(caller: string, units = 1) {
      const now = Date.now();
      // `penalty` counts like `consume`, but does not reject when the counter is exhausted.
      const result = await limiter.penalty(await counterOf(caller), units);
      if (result.isFirstInDuration) opened++;
      return { ...readingOf(result, now), exhausted: result.consumedPoints > limit };
    },
    async look(caller: string): Promise<Readings> {
      const now = Date.now();
      return readingOf(await limiter.get(await counterOf(caller)), now);
    },
  };
}
