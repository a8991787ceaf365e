import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Standing } from '../limits/admission.ts';
import type { Window } from '../limits/limits.ts';
import { networkOf } from './address.ts';

/** Callers with a counter of their own. All further callers share SHARED_COUNTERS counters, so that memory stays bounded. */
const OWN_COUNTERS = 100_000;
const SHARED_COUNTERS = 1_024;

/** Counts requests without a valid key per caller address. Callers with a valid key never reach it. */
export interface Guard {
  /** Counts one failure; `exhausted` once the window has too many. */
  fail(address: string): Promise<Standing & { readonly exhausted: boolean }>;
  /** The standing of the address; counts nothing. */
  look(address: string): Promise<Standing>;
  /** Number of callers with a counter of their own; bounded. */
  readonly size: number;
}

/** `failures` per `span` milliseconds and caller. */
export function createGuard({ failures, span }: { failures: number; span: number }): Guard {
  const window: Window = { name: 'failures', kind: 'fixed', limit: failures, span };
  const limiter = new RateLimiterMemory({ points: failures, duration: span / 1000 });
  const counters = new Counters(span);

  function standing(result: RateLimiterRes | null, now: number): Standing {
    const consumed = result && result.msBeforeNext > 0 ? result.consumedPoints : 0;
    const left = consumed > 0 ? result!.msBeforeNext : span;
    return { readings: [{ window, remaining: Math.max(0, failures - consumed), resetAt: now + left }], now };
  }

  return {
    get size() {
      return counters.size;
    },
    async fail(address) {
      const now = Date.now();
      // `penalty` counts like `consume`, but does not reject when the counter is exhausted.
      const result = await limiter.penalty(counters.take(networkOf(address), now), 1);
      return { ...standing(result, now), exhausted: result.consumedPoints > failures };
    },
    async look(address) {
      const now = Date.now();
      const counter = counters.find(networkOf(address), now);
      return standing(counter === null ? null : await limiter.get(counter), now);
    },
  };
}

/** Gives each caller a counter: its own while there is room, otherwise a shared one. */
class Counters {
  readonly #span: number;
  /** Caller to the end of its window. All windows have the same length, so the oldest entry ends first. */
  readonly #ends = new Map<string, number>();

  constructor(span: number) {
    this.#span = span;
  }

  get size(): number {
    return this.#ends.size;
  }

  take(caller: string, now: number): string {
    const counter = this.find(caller, now);
    if (counter !== null) return counter;
    this.#ends.delete(caller);
    this.#ends.set(caller, now + this.#span);
    return caller;
  }

  find(caller: string, now: number): string | null {
    this.#dropEnded(now);
    if ((this.#ends.get(caller) ?? 0) > now) return caller;
    return this.#ends.size < OWN_COUNTERS ? null : `shared ${spread(caller) % SHARED_COUNTERS}`;
  }

  /** Two entries per call are enough, because each call adds at most one. */
  #dropEnded(now: number): void {
    let drops = 2;
    for (const [caller, end] of this.#ends) {
      if (end > now || drops-- === 0) return;
      this.#ends.delete(caller);
    }
  }
}

function spread(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash;
}
