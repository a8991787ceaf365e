import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  type RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Readings } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';
import { networkOf } from './address.ts';
import { createCounterQuota, OWN_COUNTERS } from './counter-quota.ts';

export interface AddressWindow {
  take(
    client: string,
    units?: number,
  ): Promise<Readings & { readonly exhausted: boolean }>;
  look(client: string): Promise<Readings>;
}

/**
 * `window` begins with the first request of each client: an address, an IPv6 /64, or a key id.
 * `ownCounters`: see `CounterQuota`.
 */
export type OpenAddressWindow = (
  window: Window,
  ownCounters?: number,
) => AddressWindow;

export type Limiter = Pick<RateLimiterAbstract, 'get' | 'consume'>;

/** Counts in this process. */
export function createAddressWindow(window: Window, ownCounters?: number) {
  const limiter = memoryLimiter(window, window.limit);
  return {
    ...addressWindowIn(limiter, window, ownCounters),
    /** Copies all counters. */
    get size(): number {
      return limiter.dump().storage.length;
    },
  };
}

export function memoryLimiter(
  { span }: Window,
  points: number,
): RateLimiterMemory {
  return new RateLimiterMemory({
    points,
    duration: span / 1_000,
    keyPrefix: '',
  });
}

/**
 * A counter lasts one span, so the number of counters that a process adds is at most three times
 * `ownCounters` plus the shared counters. `limiter` never fails.
 */
export function addressWindowIn(
  limiter: Limiter,
  window: Window,
  ownCounters = OWN_COUNTERS,
): AddressWindow {
  const { limit, span } = window;
  /** On the clock of `performance.now()`. */
  let began = performance.now();
  const quota = createCounterQuota(ownCounters);

  async function counterOf(address: string): Promise<string> {
    const client = networkOf(address);
    const now = performance.now();
    if (now - began >= span) {
      began = now;
      quota.clear();
    }
    const shared = quota.sharedBy(client);
    return shared === null || (await limiter.get(client)) !== null
      ? client
      : shared;
  }

  function readingOf(result: RateLimiterRes | null, now: number): Readings {
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
    async take(client, units = 1) {
      const now = Date.now();
      const counter = await counterOf(client);
      const { result, exhausted } = await consumed(limiter, counter, units);
      if (result.isFirstInDuration && counter === networkOf(client))
        quota.take(counter);
      return { ...readingOf(result, now), exhausted };
    },
    async look(client) {
      const now = Date.now();
      return readingOf(await limiter.get(await counterOf(client)), now);
    },
  };
}

/** The library rejects with the result if there are too few points. */
async function consumed(limiter: Limiter, counter: string, units: number) {
  try {
    const result = await limiter.consume(counter, units);
    return { result, exhausted: false };
  } catch (refused) {
    if (refused instanceof Error) throw refused;
    return { result: refused as RateLimiterRes, exhausted: true };
  }
}
