import { createRequire } from 'node:module';
import type * as Package from 'rate-limiter-flexible';
import type { Readings } from '../limits/admission.ts';
import type { Window } from '../limits/limits.ts';
import { networkOf } from './address.ts';
import { spread } from './address-subjects.ts';

/** Imports one class directly. The package index would load 35 more modules, for databases, at every start. */
const RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
) as typeof Package.RateLimiterMemory;

/** Clients with their own counter within a span. All further clients share SHARED_COUNTERS counters. */
const OWN_COUNTERS = 50_000;
const SHARED_COUNTERS = 1_024;

/** Counts units per client in one window. A client is an address, an IPv6 /64, or a key id. */
export interface CallerWindow {
  /** Charges units; `exhausted` once the client exceeds its window. */
  take(caller: string, units?: number): Promise<Readings & { readonly exhausted: boolean }>;
  /** Reads the client's window without charging it. */
  look(caller: string): Promise<Readings>;
  /** Number of counters. Reading it copies all counters. */
  readonly size: number;
}

/**
 * `window` begins with the first request of each client. Each counter lasts one span, so memory is bounded by twice
 * `ownCounters` plus the shared counters.
 */
export function createCallerWindow(window: Window, ownCounters = OWN_COUNTERS): CallerWindow {
  const { limit, span } = window;
  const limiter = new RateLimiterMemory({ points: limit, duration: span / 1_000, keyPrefix: '' });
  let began = 0;
  let opened = 0;

  /** The client's own counter if it has one or there is room; otherwise a shared counter. */
  async function counterOf(address: string, now: number): Promise<string> {
    const caller = networkOf(address);
    if (now - began >= span) {
      began = now;
      opened = 0;
    }
    if (opened < ownCounters || (await limiter.get(caller)) !== null) return caller;
    return `shared ${spread(caller) % SHARED_COUNTERS}`;
  }

  function readingOf(result: Package.RateLimiterRes | null, now: number): Readings {
    const open = result !== null && result.msBeforeNext > 0 ? result : null;
    const resetAt = now + (open?.msBeforeNext ?? span);
    return { readings: [{ window, remaining: open?.remainingPoints ?? limit, resetAt }], now };
  }

  return {
    get size() {
      return limiter.dump().storage.length;
    },
    async take(caller, units = 1) {
      const now = Date.now();
      // `penalty` counts like `consume`, but does not reject when the counter is exhausted.
      const result = await limiter.penalty(await counterOf(caller, now), units);
      if (result.isFirstInDuration) opened++;
      return { ...readingOf(result, now), exhausted: result.consumedPoints > limit };
    },
    async look(caller) {
      const now = Date.now();
      return readingOf(await limiter.get(await counterOf(caller, now)), now);
    },
  };
}
