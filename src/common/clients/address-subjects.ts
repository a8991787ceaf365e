import { DAY, notFuture } from '../time.ts';
import { networkOf } from './address.ts';
import { createCounterQuota } from './counter-quota.ts';

export type AddressSubjects = ReturnType<typeof createAddressSubjects>;

/**
 * Names the counters of client addresses: an IPv4 address, or an IPv6 /64. Everyone can send from
 * many addresses, so the number of counters is bounded.
 */
export function createAddressSubjects(
  clock: () => number,
  quota = createCounterQuota(),
) {
  const own = new Set<string>();
  let began = Number.NEGATIVE_INFINITY;

  return {
    of(address: string): string {
      const network = networkOf(address);
      const now = clock();
      began = notFuture(began, now);
      if (now - began >= DAY) {
        began = now;
        own.clear();
        quota.clear();
      }
      if (own.has(network)) return `address:${network}`;
      const shared = quota.sharedBy(network);
      if (shared !== null) return `address:${shared}`;
      own.add(network);
      quota.take(network);
      return `address:${network}`;
    },
  };
}
