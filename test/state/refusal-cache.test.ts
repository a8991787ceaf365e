import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { remainingIn } from '../../src/limits/admission.ts';
import { freeIn } from '../../src/limits/ban-escalation.ts';
import type { Limits, Window } from '../../src/limits/limits.ts';
import { exactly } from '../../src/limits/plans.ts';
import { NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import { createEmbeddedState } from '../../src/state/embedded/counters.ts';
import { createRefusalCache } from '../../src/state/shared/refusal-cache.ts';
import { IN_FLIGHT } from '../../src/state/shared/unsent-refusals.ts';
import {
  calendar,
  ESCALATION,
  HOUR,
  limits,
  MINUTE,
  SECOND,
  scoped,
  TestClock,
  window,
} from '../support/limits.ts';

const KEEP = 5 * SECOND;
const ONE = limits([window(1, MINUTE)]);

const charge = (subject: string, given: Limits, cost: number) => ({
  subject,
  limits: given,
  cost,
  scopes: NO_SCOPES,
});

function open() {
  const clock = new TestClock();
  const state = createEmbeddedState({ clock: clock.read });
  const refused = createRefusalCache({ clock: clock.read, ttl: KEEP });
  let requested = 0;
  const admit = (subject: string, given: Limits = ONE, cost = 1, scopes: Scopes = NO_SCOPES) => {
    const charge = { subject, limits: given, cost, scopes };
    const existing = refused.decide(charge);
    if (existing) return existing;
    requested++;
    const { changes } = refused;
    const response = state.admit(subject, given, cost, scopes);
    refused.remember(charge, response, changes);
    return response;
  };
  return { clock, state, refused, admit, asked: () => requested };
}

test('a refusal is repeated without asking, and asked again when its time is over', () => {
  const { clock, admit, asked: send } = open();
  admit('a');
  for (let i = 0; i < 100; i++) expect(admit('a').verdict).toBe(i === -1 ? 'admitted' : 'limited');
  expect(send()).toBe(2);
  clock.pass(KEEP);
  expect(admit('a').verdict).toBe('limited');
  expect(send()).toBe(3);
  clock.pass(MINUTE - KEEP);
  expect(admit('a').verdict).toBe('admitted');
});

test('a refusal from before the clock of the state was set back is asked again', () => {
  const { clock, admit, asked: send } = open();
  admit('a');
  admit('a');
  clock.pass(-HOUR);
  expect(admit('a')).toMatchObject({ verdict: 'limited', retryAt: clock.now + MINUTE });
  expect(send()).toBe(3);
});

test('a refusal is asked again when counted refusals show that the clock was set back', () => {
  const given = limits([window(1, MINUTE, 'sliding')]);
  const { clock, state, refused, admit } = open();
  admit('key:a', given);
  admit('key:a', given);
  const counted = { subject: 'key:a', limits: given, count: 1, times: [clock.now], cause: null };
  clock.pass(-20 * SECOND);
  refused.apply(counted, state.look('key:a', given), refused.changes);
  const { verdict, retryAt } = admit('key:a', given);
  expect(verdict).toBe('limited');
  expect(retryAt - clock.now).toBeLessThanOrEqual(1.05 * MINUTE);
});

test.each([
  ['asked again', 'has ended', 0, 3],
  ['repeated', 'goes on', 1, 2],
])(
  'a refusal is %s if the counted refusals show that the wait of the state %s',
  (_, __, counted, calls) => {
    const { clock, state, refused, admit, asked: send } = open();
    admit('a');
    admit('a');
    clock.pass(ESCALATION.grace);
    admit('a');
    const [refusals] = refused.unsent.take(1);
    const freeRefusals = freeIn(ESCALATION, 1) - counted;
    const result = { ...state.look('a', ONE), freeRefusals };
    refused.apply(refusals!, result, refused.changes);
    expect(admit('a').verdict).toBe('limited');
    expect(send()).toBe(calls);
  },
);

test('never refuses what the state would admit, and says what it would say of the windows', () => {
  const plans = [
    limits([window(3, MINUTE), window(6, HOUR)], null),
    limits([window(4, MINUTE, 'sliding'), window(9, HOUR)], null),
    limits([window(3, MINUTE), calendar(6, HOUR, 'Asia/Kolkata')], null),
    limits([window(7, MINUTE), scoped('login', 2, MINUTE), scoped('tag:search', 5, HOUR)], null),
    limits(
      [scoped('tag:search', 3, MINUTE, 'sliding'), window(7, MINUTE), scoped('login', 4, HOUR)],
      null,
    ),
  ];
  const lists: readonly Scopes[] = [NO_SCOPES, ['login'], ['tag:search'], ['login', 'tag:search']];
  fc.assert(
    fc.property(
      fc.constantFrom(...plans),
      fc.array(
        fc.record({
          pass: fc.oneof(fc.nat(400), fc.nat(30_000)),
          cost: fc.nat(3),
          scopes: fc.constantFrom(...lists),
        }),
        {
          minLength: 5,
          maxLength: 80,
        },
      ),
      (plan, requests) => {
        const { clock, refused, admit } = open();
        const truth = createEmbeddedState({ clock: clock.read });
        for (const { pass, cost, scopes } of requests) {
          clock.pass(pass);
          const fromMemory = refused.decide({ subject: 'a', limits: plan, cost, scopes });
          const response = admit('a', plan, cost, scopes);
          const expected = truth.admit('a', plan, cost, scopes);
          expect(response.verdict).toBe(expected.verdict);
          expect(response.violated).toEqual(expected.violated);
          expect(response.retryAt).toBe(expected.retryAt);
          if (fromMemory) expect(fromMemory.readings).toEqual(expected.readings);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a smaller cost that may fit, and other limits, are for the state', () => {
  const { refused, admit } = open();
  const ten = limits([window(10, MINUTE)]);
  admit('a', ten, 8);
  expect(admit('a', ten, 5).verdict).toBe('limited');
  expect(refused.decide(charge('a', ten, 9))?.verdict).toBe('limited');
  expect(refused.decide(charge('a', ten, 2))).toBeNull();
  expect(refused.decide(charge('a', limits([window(10, MINUTE)]), 5))).toBeNull();
});

describe('a refusal by the windows of a scope', () => {
  const given = limits([
    window(9, MINUTE),
    scoped('login', 1, MINUTE),
    scoped('tag:search', 1, MINUTE),
  ]);
  const [login, search]: readonly Scopes[] = [['login'], ['tag:search']];

  test('refuses nothing else, and outlives what is admitted elsewhere, whose charge it shows', () => {
    const { admit, asked: send } = open();
    for (let i = 0; i < 2; i++) admit('a', given, 1, login);
    for (let i = 0; i < 3; i++) {
      expect(admit('a', given, 1).verdict).toBe('admitted');
      const before = send();
      const refusal = admit('a', given, 1, login);
      expect(refusal).toMatchObject({ verdict: 'limited', violated: given.windows[1] });
      expect(remainingIn(refusal.readings[0]!)).toBe(7 - i);
      expect(send()).toBe(before);
    }
  });

  test('strikes by itself, and the first one of another scope is for the state', () => {
    const { admit, asked: send, clock, refused } = open();
    for (let i = 0; i < 2; i++) admit('a', given, 1, login);
    admit('a', given, 1, search);
    clock.pass(ESCALATION.grace);
    const before = send();
    expect(admit('a', given, 1, search)).toMatchObject({ verdict: 'limited', strikes: 0 });
    expect(send()).toBe(before + 1);
    clock.pass(ESCALATION.grace);
    for (let i = 0; i < 6; i++) admit('a', given, 1, [login, search][i % 2]!);
    expect(send()).toBe(before + 1);
    const taken = refused.unsent.take(10);
    expect(taken.map(({ cause, count }) => [(cause as Window).scope, count])).toEqual([
      ['login', 3],
      ['tag:search', 3],
    ]);
  });
});

describe('strikes', () => {
  test('are counted from the grace on, with the times of as many as make a ban', () => {
    const { clock, refused, admit } = open();
    admit('a');
    for (let i = 0; i < 5; i++) admit('a');
    expect(refused.unsent.take(10)).toEqual([]);
    clock.pass(ESCALATION.grace);
    for (let i = 0; i < 30; i++) admit('a');
    const taken = refused.unsent.take(10);
    expect(taken).toHaveLength(1);
    expect(taken[0]!.count).toBe(30);
    expect(taken[0]!.times).toEqual(new Array(ESCALATION.strikes).fill(clock.now));
    expect(refused.unsent.take(10)).toEqual([]);
  });

  test('are refusals beyond the free ones, as the state would count them', () => {
    const { clock, admit } = open();
    const given = limits([window(1, MINUTE)], { ...ESCALATION, ...exactly(3) });
    admit('a', given);
    admit('a', given);
    clock.pass(ESCALATION.grace);
    const responses = Array.from({ length: 4 }, () => admit('a', given));
    expect(responses.map(({ freeRefusals }) => freeRefusals)).toEqual([1, 0, 0, 0]);
    expect(responses.map(({ strikes }) => strikes)).toEqual([0, 0, 1, 2]);
    expect(responses.map(({ by }) => by)).toEqual(new Array(4).fill('memory'));
  });

  test('of requests in flight are sent as such', () => {
    const { clock, refused } = open();
    refused.unsent.add('a', ONE, IN_FLIGHT, clock.now);
    expect(refused.unsent.take(10)).toEqual([
      { subject: 'a', limits: ONE, count: 1, times: [clock.now], cause: IN_FLIGHT },
    ]);
  });

  test('are none for a plan without an escalation', () => {
    const { clock, refused, admit } = open();
    const lenient = limits([window(1, MINUTE)], null);
    admit('a', lenient);
    admit('a', lenient);
    clock.pass(SECOND);
    admit('a', lenient);
    expect(refused.unsent.take(10)).toEqual([]);
  });

  test('that became a ban are answered with it, and its beginning is reported once', () => {
    const { clock, refused, admit } = open();
    admit('a');
    admit('a');
    clock.pass(ESCALATION.grace);
    admit('a');
    const [strikes] = refused.unsent.take(1);
    const bannedUntil = clock.now + 10 * MINUTE;
    const result = {
      ...admit('a'),
      verdict: 'banned' as const,
      bannedUntil,
      banBegins: true,
      strikes: 0,
    };
    expect(refused.apply(strikes!, result, refused.changes)).toBe(true);
    expect(admit('a')).toMatchObject({
      verdict: 'banned',
      bannedUntil,
      retryAt: bannedUntil,
      banBegins: true,
    });
    expect(admit('a')).toMatchObject({ verdict: 'banned', banBegins: false });
  });
});

test('what has changed is forgotten, also by an answer that was under way', () => {
  const { refused, state, admit } = open();
  admit('a');
  admit('a');
  expect(refused.decide(charge('a', ONE, 1))).not.toBeNull();
  refused.forget('a');
  expect(refused.decide(charge('a', ONE, 1))).toBeNull();
  const { changes } = refused;
  const stale = state.admit('a', ONE, 1);
  refused.forget('a');
  refused.remember(charge('a', ONE, 1), stale, changes);
  expect(refused.decide(charge('a', ONE, 1))).toBeNull();
});

test('memory is bounded', () => {
  const clock = new TestClock();
  const state = createEmbeddedState({ clock: clock.read });
  const refused = createRefusalCache({ clock: clock.read, ttl: KEEP, size: 100 });
  for (let i = 0; i < 5_000; i++) {
    state.admit(`${i}`, ONE, 1);
    refused.remember(charge(`${i}`, ONE, 1), state.admit(`${i}`, ONE, 1), 0);
  }
  expect(refused.size).toBeLessThanOrEqual(200);
});
