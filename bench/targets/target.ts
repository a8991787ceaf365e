import type { Backend } from '../backend.ts';
import type { Children } from '../children.ts';
import { freePort } from '../free-port.ts';
import type { RedisServer } from '../redis-server.ts';
import type { Keys, Work } from '../work.ts';

/** Something that is measured: how it is started, and what it can do. */
export interface Target {
  /** As `--only` takes it. */
  readonly name: string;
  readonly title: string;
  readonly works: readonly Work['name'][];
  /** It counts requests: every answer to an admitted one tells one less in X-RateLimit-Remaining, refusals say when to return. */
  readonly counts: boolean;
  /** It counts in Redis. */
  readonly redis: boolean;
  /** Why it cannot run here, in a few words; `null` when it can. */
  missing(): string | null;
  start(surroundings: Surroundings): Promise<Running>;
}

/** What every target finds when it starts. */
export interface Surroundings {
  readonly children: Children;
  readonly backend: Backend;
  /** `null`: no target of this run needs it. */
  readonly redis: RedisServer | null;
  /** The Node.js that targets written for it run on. */
  readonly node: string;
  /** For targets that do not make keys themselves. */
  readonly keys: Keys;
}

export interface Running {
  readonly url: string;
  /** The process whose CPU time is measured, descendants included. */
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
      // What every guide tells operators to set; Express is slower without it.
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

/** Of targets that need only what every run needs. */
export const nothingMissing = () => null;
