import { DAY, notFuture } from '../common/time.ts';
import { networkOf } from './address.ts';

/** Clients with counters of their own within a span. All further clients share SHARED_COUNTERS counters. */
export const OWN_COUNTERS = 50_000;
export const SHARED_COUNTERS = 1_024;

/**
 * Names the counters of client addresses: an IPv4 address, or an IPv6 /64. Everyone can send from many addresses, so
 * the number of counters is bounded.
 */
export class AddressSubjects {
  readonly #own = new Set<string>();
  readonly #most: number;
  readonly #clock: () => number;
  #began = Number.NEGATIVE_INFINITY;

  constructor(clock: () => number, most = OWN_COUNTERS) {
    this.#clock = clock;
    this.#most = most;
  }

  of(address: string): string {
    const network = networkOf(address);
    const now = this.#clock();
    this.#began = notFuture(this.#began, now);
    if (now - this.#began >= DAY) {
      this.#began = now;
      this.#own.clear();
    }
    if (!this.#own.has(network)) {
      if (this.#own.size >= this.#most) return `address:shared-${spread(network) % SHARED_COUNTERS}`;
      this.#own.add(network);
    }
    return `address:${network}`;
  }
}

/** A number that differs for most texts. */
export function spread(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return hash;
}
