import type { RedisSettings } from '../../config/config.ts';
import {
  type Connection,
  connect,
  disconnect,
} from '../../state/redis/client.ts';
import { checkRedis, unusable } from './start.ts';

/** The checks of a start, for a command. Throws RedisError. */
export async function checkForCommand(
  redis: Connection,
  settings: RedisSettings,
): Promise<string[]> {
  try {
    return await checkRedis(redis, settings);
  } catch (error) {
    throw unusable(error);
  }
}

/** Warnings of a Redis that no gateway of this process uses. Throws RedisError. */
export async function warningsAbout(
  settings: RedisSettings,
): Promise<string[]> {
  const redis = await connect(settings);
  try {
    return await checkForCommand(redis, settings);
  } finally {
    disconnect(redis);
  }
}
