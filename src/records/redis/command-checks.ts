import type { RedisSettings } from '../../config/config.ts';
import {
  type Connection,
  connect,
  disconnect,
} from '../../state/redis/client.ts';
import { dataCheckOf } from '../../state/redis/data-checks.ts';
import { checkRedis, unusable } from './start.ts';

/** The checks of a start, for a command, which reports no lost data. Throws RedisError. */
export async function checkForCommand(redis: Connection): Promise<string[]> {
  const data = dataCheckOf(redis, () => {});
  try {
    return await checkRedis(redis, data);
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
    return await checkForCommand(redis);
  } finally {
    disconnect(redis);
  }
}
