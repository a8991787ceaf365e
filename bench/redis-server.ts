import { Redis } from 'ioredis';
import { freePort } from '../test/support/free-port.ts';
import type { Children } from './children.ts';

export interface RedisCalls {
  /** Calls of scripts and functions, one round trip each. */
  readonly decisions: number;
  /** Includes commands inside scripts. */
  readonly commands: number;
}

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  calls(): Promise<RedisCalls>;
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
    calls: async () => countCalls(await client.info('commandstats')),
    loadScript: async (source) => (await client.script('LOAD', source)) as string,
    close: () => client.disconnect(),
  };
}

function countCalls(stats: string): RedisCalls {
  let decisions = 0;
  let commands = 0;
  for (const [, command, calls] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    // The bench itself sends this command.
    if (command === 'info') continue;
    commands += Number(calls);
    if (/^(eval|evalsha|fcall)(_ro)?$/.test(command!)) decisions += Number(calls);
  }
  return { decisions, commands };
}
