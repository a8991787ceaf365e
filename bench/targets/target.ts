import { freePort } from '../../test/support/free-port.ts';
import type { Backend } from '../backend.ts';
import type { Children } from '../children.ts';
import type { RedisServer } from '../redis-server.ts';
import type { Keys, Work } from '../work.ts';

/** A measured proxy: how to start it, and what it can do. */
export interface Target {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  readonly works: readonly Work['name'][];
  /**
   * Whether it counts requests: each admitted one lowers X-RateLimit-Remaining by one, and refusals say when to return.
   */
  readonly counts: boolean;
  /** Whether it counts in Redis. */
  readonly redis: boolean;
  /** The reason why it cannot run here, in a few words; `null` if it can. */
  missing(): string | null;
  start(surroundings: Surroundings): Promise<Running>;
}

/** The servers and keys for every target. */
export interface Surroundings {
  readonly children: Children;
  readonly backend: Backend;
  /** `null` if no target of this run needs it. */
  readonly redis: RedisServer | null;
  /** The Node.js that targets written for it run on. */
  readonly node: string;
  /** For targets that do not make keys themselves. */
  readonly keys: Keys;
}

export interface Running {
  readonly url: string;
  /** The process whose CPU time counts, with its descendants. */
  readonly pid: number;
  readonly keys: Keys;
  stop(): Promise<void>;
}

/** Runs one of the peers in `servers/` on Node.js. */
export async function startServer(
  name: string,
  { children, backend, redis, node, keys }: Surroundings,
): Promise<Running> {
  const port = await freePort();
  const child = await children.start({
    name,
    file: node,
    args: [new URL(`../servers/${name}.ts`, import.meta.url).pathname],
    env: {
      // Guides for operators tell them to set this; Express is slower without it.
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

/** For targets without further requirements. */
export const nothingMissing = () => null;
