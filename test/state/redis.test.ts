import { describe, expect, test } from '@jest/globals';
import { remainingIn } from '../../src/limits/admission.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { calendar, DAY, HOUR, limits, SECOND, TestClock, window } from '../support/limits.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { keepsThePromisesOfState } from './contract.ts';

describe('the state in Redis', () => {
  const own = redisForSuite();

  describe('keeps the promises of State', () => {
    keepsThePromisesOfState(async (clock) => {
      await own.server.admin.flushall();
      return createRedisState(own.redis, { clock: clock.read, deadline: 2_000 });
    });
  });

  test.each([
    ['fixed', HOUR],
    ['sliding', HOUR],
    ['calendar', HOUR],
  ] as const)(
    'a %s window of %i ms that opens again extends the life of its counters',
    async (kind, span) => {
      const clock = new TestClock();
      const state = createRedisState(own.redis, { clock: clock.read, deadline: 2_000 });
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

  /** Any time around it: redis-borders.test.ts. */
  describe('at the border of a calendar window', () => {
    const MIDNIGHT = Date.parse('2026-11-26T23:00Z');
    const given = limits([calendar(10, DAY, 'Europe/Berlin')], null);

    test('a later end after a change of zone extends the life of the counters', async () => {
      const clock = new TestClock(MIDNIGHT - HOUR);
      const state = createRedisState(own.redis, { clock: clock.read, deadline: 2_000 });
      await state.admit('key:zone', given, 1);
      await state.admit('key:zone', limits([calendar(10, DAY, 'Asia/Tokyo')], null), 1);
      expect(await own.server.admin.pttl(keyOf.counters('key:zone'))).toBeGreaterThan(16 * HOUR);
      await state.close();
    });

    test('units of an outage count once, and in their own period alone', async () => {
      const clock = new TestClock(MIDNIGHT - 1);
      const state = createRedisState(own.redis, { clock: clock.read, deadline: 2_000 });
      const due = (number: number, openedAt: number) => ({
        gateway: 'g',
        number,
        ban: null,
        windows: [{ units: 3, openedAt }],
      });
      const used = async () => 10 - remainingIn((await state.look('key:due', given)).readings[0]!);
      await state.charge('key:due', given, due(1, MIDNIGHT - DAY));
      expect(await used()).toBe(3);
      clock.now = MIDNIGHT + 1;
      await state.charge('key:due', given, due(2, MIDNIGHT - DAY));
      expect(await used()).toBe(0);
      // A gateway sends it again if it has no answer.
      for (let i = 0; i < 2; i++) await state.charge('key:due', given, due(3, MIDNIGHT));
      expect(await used()).toBe(3);
      await state.close();
    });
  });
});
