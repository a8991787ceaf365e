import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Admission } from '../../src/limits/admission.ts';
import { KIND_NAMES } from '../../src/limits/kinds.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { fullNameOf, NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import { settlementOf } from '../../src/limits/settlement.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import type { State } from '../../src/state/state.ts';
import {
  calendar,
  DAY,
  HOUR,
  limits,
  MINUTE,
  SECOND,
  scoped,
  TestClock,
  window,
  withExcess,
} from '../support/limits.ts';
import { redisForSuite } from '../support/redis/suite.ts';

/**
 * Small limits and a short escalation, so that random sequences reach every corner of the rules.
 */
const ESCALATION = {
  strikes: 3,
  window: 10 * SECOND,
  workers: 4,
  minWorkers: 2,
  grace: 100,
  durations: [20 * SECOND, MINUTE, HOUR],
  decay: HOUR,
};
const EXCESSES = ['watch', 'overage'] as const;
const SCOPES: readonly Scopes[] = [
  NO_SCOPES,
  ['login'],
  ['tag:search'],
  ['login', 'tag:search'],
  ['@notes', 'login'],
  ['none'],
];
const PLANS: readonly Limits[] = [
  limits([window(3, MINUTE)], ESCALATION),
  limits([window(5, MINUTE), window(12, HOUR)], ESCALATION),
  limits([window(2, MINUTE), window(12, HOUR)], ESCALATION),
  limits([window(4, MINUTE, 'sliding'), window(9, HOUR)], ESCALATION),
  limits(
    [window(6, 10 * SECOND, 'sliding'), window(20, MINUTE, 'sliding'), window(30, DAY)],
    ESCALATION,
  ),
  limits([window(3, 7_001, 'sliding')], null),
  limits(
    [window(8, MINUTE), scoped('login', 3, MINUTE), scoped('tag:search', 5, HOUR)],
    ESCALATION,
  ),
  limits([scoped('login', 2, SECOND), window(12, MINUTE), scoped('login', 4, MINUTE)], ESCALATION),
  limits(
    [scoped('@notes', 2, MINUTE, 'sliding'), scoped('login', 2, MINUTE), window(9, HOUR)],
    ESCALATION,
  ),
  // The scripts know every kind of window; a kind that they took for another would count
  // differently.
  ...KIND_NAMES.map((kind) => limits([window(4, HOUR, kind)], ESCALATION)),
  limits([window(3, MINUTE), calendar(9, DAY, 'Europe/Berlin')], ESCALATION),
  limits([calendar(9, DAY, 'America/New_York'), calendar(40, 31 * DAY, 'UTC', 15)], ESCALATION),
  limits([{ ...calendar(2, HOUR, 'Asia/Kolkata'), scope: 'login' }, window(12, HOUR)], ESCALATION),
  ...EXCESSES.flatMap((excess) => [
    limits([withExcess(excess, window(3, MINUTE)), window(12, HOUR)], ESCALATION),
    limits([window(5, MINUTE), withExcess(excess, window(6, HOUR, 'sliding'))], ESCALATION),
    limits([withExcess(excess, scoped('login', 2, MINUTE)), window(3, MINUTE)], ESCALATION),
    limits([withExcess(excess, calendar(4, DAY, 'Europe/Berlin'))], ESCALATION),
  ]),
  // Close to the largest exact double; ioredis rounds the last hundred integers below it.
  limits([window(2 ** 53 - 100, DAY)], null),
];

type Step = (state: State, subject: string) => unknown;

const time = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 150 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 2, arbitrary: fc.constantFrom(MINUTE, HOUR, 20 * SECOND, 10 * SECOND, DAY) },
  // The clock is corrected: by a little, and by more than any span.
  { weight: 1, arbitrary: fc.integer({ min: -50, max: 0 }) },
  { weight: 1, arbitrary: fc.constantFrom(-SECOND, -20 * SECOND, -HOUR, -3 * DAY) },
);
const plan = fc.nat({ max: PLANS.length - 1 }).map((i) => PLANS[i]!);
const scopes = fc.constantFrom(...SCOPES);
const cost = fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2, 5, 40));

function named(name: string, step: Step): { toString(): string; step: Step } {
  return { step, toString: () => name };
}

const action = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .tuple(plan, cost, scopes)
      .map(([p, c, of]) =>
        named(`admit ${c} under ${PLANS.indexOf(p)} in ${of}`, (state, s) =>
          state.admit(s, p, c, of),
        ),
      ),
  },
  {
    weight: 3,
    arbitrary: plan.map((p) =>
      named(`look under ${PLANS.indexOf(p)}`, (state, s) => state.look(s, p)),
    ),
  },
  {
    weight: 2,
    arbitrary: plan.map((p) =>
      named(`level under ${PLANS.indexOf(p)}`, (state, s) => state.banLevel(s, p)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(plan, fc.integer({ min: 1, max: 5 }), fc.boolean())
      .map(([p, units, all]) =>
        named(`grant ${units} under ${PLANS.indexOf(p)}`, (state, s) =>
          state.grant(s, p, units, all ? null : fullNameOf(p.windows[0]!)),
        ),
      ),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(plan, fc.constantFrom(-40, -2, -1, 1, 2, 40), scopes, fc.constantFrom(0, HOUR, DAY))
      .map(([p, units, of, ago]) =>
        named(`settle ${units} under ${PLANS.indexOf(p)} in ${of}`, async (state, s) => {
          const admission = await state.admit(s, p, 1, of);
          const { ends } = settlementOf(admission, units, of);
          if (admission.verdict === 'admitted')
            await state.settle(s, p, { units, scopes: of, ends: ends.map((end) => end - ago) });
          return state.look(s, p);
        }),
      ),
  },
  {
    weight: 4,
    arbitrary: plan.map((p) =>
      named(`strike under ${PLANS.indexOf(p)}`, (state, s) => state.strike(s, p)),
    ),
  },
  { weight: 1, arbitrary: fc.constant(named('lift', (state, s) => state.liftBan(s))) },
  { weight: 1, arbitrary: fc.constant(named('reset', (state, s) => state.reset(s))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(plan, fc.constantFrom(SECOND, MINUTE, HOUR))
      .map(([p, length]) => named(`ban for ${length}`, (state, s) => state.ban(s, p, length))),
  },
);
/** Bursts under one plan make strikes and bans likely; single steps mix the plans. */
const burst = fc
  .tuple(plan, cost, scopes, fc.integer({ min: 2, max: 12 }))
  .map(([p, c, of, count]) =>
    Array.from({ length: count }, () => ({
      pass: 60,
      action: named(`burst ${c} under ${PLANS.indexOf(p)} in ${of}`, (state, s) =>
        state.admit(s, p, c, of),
      ),
    })),
  );
const sequence = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ pass: time, action }).map((one) => [one]) },
      { weight: 1, arbitrary: burst },
    ),
    {
      minLength: 1,
      maxLength: 40,
    },
  )
  .map((parts) => parts.flat());

const own = redisForSuite();
let subjects = 0;

test('memory and Redis give the same answer to every step of any sequence', async () => {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(sequence, async (steps) => {
      const clock = new TestClock();
      const memory = createEmbeddedState({ clock: clock.read });
      const remote = createRedisState(own.redis, { clock: clock.read, deadline: 5_000 });
      const subject = `key:${subjects++}`;
      try {
        for (const { pass, action } of steps) {
          clock.pass(pass);
          const expected = await action.step(memory, subject);
          expect(await action.step(remote, subject)).toEqual(expected ?? undefined);
          if (typeof expected === 'object') met.add((expected as Admission).verdict);
        }
      } finally {
        await memory.close();
        await remote.close();
      }
    }),
    { numRuns: 150 },
  );
  expect([...met].sort()).toEqual(['admitted', 'banned', 'limited']);
});

test('requests that share a call are answered as one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ subject: fc.nat({ max: 3 }), plan, cost, scopes }), {
        minLength: 1,
        maxLength: 60,
      }),
      async (requests) => {
        const clock = new TestClock();
        const memory = createEmbeddedState({ clock: clock.read });
        const remote = createRedisState(own.redis, { clock: clock.read, deadline: 5_000 });
        const run = subjects++;
        const responses = await Promise.all(
          requests.map((r) => remote.admit(`key:${run}-${r.subject}`, r.plan, r.cost, r.scopes)),
        );
        expect(responses).toEqual(
          requests.map((r) => memory.admit(`key:${run}-${r.subject}`, r.plan, r.cost, r.scopes)),
        );
        await memory.close();
        await remote.close();
      },
    ),
    { numRuns: 60 },
  );
});

test('refusals that are counted later have the effect of refusals that are counted at once', async () => {
  const given = limits([window(2, HOUR), scoped('login', 1, HOUR)], ESCALATION);
  const login: Scopes = ['login'];
  const batches = fc.array(
    fc.record({
      scopes: fc.constantFrom(NO_SCOPES, login),
      passes: fc.array(fc.integer({ min: 30, max: 2_000 }), {
        minLength: 1,
        maxLength: ESCALATION.strikes,
      }),
    }),
    { minLength: 1, maxLength: 12 },
  );
  let bans = 0;
  await fc.assert(
    fc.asyncProperty(batches, async (steps) => {
      const clock = new TestClock();
      const memory = createEmbeddedState({ clock: clock.read });
      const remote = createRedisState(own.redis, { clock: clock.read, deadline: 5_000 });
      const subject = `key:${subjects++}`;
      for (const state of [memory, remote])
        for (const scopes of [login, login, NO_SCOPES, NO_SCOPES])
          await state.admit(subject, given, 1, scopes);
      for (const { scopes, passes } of steps) {
        const times: number[] = [];
        let last: Admission | null = null;
        for (const pass of passes) {
          clock.pass(pass);
          last = memory.admit(subject, given, 1, scopes);
          times.push(clock.now);
        }
        const cause = given.windows.find(({ scope }) => scope === scopes[0])!;
        const counted = await remote.countRefusals({
          subject,
          limits: given,
          count: times.length,
          times,
          cause,
        });
        expect(counted).toMatchObject({ strikes: last!.strikes, bannedUntil: last!.bannedUntil });
        expect(await remote.banLevel(subject, given)).toBe(memory.banLevel(subject, given));
        bans += last!.bannedUntil > 0 ? 1 : 0;
      }
      await memory.close();
      await remote.close();
    }),
    { numRuns: 60 },
  );
  expect(bans).toBeGreaterThan(0);
});
