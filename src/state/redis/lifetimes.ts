import type { Connection } from './client.ts';
import { loadScript } from './scripts.ts';
import { withTimeout } from './timeouts.ts';

const shorten = loadScript('bound-1.lua');

/**
 * After the clock of Redis was set back, keys live longer by as much. Shortens the rest of a key's
 * lifetime to `most` milliseconds, the longest that such a key gets.
 */
export async function limitLifetime(
  redis: Connection,
  key: string,
  most: number,
): Promise<void> {
  await withTimeout(shorten(redis, [key], [most]));
}
