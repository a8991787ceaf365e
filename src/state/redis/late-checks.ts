import type { RedisSettings } from '../../config/config.ts';
import type { Shards } from '../shared/backend.ts';
import { checkRedis } from './checks.ts';
import { type Connection, refusalOf } from './client.ts';
import { RedisError } from './error.ts';

/** Milliseconds until Redis is asked again. */
const ASK_AGAIN = 200;

/** The checks of a start, where Redis was away at the start. */
export interface LateChecks {
  /** Whether Redis has answered since, and can do what the gateway needs. */
  readonly passed: boolean;
  stop(): void;
}

export interface LateChecksOptions {
  /** Told the warnings there are, once Redis has passed. */
  readonly passed: (warnings: readonly string[]) => void;
  /** Told why Redis cannot be used although it answers, whenever there is another reason. */
  readonly unfit: (reason: string) => void;
}

/** Checks Redis as soon as it answers, and again until it passes: somebody may mend it meanwhile. */
export function checkLater(redis: Connection, settings: RedisSettings, tell: LateChecksOptions): LateChecks {
  let passed = false;
  let stopped = false;
  let told: string | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    try {
      const warnings = await checkRedis(redis);
      if (stopped) return;
      passed = true;
      tell.passed(warnings);
    } catch (error) {
      const reason = error instanceof RedisError && !error.isAway ? error.message : refusalOf(settings, redis);
      if (stopped) return;
      if (reason !== null && reason !== told) tell.unfit(reason);
      told = reason ?? told;
      timer = setTimeout(() => void look(), ASK_AGAIN).unref();
    }
  }

  void look();
  return {
    get passed() {
      return passed;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** The shards, once Redis has passed the checks; before that it is one shard, which is away. */
export function shardsAfter(checks: Pick<LateChecks, 'passed'>, shards: Shards): Shards {
  return {
    shardOf: (name) => (checks.passed ? shards.shardOf(name) : ''),
    async probe(name) {
      if (!checks.passed) throw new Error('Redis has not passed the checks of a start yet');
      await shards.probe(name);
    },
    reasonOf: shards.reasonOf,
  };
}
