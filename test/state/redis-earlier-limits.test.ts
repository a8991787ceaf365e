import { beforeEach, expect, test } from '@jest/globals';
import type { Limits } from '../../src/limits/limits.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { HOUR, limits, MINUTE, scoped, TestClock, window } from '../support/limits.ts';
import { redisForSuite } from '../support/redis/suite.ts';

const SUBJECT = 'key:charged';
const MINUTE_WINDOW = window(100, MINUTE);
const BEFORE = limits([MINUTE_WINDOW, scoped('login', 5, MINUTE)]);
const AFTER = limits([
  MINUTE_WINDOW,
  scoped('search', 5, MINUTE),
  scoped('search', 50, HOUR, 'sliding'),
]);
const [LOGIN, SEARCH] = [['login'], ['search']];

const own = redisForSuite();
let clock: TestClock;
let state: ReturnType<typeof createRedisState>;

beforeEach(async () => {
  await own.server.admin.flushall();
  clock = new TestClock(Date.now());
  state = createRedisState(own.redis, { clock: clock.read, deadline: 2_000 });
});

/** What a gateway admitted alone, in the order of the windows. */
const counted = (units: readonly number[], number = 1) => ({
  gateway: 'g',
  number,
  ban: null,
  windows: units.map((one) => ({ units: one, openedAt: clock.now })),
});

const used = async (given: Limits) =>
  (await state.look(SUBJECT, given)).readings.map(({ used }) => used);

test('what was counted under earlier limits takes nothing from windows that those did not have', async () => {
  await state.admit(SUBJECT, AFTER, 5, SEARCH);
  await state.charge(SUBJECT, BEFORE, counted([3, 3]));
  expect(await used(AFTER)).toEqual([8, 5, 5]);
  expect(await state.admit(SUBJECT, AFTER, 1, SEARCH)).toMatchObject({ verdict: 'limited' });
});

test('windows of earlier limits are kept too, for gateways that have those still', async () => {
  await state.admit(SUBJECT, AFTER, 5, SEARCH);
  await state.charge(SUBJECT, BEFORE, counted([3, 3]));
  await state.charge(SUBJECT, BEFORE, counted([1, 1], 2));
  expect(await state.admit(SUBJECT, BEFORE, 2, LOGIN)).toMatchObject({ verdict: 'limited' });
  expect(await used(BEFORE)).toEqual([9, 4]);
});

test('it does not make the refusals unknown that were answered under newer limits', async () => {
  await state.admit(SUBJECT, AFTER, 5, SEARCH);
  await state.admit(SUBJECT, AFTER, 1, SEARCH);
  await state.charge(SUBJECT, BEFORE, counted([3, 3]));
  clock.pass(1_000);
  expect(await state.admit(SUBJECT, AFTER, 1, SEARCH)).toMatchObject({
    verdict: 'limited',
    strikes: 1,
  });
});

test('a ban that began under earlier limits is kept with its limit', async () => {
  await state.admit(SUBJECT, AFTER, 5, SEARCH);
  const ban = { until: clock.now + HOUR, since: clock.now, limit: BEFORE.windows[1]! };
  await state.charge(SUBJECT, BEFORE, { ...counted([3, 3]), ban });
  expect(await state.admit(SUBJECT, AFTER, 1)).toMatchObject({
    verdict: 'banned',
    bannedUntil: ban.until,
  });
  const { name: _, ...limit } = BEFORE.windows[1]!;
  expect(await state.bans()).toEqual([expect.objectContaining({ subject: SUBJECT, limit })]);
  expect(await used(AFTER)).toEqual([8, 5, 5]);
});

test('the counters live as long as the longest window that they have', async () => {
  await state.admit(SUBJECT, AFTER, 1, SEARCH);
  await state.charge(SUBJECT, BEFORE, counted([1, 1]));
  expect(await own.server.admin.pttl(keyOf.counters(SUBJECT))).toBeGreaterThan(HOUR / 2);
});

test('strikes that were gathered under earlier limits are void, and change nothing', async () => {
  await state.admit(SUBJECT, AFTER, 5, SEARCH);
  await state.admit(SUBJECT, AFTER, 1, SEARCH);
  clock.pass(1_000);
  await state.countRefusals({
    subject: SUBJECT,
    limits: BEFORE,
    count: 1,
    times: [clock.now],
    cause: BEFORE.windows[1]!,
  });
  expect(await used(AFTER)).toEqual([5, 5, 5]);
  expect(await state.admit(SUBJECT, AFTER, 1, SEARCH)).toMatchObject({
    verdict: 'limited',
    strikes: 1,
  });
});
