import type { Backend } from '../backend.ts';
import type { Child, Children } from '../children.ts';
import type { RedisServer } from '../redis-server.ts';
import type { Work } from '../work.ts';

export interface Target {
  /** The name for `--only`. */
  readonly name: string;
  readonly title: string;
  readonly works: readonly Work['name'][];
  /** Whether it has keys and limits. */
  readonly counts?: boolean;
  readonly redis?: boolean;
  /** `null`: can run here. */
  missing?(): string | null;
  /** The same gateway of another commit. */
  before?(commit: string, project: string): Target;
  /** CPU time of the child includes its descendants. */
  start(surroundings: Surroundings): Promise<Child>;
}

export interface Surroundings {
  readonly children: Children;
  readonly backend: Backend;
  /** `null`: not installed. */
  readonly redis: RedisServer | null;
}
