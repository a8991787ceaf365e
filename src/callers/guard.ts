import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Standing } from '../limits/admission.ts';
import type { Window } from '../limits/limits.ts';
import { networkOf } from './address.ts';

/** So many callers are counted one by one; beyond, callers share these, so that memory stays bounded. */
const OWN_COUNTERS = 100_000;
const SHARED_COUNTERS = 1_024;

/** Counts requests without a valid key per caller address. Callers with a valid key never meet it. */
export interface Guard {
  /** Counts one failure; `exhausted` once there were too many in the window. */
  fail(address: string): Promise<Standing & { readonly exhausted: boolean }>;
  /** How the address stands; counts nothing. */
  look(address: string): Promise<Standing>;
  /** How many callers are counted one by one; bounded. */
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
      // `penalty` counts as `consume` does, but tells of an exhausted counter without a rejection.
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

/** Which counter a caller moves: its own while there is room, one of the shared ones otherwise. */
class Counters {
  readonly #span: number;
  /** Caller to the end of its window; all windows are as long, so the oldest entry always ends first. */
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

  /** Two at a time is enough to keep up with one entry per call. */
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
