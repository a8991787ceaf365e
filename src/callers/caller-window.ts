import { createRequire } from 'node:module';
import type * as Package from 'rate-limiter-flexible';
import type { Readings } from '../limits/admission.ts';
import type { Window } from '../limits/limits.ts';
import { networkOf } from './address.ts';

/** The one class of the package that is used. Its index would load 35 more modules, for databases, at every start. */
const RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
) as typeof Package.RateLimiterMemory;

/** Callers that get a counter of their own within a span, where anyone can be a caller. All further callers share SHARED_COUNTERS counters. */
const OWN_COUNTERS = 50_000;
const SHARED_COUNTERS = 1_024;

/** Counts units per caller in one window each. A caller is an address, a /64 of IPv6, or the id of a key. */
export interface CallerWindow {
  /** Takes units from the window of a caller; `exhausted` once it took more than the window has. */
  take(caller: string, units?: number): Promise<Readings & { readonly exhausted: boolean }>;
  /** The standing of the caller; takes nothing. */
  look(caller: string): Promise<Readings>;
  /** Number of counters. To find it costs a copy of all counters. */
  readonly size: number;
}

/**
 * `window` begins for each caller with its first request. Memory is bounded: a counter lasts for one span, so there are never more
 * than twice `ownCounters`, and the shared counters.
 */
export function createCallerWindow(window: Window, ownCounters = OWN_COUNTERS): CallerWindow {
  const { limit, span } = window;
  const limiter = new RateLimiterMemory({ points: limit, duration: span / 1_000, keyPrefix: '' });
  let began = 0;
  let opened = 0;

  /** The caller's own counter if it has one or there is room for one; otherwise a shared counter. */
  async function counterOf(address: string, now: number): Promise<string> {
    const caller = networkOf(address);
    if (now - began >= span) {
      began = now;
      opened = 0;
    }
    if (opened < ownCounters || (await limiter.get(caller)) !== null) return caller;
    return `shared ${spread(caller) % SHARED_COUNTERS}`;
  }

  function standing(result: Package.RateLimiterRes | null, now: number): Readings {
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
      return { ...standing(result, now), exhausted: result.consumedPoints > limit };
    },
    async look(caller) {
      const now = Date.now();
      return standing(await limiter.get(await counterOf(caller, now)), now);
    },
  };
}

function spread(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash;
}
