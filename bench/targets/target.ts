import { spawnSync } from 'node:child_process';
import type { Backend } from '../backend.ts';
import type { Child, Children } from '../children.ts';
import type { RedisServer } from '../redis-server.ts';
import type { Keys, Work } from '../work.ts';

export interface Target {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  readonly works: readonly Work['name'][];
  /** Whether it has keys and limits. */
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
  /** For targets that do not make keys themselves. */
  readonly keys: Keys;
}

/** CPU time includes descendants. */
export interface Running extends Child {
  readonly url: string;
  readonly keys: Keys;
}

/** `null` if it is on the path, else how to install it. */
export function missingExecutable(name: string): string | null {
  const isThere = spawnSync('which', [name]).status === 0;
  return isThere ? null : `${name} is missing (apt-get install ${name})`;
}
