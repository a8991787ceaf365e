import { Redis } from 'ioredis';
import { freePort } from '../test/support/free-port.ts';
import type { Children } from './children.ts';

const DECISIONS = /^cmdstat_(?:eval|evalsha|fcall)(?:_ro)?:calls=(\d+)/gm;

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Calls of scripts and functions, one round trip each. */
  decisions(): Promise<number>;
  loadScript(source: string): Promise<string>;
  close(): void;
}

/** In memory only. */
export async function startRedis(children: Children): Promise<RedisServer> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const { pid } = await children.start({
    name: 'redis',
    file: 'redis-server',
    args,
    port,
    place: 'beside',
  });
  const url = `redis://127.0.0.1:${port}/0`;
  const client = new Redis(url);
  return {
    url,
    port,
    pid,
    decisions: async () => {
      const calls = (await client.info('commandstats')).matchAll(DECISIONS);
      return [...calls].reduce((sum, [, count]) => sum + Number(count), 0);
    },
    loadScript: async (source) => (await client.script('LOAD', source)) as string,
    close: () => client.disconnect(),
  };
}
