import { freePort } from '../../test/support/free-port.ts';
import type { Backend } from '../backend.ts';
import type { Children } from '../children.ts';
import type { RedisServer } from '../redis-server.ts';
import type { Keys, Work } from '../work.ts';

export interface Target {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  readonly works: readonly Work['name'][];
  readonly counts: boolean;
  readonly redis: boolean;
  /** `null`: can run here. */
  missing(): string | null;
  start(surroundings: Surroundings): Promise<Running>;
}

export interface Surroundings {
  readonly children: Children;
  readonly backend: Backend;
  /** `null`: not needed. */
  readonly redis: RedisServer | null;
  readonly node: string;
  /** For targets that do not make keys themselves. */
  readonly keys: Keys;
}

export interface Running {
  readonly url: string;
  /** CPU time includes descendants. */
  readonly pid: number;
  readonly keys: Keys;
  stop(): Promise<void>;
}

export async function startServer(
  name: string,
  { children, backend, redis, node, keys }: Surroundings,
): Promise<Running> {
  const port = await freePort();
  const child = await children.start({
    name,
    file: node,
    args: [new URL(`../servers/${name}.ts`, import.meta.url).pathname],
    output: '/dev/null',
    env: {
      // Recommended to operators; Express is slower without it.
      NODE_ENV: 'production',
      PORT: String(port),
      BACKEND_URL: backend.url,
      REDIS_URL: redis?.url ?? '',
      ADMITTED_KEY: keys.admitted,
      REFUSED_KEY: keys.refused,
    },
    port,
  });
  return { url: `http://127.0.0.1:${port}`, keys, ...child };
}

export const nothingMissing = () => null;
