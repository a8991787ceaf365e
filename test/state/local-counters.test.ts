import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { remainingIn } from '../../src/limits/admission.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { createLocalCounters } from '../../src/state/shared/local-counters.ts';
import {
  calendar,
  DAY,
  ESCALATION,
  HOUR,
  limits,
  MINUTE,
  scoped,
  TestClock,
  window,
} from '../support/limits.ts';

const charge = (given: Limits, cost: number, scopes: Scopes = NO_SCOPES) => ({
  subject: 'a',
  limits: given,
  cost,
  scopes,
});

const PLANS = [
  limits([window(7, MINUTE), window(20, HOUR)], null),
  limits([window(5, MINUTE, 'sliding'), window(30, DAY)], null),
  limits([window(5, MINUTE), calendar(20, HOUR, 'Asia/Kolkata')], null),
];
const requests = fc.array(fc.record({ pass: fc.nat(20_000), cost: fc.nat(3) }), { maxLength: 40 });

test('gateways that share what is left never admit more than is left, in any window', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PLANS),
      fc.integer({ min: 1, max: 4 }),
      requests,
      requests,
      (plan, gateways, before, during) => {
        const clock = new TestClock();
        const remote = createEmbeddedState({ clock: clock.read });
        const alone = Array.from({ length: gateways }, (_, i) =>
          createLocalCounters({ gateway: `${i}`, clock: clock.read, gateways: () => gateways }),
        );
        remote.admit('a', plan, 0);
        for (const { pass, cost } of before) {
          clock.pass(pass);
          remote.admit('a', plan, cost);
        }
        const existing = remote.look('a', plan);
        for (const counts of alone) counts.note('a', existing);
        const remaining = existing.readings.map((reading) => ({ ...reading, admitted: 0 }));
        for (const [i, { cost, pass }] of during.entries()) {
          clock.pass(Math.floor(pass / 20));
          if (alone[i % gateways]!.admit(charge(plan, cost)).verdict !== 'admitted') continue;
          for (const reading of remaining) {
            if (clock.now >= reading.resetAt) continue;
            reading.admitted += cost;
            // A share is at least one unit, so that every gateway can admit something.
            if (reading.window.limit >= gateways)
              expect(reading.admitted).toBeLessThanOrEqual(remainingIn(reading));
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('the reconciliation for the remote is what was admitted alone, less what it has charged after all', () => {
  const clock = new TestClock();
  const counts = createLocalCounters({ gateway: 'g', clock: clock.read, gateways: () => 1 });
  const remote = createEmbeddedState({ clock: clock.read });
  const plan = PLANS[0]!;
  counts.note('a', remote.admit('a', plan, 3));
  counts.inDoubt.begin('a');
  for (let i = 0; i < 6; i++) counts.admit(charge(plan, 1));
  expect(counts.take('a')).toBeNull();
  counts.inDoubt.end('a', 1, NO_SCOPES);
  expect(counts.take('a')?.reconciliation).toEqual({
    gateway: 'g',
    number: 1,
    ban: null,
    windows: plan.windows.map(() => ({ units: 3, openedAt: clock.now })),
  });
  expect(counts.take('a')).toBeNull();
});

test('the reconciliation has the ban that began here, with the limit as the remote knows it, and no older one', () => {
  const clock = new TestClock();
  const counts = createLocalCounters({ gateway: 'g', clock: clock.read, gateways: () => 2 });
  const plan = limits([window(4, MINUTE), window(1000, HOUR)], {
    ...ESCALATION,
    grace: 0,
    strikes: 1,
  });
  const strikeOut = () => {
    while (counts.admit(charge(plan, 1)).verdict !== 'banned');
    return { until: clock.now + MINUTE, since: clock.now, limit: plan.windows[0] };
  };
  const ban = strikeOut();
  expect(counts.take('a')?.reconciliation.ban).toEqual(ban);
  counts.admit(charge(plan, 1));
  expect(counts.take('a')).toBeNull();
});

test('a window that was over before the remote came back is not added', () => {
  const clock = new TestClock();
  const counts = createLocalCounters({ gateway: 'g', clock: clock.read, gateways: () => 1 });
  const plan = PLANS[0]!;
  counts.admit(charge(plan, 2));
  clock.pass(MINUTE);
  expect(counts.take('a')?.reconciliation.windows.map(({ units }) => units)).toEqual([0, 2]);
});

test('of windows of a scope only what counted in them is added, less what was charged there after all', () => {
  const clock = new TestClock();
  const counts = createLocalCounters({ gateway: 'g', clock: clock.read, gateways: () => 1 });
  const given = limits([
    window(20, MINUTE),
    scoped('login', 5, MINUTE),
    scoped('tag:search', 5, HOUR),
  ]);
  const units = () => counts.due('a')?.reconciliation.windows.map((one) => one.units);
  counts.admit(charge(given, 2));
  counts.admit(charge(given, 1, ['login']));
  counts.admit(charge(given, 3, ['login', 'tag:search']));
  expect(units()).toEqual([6, 4, 3]);
  counts.hold(charge(given, 1, ['login']));
  expect(units()).toEqual([6, 4, 3]);
  counts.inDoubt.begin('a');
  counts.admit(charge(given, 2, ['tag:search']));
  counts.inDoubt.end('a', 2, ['tag:search']);
  expect(units()).toEqual([6, 4, 3]);
  expect(counts.admit(charge(given, 1, ['login'])).verdict).toBe('limited');
  expect(counts.admit(charge(given, 1)).verdict).toBe('admitted');
  expect(units()).toEqual([7, 4, 3]);
});

test('a client refused in a scope before the outage gets no strike elsewhere', () => {
  const clock = new TestClock();
  const counts = createLocalCounters({ gateway: 'g', clock: clock.read, gateways: () => 1 });
  const remote = createEmbeddedState({ clock: clock.read });
  const given = limits([window(4, MINUTE), scoped('login', 1, MINUTE)]);
  remote.admit('a', given, 1, ['login']);
  counts.note('a', remote.admit('a', given, 1, ['login']));
  clock.pass(ESCALATION.grace);
  expect(counts.admit(charge(given, 4))).toMatchObject({ verdict: 'limited', strikes: 0 });
  expect(counts.admit(charge(given, 1, ['login']))).toMatchObject({
    verdict: 'limited',
    strikes: 1,
  });
});
