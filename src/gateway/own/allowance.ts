import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Standing } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';

/** How often one key may ask what is free of charge, so that asking costs the state no more than requests do. */
export interface Allowance {
  /** Takes one; `exhausted` once none was left. */
  take(keyId: string): Promise<Standing & { readonly exhausted: boolean }>;
}

/** `limit` per `span` milliseconds and key, counted in this process alone: this guards it, and bills nobody. */
export function createAllowance({ limit, span }: { limit: number; span: number }): Allowance {
  const window: Window = { name: 'usage', kind: 'fixed', limit, span };
  const limiter = new RateLimiterMemory({ points: limit, duration: span / 1000 });
  return {
    async take(keyId) {
      const now = Date.now();
      // `penalty` counts as `consume` does, but tells of an exhausted counter without a rejection.
      const { consumedPoints, msBeforeNext } = await limiter.penalty(keyId, 1);
      const remaining = Math.max(0, limit - consumedPoints);
      return { readings: [{ window, remaining, resetAt: now + msBeforeNext }], now, exhausted: consumedPoints > limit };
    },
  };
}
