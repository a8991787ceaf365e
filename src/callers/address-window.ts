import type { RateLimiterRes } from 'rate-limiter-flexible';
import type { Standing } from '../limits/admission.ts';
import type { Window } from '../limits/limits.ts';
import { networkOf } from './address.ts';
import { RateLimiterMemory } from './memory-limiter.ts';

/** Callers with a counter of their own. All further callers share SHARED_COUNTERS counters, so that memory stays bounded. */
const OWN_COUNTERS = 100_000;
const SHARED_COUNTERS = 1_024;

/** Counts units per caller address, and per /64 of IPv6, in one window each. Its memory is bounded. */
export interface AddressWindow {
  /** Takes units from the window of an address; `exhausted` once it took more than the window has. */
  take(address: string, units?: number): Promise<Standing & { readonly exhausted: boolean }>;
  /** The standing of the address; takes nothing. */
  look(address: string): Promise<Standing>;
  /** Number of callers with a counter of their own; bounded. */
  readonly size: number;
}

/** `window` begins for each address with its first request. */
export function createAddressWindow(window: Window): AddressWindow {
  const { limit, span } = window;
  const limiter = new RateLimiterMemory({ points: limit, duration: span / 1000 });
  const counters = new Counters(span);

  function standing(result: RateLimiterRes | null, now: number): Standing {
    const consumed = result && result.msBeforeNext > 0 ? result.consumedPoints : 0;
    const left = consumed > 0 ? result!.msBeforeNext : span;
    return { readings: [{ window, remaining: Math.max(0, limit - consumed), resetAt: now + left }], now };
  }

  return {
    get size() {
      return counters.size;
    },
    async take(address, units = 1) {
      const now = Date.now();
      // `penalty` counts like `consume`, but does not reject when the counter is exhausted.
      const result = await limiter.penalty(counters.take(networkOf(address), now), units);
      return { ...standing(result, now), exhausted: result.consumedPoints > limit };
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
  #lastEnd = 0;

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
    this.#lastEnd = now + this.#span;
    this.#ends.set(caller, this.#lastEnd);
    return caller;
  }

  find(caller: string, now: number): string | null {
    this.#dropEnded(now);
    if ((this.#ends.get(caller) ?? 0) > now) return caller;
    return this.#ends.size < OWN_COUNTERS ? null : `shared ${spread(caller) % SHARED_COUNTERS}`;
  }

  /** Two entries per call are enough, because each call adds at most one. After a flood all have ended at once. */
  #dropEnded(now: number): void {
    if (now >= this.#lastEnd) {
      this.#ends.clear();
      return;
    }
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
