import { Redis } from 'ioredis';
import { freePort } from '../test/support/free-port.ts';
import type { Child, Children } from './children.ts';

export interface RedisServer extends Child {
  readonly url: string;
  /** `stop` closes it. */
  readonly client: Redis;
}

/** In memory only. */
export async function startRedis(children: Children): Promise<RedisServer> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = await children.start({
    name: 'redis',
    file: 'redis-server',
    args,
    port,
    place: 'beside',
  });
  const url = `redis://127.0.0.1:${port}/0`;
  const client = new Redis(url);
  return {
    ...child,
    url,
    client,
    async stop() {
      client.disconnect();
      await child.stop();
    },
  };
}

/** The sum of the numbers in `INFO section` that follow a pattern. */
export async function redisInfo(
  { client }: RedisServer,
  section: string,
  before: string,
): Promise<number> {
  const found = (await client.info(section)).matchAll(new RegExp(`^${before}([\\d.]+)`, 'gm'));
  return [...found].reduce((sum, [, number]) => sum + Number(number), 0);
}

/** Calls of scripts and functions, one round trip each. */
export const redisDecisions = (redis: RedisServer): Promise<number> =>
  redisInfo(redis, 'commandstats', 'cmdstat_(?:eval|evalsha|fcall)(?:_ro)?:calls=');
