import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Admission } from '../../src/limits/admission.ts';
import { NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import type { State } from '../../src/state/state.ts';
import { HOUR, limits, scoped, TestClock, window } from '../support/limits.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { ESCALATION, PLANS, request, sequences } from './sequences.ts';

const own = redisForSuite();
let subjects = 0;

test('memory and Redis give the same answer to every step of any sequence', async () => {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(sequences({ setBack: true }), async (steps) => {
      const clock = new TestClock();
      const memory = createEmbeddedState({ clock: clock.read });
      const remote = createRedisState(own.redis, { clock: clock.read, deadline: 5_000 });
      const subject = `key:${subjects++}`;
      try {
        for (const { pass, action } of steps) {
          clock.pass(pass);
          const expected = await action.take(memory, subject);
          expect(await action.take(remote, subject)).toEqual(expected ?? undefined);
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
      fc.array(fc.tuple(fc.nat({ max: 3 }), request), { minLength: 1, maxLength: 60 }),
      async (requests) => {
        const clock = new TestClock();
        const memory = createEmbeddedState({ clock: clock.read });
        const remote = createRedisState(own.redis, { clock: clock.read, deadline: 5_000 });
        const run = subjects++;
        const admit = (state: State, of: number, { plan, cost, scopes }: (typeof requests)[0][1]) =>
          state.admit(`key:${run}-${of}`, PLANS[plan]!, cost, scopes);
        const responses = await Promise.all(requests.map(([of, one]) => admit(remote, of, one)));
        expect(responses).toEqual(requests.map(([of, one]) => admit(memory, of, one)));
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
