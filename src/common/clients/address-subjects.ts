import { DAY, notFuture } from '../time.ts';
import { networkOf } from './address.ts';
import { CounterQuota } from './counter-quota.ts';

/**
 * Names the counters of client addresses: an IPv4 address, or an IPv6 /64. Everyone can send from
 * many addresses, so the number of counters is bounded.
 */
export class AddressSubjects {
  readonly #own = new Set<string>();
  readonly #quota: CounterQuota;
  readonly #clock: () => number;
  #began = Number.NEGATIVE_INFINITY;

  constructor(clock: () => number, quota = new CounterQuota()) {
    this.#clock = clock;
    this.#quota = quota;
  }

  of(address: string): string {
    const network = networkOf(address);
    const now = this.#clock();
    this.#began = notFuture(this.#began, now);
    if (now - this.#began >= DAY) {
      this.#began = now;
      this.#own.clear();
      this.#quota.clear();
    }
    if (this.#own.has(network)) return `address:${network}`;
    const shared = this.#quota.sharedBy(network);
    if (shared !== null) return `address:${shared}`;
    this.#own.add(network);
    this.#quota.take(network);
    return `address:${network}`;
  }
}
