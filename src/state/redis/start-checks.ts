import type { Shards } from '../shared/backend.ts';
import { unusable } from './checks.ts';
import { RedisError } from './error.ts';

/** Milliseconds that a later check waits for Redis, and until the next one. */
const CHECK_INTERVAL = 200;

export interface StartChecksOptions<T> {
  /** Checks once, and waits at most `patience` milliseconds for a Redis that does not answer. */
  readonly check: (patience: number) => Promise<T>;
  readonly passed: (found: T) => void;
  /** Told why Redis cannot be used although it answers, whenever there is another reason. Not of the first check. */
  readonly unfit: (reason: string) => void;
}

/** The checks of a start: the first, which the start may wait for, and further ones until Redis has passed. */
export class StartChecks<T> {
  readonly #options: StartChecksOptions<T>;
  #passed = false;
  #stopped = false;
  #told: string | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StartChecksOptions<T>) {
    this.#options = options;
  }

  /** Whether Redis has answered, and can do what the gateway needs. */
  get passed(): boolean {
    return this.#passed;
  }

  /** Throws RedisError. */
  async first(patience: number): Promise<void> {
    try {
      const found = await this.#options.check(patience);
      if (this.#stopped) return;
      this.#passed = true;
      this.#options.passed(found);
    } catch (error) {
      throw error instanceof RedisError ? error : unusable(error);
    }
  }

  /** Checks again until Redis passes: somebody may mend it meanwhile. */
  async untilPassed(): Promise<void> {
    try {
      await this.first(CHECK_INTERVAL);
    } catch (error) {
      if (this.#stopped) return;
      const { isAway, message } = error as RedisError;
      if (!isAway && message !== this.#told) this.#options.unfit(message);
      if (!isAway) this.#told = message;
      this.#timer = setTimeout(() => void this.untilPassed(), CHECK_INTERVAL).unref();
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}

/** The shards, once Redis has passed the checks; before that it is one shard, which is away. */
export function shardsAfter(checks: Pick<StartChecks<unknown>, 'passed'>, shards: Shards): Shards {
  return {
    shardOf: (name) => (checks.passed ? shards.shardOf(name) : ''),
    async probe(name) {
      if (!checks.passed) throw new Error('Redis has not passed the checks of a start yet');
      await shards.probe(name);
    },
    reasonOf: shards.reasonOf,
  };
}
