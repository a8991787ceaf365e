import { RateLimiterMemory } from '../../callers/memory-limiter.ts';
import type { Standing } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';

/** How often one key may send requests that are free, so that they cost the state no more than charged ones. */
export interface Allowance {
  /** Counts one request; `exhausted` if none was left. */
  take(keyId: string): Promise<Standing & { readonly exhausted: boolean }>;
}

/** `limit` per `span` milliseconds and key, counted in this process only: it protects the process and bills no client. */
export function createAllowance({ limit, span }: { limit: number; span: number }): Allowance {
  const window: Window = { name: 'usage', kind: 'fixed', limit, span };
  const limiter = new RateLimiterMemory({ points: limit, duration: span / 1000 });
  return {
    async take(keyId) {
      const now = Date.now();
      // `penalty` counts like `consume`, but does not reject when the counter is exhausted.
      const { consumedPoints, msBeforeNext } = await limiter.penalty(keyId, 1);
      const remaining = Math.max(0, limit - consumedPoints);
      return { readings: [{ window, remaining, resetAt: now + msBeforeNext }], now, exhausted: consumedPoints > limit };
    },
  };
}
