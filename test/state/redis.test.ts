import { describe, expect, test } from '@jest/globals';
import { RedisState } from '../../src/state/redis/counters.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { HOUR, limits, MINUTE, SECOND, TestClock, window } from '../support/limits.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { keepsThePromisesOfState } from './contract.ts';

describe('the state in Redis', () => {
  const own = redisForSuite();

  describe('keeps the promises of State', () => {
    keepsThePromisesOfState(async (clock) => {
      await own.server.admin.flushall();
      return new RedisState(own.redis, { clock: clock.read, deadline: 2_000 });
    });
  });

  test.each([
    ['fixed', MINUTE],
    ['fixed', HOUR],
    ['sliding', HOUR],
  ] as const)(
    'a %s window of %i ms that opens again extends the life of its counters',
    async (kind, span) => {
      const clock = new TestClock();
      const state = new RedisState(own.redis, { clock: clock.read, deadline: 2_000 });
      const given = limits([window(10, span, kind)], null);
      const key = keyOf.counters('key:again');
      await state.admit('key:again', given, 1);
      clock.pass(2 * span);
      await own.server.admin.pexpire(key, 30 * SECOND);
      await state.admit('key:again', given, 1);
      expect(await own.server.admin.pttl(key)).toBeGreaterThan(span - SECOND);
      await state.close();
    },
  );
});
