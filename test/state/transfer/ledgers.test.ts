import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KIND_NAMES } from '../../../src/limits/kinds.ts';
import type { Limits } from '../../../src/limits/limits.ts';
import { openEmbedded } from '../../../src/state/embedded/open.ts';
import { folderSource } from '../../../src/state/embedded/transfer/source.ts';
import { folderTarget } from '../../../src/state/embedded/transfer/target.ts';
import { RedisState } from '../../../src/state/redis/counters.ts';
import { openRedisSource, openRedisTarget } from '../../../src/state/redis/transfer/open.ts';
import type { State } from '../../../src/state/state.ts';
import { KEPT } from '../../support/audit.ts';
import { HOUR, limits, MINUTE, SECOND, scoped, TestClock, window } from '../../support/limits.ts';
import { idOf, moveAll, targetOptions, temporaryFolder } from '../../support/moving.ts';
import { DEFAULTS } from '../../support/redis/settings.ts';
import { redisForSuite } from '../../support/redis/suite.ts';

const LADDER = { strikes: 3, within: 10 * SECOND, grace: 100, lengths: [20 * SECOND, MINUTE, HOUR], forget: HOUR };
const PLANS: readonly Limits[] = [
  limits([window(3, MINUTE)], LADDER),
  limits([window(5, MINUTE), window(12, HOUR)], LADDER),
  limits([window(4, MINUTE, 'sliding'), window(9, HOUR)], LADDER),
  limits([window(6, 10 * SECOND, 'sliding'), window(20, MINUTE, 'sliding')], LADDER),
  limits([window(3, 7_001, 'sliding')], null),
  limits([window(6, MINUTE), scoped('login', 3, MINUTE), scoped('tag:search', 4, HOUR, 'sliding')], LADDER),
  ...KIND_NAMES.map((kind) => limits([window(4, 20 * SECOND, kind)], LADDER)),
  limits([window(2 ** 53 - 100, HOUR)], null),
];

type Step = { readonly toString: () => string; readonly take: (state: State, subject: string) => unknown };
const named = (name: string, take: Step['take']): Step => ({ take, toString: () => name });
const plan = fc.nat({ max: PLANS.length - 1 });
const cost = fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2, 5, 2 ** 53 - 200));
const step = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .tuple(plan, cost, fc.constantFrom([], ['login'], ['login', 'tag:search']))
      .map(([p, c, of]) => named(`admit ${c} under ${p} in ${of}`, (state, s) => state.admit(s, PLANS[p]!, c, of))),
  },
  { weight: 1, arbitrary: fc.constant(named('reset', (state, s) => state.reset(s))) },
  { weight: 1, arbitrary: fc.constant(named('pardon', (state, s) => state.pardon(s))) },
  {
    weight: 1,
    arbitrary: plan.map((p) => named(`grant under ${p}`, (state, s) => state.grant(s, PLANS[p]!, 2, null))),
  },
  { weight: 1, arbitrary: plan.map((p) => named(`ban under ${p}`, (state, s) => state.ban(s, PLANS[p]!, MINUTE))) },
);
const pass = fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0, max: 150 }) }, fc.integer({ min: 0, max: 20_000 }));
const steps = fc.array(fc.tuple(pass, step), { minLength: 1, maxLength: 30 });
const burst = fc
  .tuple(plan, fc.integer({ min: 4, max: 14 }))
  .map(([p, count]) =>
    Array.from(
      { length: count },
      () => [110, named(`burst under ${p}`, (state, s) => state.admit(s, PLANS[p]!, 1, ['login']))] as const,
    ),
  );
const traffic = fc.array(fc.oneof(steps, burst), { minLength: 1, maxLength: 4 }).map((parts) => parts.flat());

const own = redisForSuite();
let subjects = 0;

const settings = () => ({ ...DEFAULTS, url: own.server.url });

const options = (clock: TestClock) => ({ clock: clock.read, audit: KEPT, observe: () => {} });

function targetsOf(clock: TestClock) {
  return targetOptions({ ladder: LADDER, clock: clock.read });
}

/** The same steps on both, with the same answers. */
async function expectEqual(
  one: State,
  other: State,
  subject: string,
  clock: TestClock,
  more: typeof traffic extends fc.Arbitrary<infer T> ? T : never,
) {
  for (const given of PLANS) {
    expect(await other.look(subject, given)).toEqual(await one.look(subject, given));
    expect(await other.rung(subject, given)).toEqual(await one.rung(subject, given));
  }
  const bansOf = async (state: State) => (await state.bans()).filter((ban) => ban.subject === subject);
  expect(await bansOf(other)).toEqual(await bansOf(one));
  for (const [time, { take }] of more) {
    clock.pass(time);
    const expected = await take(one, subject);
    expect(await take(other, subject)).toEqual(expected ?? undefined);
  }
}

test('after any traffic a ledger of a folder goes on in Redis as if it had stayed', async () => {
  let banned = 0;
  await fc.assert(
    fc.asyncProperty(traffic, traffic, async (before, after) => {
      await own.server.admin.flushall();
      const folder = temporaryFolder();
      const clock = new TestClock(Date.now());
      const subject = `key:${idOf(subjects++)}`;
      const first = openEmbedded(folder.path, options(clock));
      for (const [time, { take }] of before) {
        clock.pass(time);
        await take(first.state, subject);
      }
      await first.close();
      const moving = { clock: clock.read };
      await moveAll(
        await folderSource(folder.path, clock.read),
        await openRedisTarget(settings(), targetsOf(clock)),
        moving,
      );
      const stayed = openEmbedded(folder.path, options(clock));
      const moved = new RedisState(own.redis, { clock: clock.read, deadline: 5_000 });
      banned += (await stayed.state.bans()).length;
      await expectEqual(stayed.state, moved, subject, clock, after);
      await moved.close();
      await stayed.close();
      folder.remove();
    }),
    { numRuns: 25 },
  );
  expect(banned).toBeGreaterThan(0);
}, 300_000);

test('after any traffic a ledger of Redis goes on in a folder as if it had stayed', async () => {
  let banned = 0;
  await fc.assert(
    fc.asyncProperty(traffic, traffic, async (before, after) => {
      await own.server.admin.flushall();
      const folder = temporaryFolder();
      const clock = new TestClock(Date.now());
      const subject = `key:${idOf(subjects++)}`;
      const stayed = new RedisState(own.redis, { clock: clock.read, deadline: 5_000 });
      for (const [time, { take }] of before) {
        clock.pass(time);
        await take(stayed, subject);
      }
      const moving = { clock: clock.read };
      await moveAll(await openRedisSource(settings()), folderTarget(folder.path, targetsOf(clock)), moving);
      const moved = openEmbedded(folder.path, options(clock));
      banned += (await moved.state.bans()).length;
      await expectEqual(stayed, moved.state, subject, clock, after);
      await stayed.close();
      await moved.close();
      folder.remove();
    }),
    { numRuns: 25 },
  );
  expect(banned).toBeGreaterThan(0);
}, 300_000);
