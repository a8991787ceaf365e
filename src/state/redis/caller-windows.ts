import { RateLimiterRedis } from 'rate-limiter-flexible';
import {
  callerWindowIn,
  memoryLimiter,
  type OpenCallerWindow,
} from '../../common/callers/caller-window.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { readScript } from './scripts.ts';

const { text } = readScript('caller-1.lua');

interface CallerWindowsOptions {
  /** Processes of this gateway. */
  readonly workers: number;
  /** Whether Redis is known to be down or slow. */
  readonly isDown: () => boolean;
}

/**
 * All gateways count together. Without Redis, each process counts up to its share of the limit of
 * its gateway.
 */
export function callerWindowsIn(
  redis: Connection,
  { workers, isDown }: CallerWindowsOptions,
): OpenCallerWindow {
  return (window, ownCounters) => {
    const { name, limit, span } = window;
    const share = Math.max(1, Math.floor(limit / workers));
    const insuranceLimiter = memoryLimiter(window, share);
    const limiter = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: keyOf.callers(name),
      points: limit,
      duration: Math.ceil(span / 1_000),
      // A client that is known to be exhausted costs no call.
      inMemoryBlockOnConsumed: limit,
      rejectIfRedisNotReady: true,
      customIncrTtlLuaScript: text,
      insuranceLimiter,
    });
    return callerWindowIn(
      () => (isDown() ? insuranceLimiter : limiter),
      window,
      ownCounters,
    );
  };
}
