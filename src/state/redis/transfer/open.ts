import type { RedisSettings } from '../../../config/config.ts';
import type { Source, Target, TargetOptions } from '../../transfer/port.ts';
import { checkRedis, unusable } from '../checks.ts';
import { type Connection, connect, disconnect } from '../client.ts';
import { RedisError } from '../error.ts';
import { kindOf, redisName } from '../open.ts';
import { redisSource } from './source.ts';
import { redisTarget } from './target.ts';

/** Throws RedisError after closing the connection. */
export async function openRedisSource(settings: RedisSettings): Promise<Source> {
  const redis = await open(settings);
  return redisSource(redis, { name: redisName(settings), kind: kindOf(settings), close: () => disconnect(redis) });
}

/** Throws RedisError after closing the connection. */
export async function openRedisTarget(settings: RedisSettings, options: TargetOptions): Promise<Target> {
  const redis = await open(settings);
  try {
    return await redisTarget(redis, { ...options, name: redisName(settings), close: () => disconnect(redis) });
  } catch (error) {
    disconnect(redis);
    throw error;
  }
}

async function open(settings: RedisSettings): Promise<Connection> {
  const redis = await connect(settings);
  try {
    await checkRedis(redis);
    return redis;
  } catch (error) {
    disconnect(redis);
    throw error instanceof RedisError ? error : unusable(error);
  }
}
