import type { Connection } from './client.ts';
import { withTimeout } from './timeouts.ts';

/** Unix milliseconds by the clock of Redis. */
export async function timeOf(redis: Connection): Promise<number> {
  const [seconds, microseconds] = await withTimeout(redis.time());
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
