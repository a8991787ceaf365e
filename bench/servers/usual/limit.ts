import type { RequestHandler } from 'express';
import { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { redisUrl } from '../environment.ts';

const storeClient = new Redis(redisUrl, { enableAutoPipelining: true });
const MINUTE = 60;
const DAY = 86_400;

const plans: Record<string, { limit: number; limiters: RateLimiterRedis[] }> = {
  large: {
    limit: 1_000_000_000,
    limiters: [limiter('large', 1_000_000_000, MINUTE), limiter('large', 1_000_000_000, DAY)],
  },
  tiny: { limit: 1, limiters: [limiter('tiny', 1_000_000_000, MINUTE), limiter('tiny', 1, DAY)] },
};

/** rate-limiter-flexible has one call per window; both run concurrently. */
export const limit: RequestHandler = async (_request, response, next) => {
  const { id, plan } = response.locals.client;
  const { limit, limiters } = plans[plan]!;
  try {
    const windows = await Promise.all(limiters.map((window) => window.consume(id)));
    const tightest = windows.reduce((a, b) => (b.remainingPoints <= a.remainingPoints ? b : a));
    response.set(headersOf(limit, tightest));
    next();
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    response.set(headersOf(limit, rejection));
    response.set('Retry-After', String(Math.max(1, Math.ceil(rejection.msBeforeNext / 1000))));
    response
      .status(429)
      .json({ code: 'rate_limit_exceeded', message: 'Too many requests.', status: 429 });
  }
};

function limiter(plan: string, points: number, duration: number): RateLimiterRedis {
  return new RateLimiterRedis({
    storeClient,
    keyPrefix: `usual:${plan}:${duration}`,
    points,
    duration,
  });
}

function headersOf(
  limit: number,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(Math.max(0, remainingPoints)),
    'X-RateLimit-Reset': String(Math.ceil((Date.now() + msBeforeNext) / 1000)),
  };
}
