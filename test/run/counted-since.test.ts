import { expect, test } from '@jest/globals';
import type { Plan, Plans } from '../../src/limits/plans.ts';
import { CountedSince } from '../../src/run/counted-since.ts';
import { DAY, MINUTE, TestClock, window } from '../support/limits.ts';

const plans = (...all: (Pick<Plan, 'windows'> & Partial<Plan>)[]): Plans => ({
  plans: new Map(all.map((plan) => [plan.name ?? 'free', { name: 'free', count: 'key', ...plan }])),
  escalation: null,
  accounts: new Map(),
});

test('a window counts since the plan has it, whatever its limit, and starts over if the subject changes', () => {
  const clock = new TestClock();
  const start = clock.now;
  const since = new CountedSince(plans({ windows: [window(5, MINUTE)] }), clock.read);
  const known = () =>
    [window(1, MINUTE), window(1, DAY), window(1, MINUTE, 'sliding')].map((one) =>
      since.of('free', one),
    );
  expect(known()).toEqual([0, start, start]);
  clock.pass(MINUTE);
  since.use(plans({ windows: [window(9, MINUTE), window(1, DAY)] }));
  expect(known()).toEqual([0, start + MINUTE, clock.now]);
  clock.pass(MINUTE);
  since.use(
    plans(
      { windows: [window(9, MINUTE, 'sliding'), window(1, DAY)] },
      { name: 'pro', windows: null },
    ),
  );
  expect(known()).toEqual([clock.now, start + MINUTE, start + 2 * MINUTE]);
  clock.pass(MINUTE);
  since.use(plans({ count: 'account', windows: [window(9, MINUTE)] }));
  expect(known()[0]).toBe(start + 3 * MINUTE);
  expect(since.of('pro', window(1, MINUTE))).toBe(clock.now);
});
