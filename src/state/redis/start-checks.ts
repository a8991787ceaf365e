import type { Shards } from '../shared/backend.ts';
import { unusable } from './checks.ts';
import { RedisError } from './error.ts';

/** Milliseconds: timeout of a repeated check, and delay between checks. */
const CHECK_INTERVAL = 200;

export interface StartChecksOptions<T> {
  /** Waits at most `patience` milliseconds. */
  readonly check: (patience: number) => Promise<T>;
  readonly passed: (found: T) => void;
  /** Called with each new reason why a responding Redis cannot be used, except by the first check. */
  readonly unfit: (reason: string) => void;
}

export class StartChecks<T> {
  readonly #options: StartChecksOptions<T>;
  #passed = false;
  #stopped = false;
  #reported: string | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StartChecksOptions<T>) {
    this.#options = options;
  }

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

  async untilPassed(): Promise<void> {
    try {
      await this.first(CHECK_INTERVAL);
    } catch (error) {
      if (this.#stopped) return;
      const { isUnreachable, message } = error as RedisError;
      if (!isUnreachable && message !== this.#reported) this.#options.unfit(message);
      if (!isUnreachable) this.#reported = message;
      this.#timer = setTimeout(() => void this.untilPassed(), CHECK_INTERVAL).unref();
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}

/** Until Redis has passed the checks, it is one shard that is down. */
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
