import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Admission } from '../../src/limits/admission.ts';
import { CALENDAR_SPANS, periodAt } from '../../src/limits/calendar.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import { createStateClock } from '../../src/state/shared/clock.ts';
import { calendar, DAY, HOUR, limits, SECOND, TestClock } from '../support/limits.ts';
import { redisForSuite } from '../support/redis/suite.ts';

const own = redisForSuite();
const GATEWAYS = 3;
/** Milliseconds by which the clock of Redis moves, which gateways learn from its next response. */
const JUMPS = [0, HOUR, 3 * DAY, 20 * DAY, 200 * DAY, 4 * 365 * DAY].flatMap((far) => [far, -far]);
const ZONES = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'];

/** Around changes of clocks in these zones. */
const moment = fc
  .tuple(
    fc.constantFrom('2027-03-14', '2027-03-28', '2027-04-04', '2026-11-01', '2026-10-25'),
    fc.integer({ min: -8, max: 8 }),
  )
  .map(([date, days]) => Date.parse(`${date}T12:00Z`) + days * DAY);
const request = fc.record({
  gateway: fc.nat({ max: GATEWAYS - 1 }),
  /** Requests that are sent before the gateway has the response to the first. */
  together: fc.integer({ min: 1, max: 3 }),
  pass: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 5 * SECOND })),
});

let subjects = 0;

test('a request is counted in the period of its time, whatever Redis’s clock did before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.values(CALENDAR_SPANS)),
      fc.constantFrom(...ZONES),
      moment,
      fc.constantFrom(...JUMPS),
      fc.array(request, { minLength: 2, maxLength: 12 }),
      async (span, zone, near, jump, requests) => {
        const window = calendar(1_000, span, zone);
        const given = limits([window], null);
        const subject = `key:border-${subjects++}`;
        const border = periodAt(window, near).end;
        const clock = new TestClock(border + jump);
        let local = 0;
        const gateways = Array.from({ length: GATEWAYS }, () => {
          const estimate = createStateClock(() => local);
          estimate.learn(clock.now);
          const state = createRedisState(own.redis, {
            clock: clock.read,
            estimate: estimate.read,
            deadline: 5_000,
          });
          return { estimate, state };
        });
        const whole = requests.reduce((sum, { pass }) => sum + pass, 0);
        clock.now = border - Math.ceil(whole / 2);
        const counted = new Map<number, number>();
        for (const { gateway, together, pass } of requests) {
          clock.pass(pass);
          local += pass;
          const { estimate, state } = gateways[gateway]!;
          const { end } = periodAt(window, clock.now);
          const responses: Admission[] = await Promise.all(
            Array.from({ length: together }, async () => await state.admit(subject, given, 1)),
          );
          estimate.learn(clock.now);
          counted.set(end, (counted.get(end) ?? 0) + together);
          expect(responses.at(-1)!.readings[0]).toMatchObject({
            used: counted.get(end),
            resetAt: end,
          });
        }
      },
    ),
    { numRuns: 300 },
  );
});
