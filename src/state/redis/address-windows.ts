import { RateLimiterRedis } from 'rate-limiter-flexible';
import {
  addressWindowIn,
  type Limiter,
  memoryLimiter,
  type OpenAddressWindow,
} from '../../common/clients/address-window.ts';
import { withDeadline } from '../shared/deadline.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { readScript } from './scripts.ts';

const { text } = readScript('address-1.lua');

interface AddressWindowsOptions {
  /** Processes of this gateway. */
  readonly workers: number;
  /** Milliseconds that a request waits for Redis. */
  readonly deadline: number;
  /** Whether Redis is known to be down or slow. */
  readonly isDown: () => boolean;
}

/**
 * All gateways count together. Without Redis, or without a reply of it in time, each process counts
 * up to its share of the limit of its gateway.
 */
export function addressWindowsIn(
  redis: Connection,
  { workers, deadline, isDown }: AddressWindowsOptions,
): OpenAddressWindow {
  return (window, ownCounters) => {
    const { name, limit, span } = window;
    const share = Math.max(1, Math.floor(limit / workers));
    const inMemory = memoryLimiter(window, share);
    const inRedis = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: keyOf.windows(name),
      points: limit,
      duration: Math.ceil(span / 1_000),
      // A client that is known to be exhausted costs no call.
      inMemoryBlockOnConsumed: limit,
      rejectIfRedisNotReady: true,
      customIncrTtlLuaScript: text,
    });

    /** Not the `insuranceLimiter` of the library, which waits for Redis. */
    async function insured<T>(work: (limiter: Limiter) => Promise<T>) {
      if (isDown()) return work(inMemory);
      try {
        return await withDeadline(work(inRedis), deadline);
      } catch (error) {
        if (error instanceof Error) return work(inMemory);
        throw error;
      }
    }

    const limiter: Limiter = {
      get: (counter) => insured((one) => one.get(counter)),
      consume: (counter, units) =>
        insured((one) => one.consume(counter, units)),
    };
    return addressWindowIn(limiter, window, ownCounters);
  };
}
