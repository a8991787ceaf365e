import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Admission,
  admit,
  bindingReading,
  excessOf,
  look,
  remainingIn,
} from '../../src/limits/admission.ts';
import {
  type Counters,
  eachWindow,
  newCounters,
  newStrikeState,
} from '../../src/limits/counters.ts';
import { KIND_NAMES, meterOf } from '../../src/limits/kinds.ts';
import type { Limits, Window } from '../../src/limits/limits.ts';
import { NO_SCOPES } from '../../src/limits/scopes.ts';
import {
  DAY,
  ESCALATION,
  HOUR,
  hasSpan,
  limits,
  MINUTE,
  SECOND,
  scoped,
  window,
  withExcess,
} from '../support/limits.ts';

const NOW = Date.UTC(2026, 0, 1);

/** Limits of one to three windows, of every kind and mixed, without bans. */
const lenient = fc
  .uniqueArray(
    fc
      .record({
        limit: fc.integer({ min: 1, max: 10 }),
        span: fc.constantFrom(SECOND, 7_001, MINUTE, HOUR),
        kind: fc.constantFrom(...KIND_NAMES),
      })
      .filter(hasSpan),
    { minLength: 1, maxLength: 3, selector: ({ span }) => span },
  )
  .map((ones) =>
    ones.map(({ limit, span, kind }) => window(limit, span, kind)).sort((a, b) => a.span - b.span),
  )
  .map((windows) => limits(windows, null));
const requests = fc.array(
  fc.record({
    pass: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 20_000 })),
    cost: fc.nat({ max: 4 }),
  }),
  { minLength: 1, maxLength: 60 },
);

/**
 * Sends requests to new counters; calls `visit` with each answer, and the counters before and after
 * it.
 */
function send(
  given: Limits,
  sent: readonly { pass: number; cost: number }[],
  visit: (response: Admission, cost: number, before: Counters, counters: Counters) => void,
): void {
  const counters = newCounters(given.windows);
  let now = NOW;
  for (const { pass, cost } of sent) {
    now += pass;
    const before = structuredClone({ ...counters, windows: [] });
    visit(admit(counters, given, cost, now), cost, { ...before, windows: given.windows }, counters);
  }
}

const remaining = ({ readings }: Pick<Admission, 'readings'>) => readings.map(remainingIn);

describe('a request', () => {
  test('is charged to every window when it fits into all of them, and to none when it does not', () => {
    let refusals = 0;
    fc.assert(
      fc.property(lenient, requests, (given, sent) => {
        send(given, sent, (response, cost, before, counters) => {
          const others = remaining(look(before, given, response.now));
          const fits = others.every((units) => cost <= units);
          expect(response.verdict).toBe(fits ? 'admitted' : 'limited');
          expect(remaining(response)).toEqual(fits ? others.map((units) => units - cost) : others);
          // The longest window that it does not fit into.
          const longest = others.findLastIndex((units) => cost > units);
          expect(response.violated).toBe(given.windows[longest] ?? null);
          if (fits) return;
          refusals++;
          expect(counters.cells).toEqual(before.cells);
        });
      }),
    );
    expect(refusals).toBeGreaterThan(0);
  });

  test('that is refused fits at the returned retry time, and not a millisecond before', () => {
    fc.assert(
      fc.property(lenient, requests, (given, sent) => {
        send(given, sent, (response, cost, before) => {
          if (response.verdict === 'admitted') {
            expect(response).toMatchObject({ retryAt: 0, violated: null });
            return;
          }
          expect(response.retryAt).toBeGreaterThan(response.now);
          if (given.windows.some(({ limit }) => cost > limit)) return;
          const verdictAt = (now: number) =>
            admit({ ...before, cells: [...before.cells] }, given, cost, now).verdict;
          expect(verdictAt(response.retryAt - 1)).toBe('limited');
          expect(verdictAt(response.retryAt)).toBe('admitted');
        });
      }),
    );
  });

  test('gets the same answer under limits that are created again for it', () => {
    fc.assert(
      fc.property(lenient, requests, (given, sent) => {
        const [kept, copied] = [newCounters(given.windows), newCounters(given.windows)];
        const banning = limits([...given.windows]);
        let now = NOW;
        for (const { pass, cost } of sent) {
          now += pass;
          const same = admit(kept, banning, cost, now);
          expect(admit(copied, structuredClone(banning), cost, now)).toEqual(same);
        }
      }),
    );
  });
});

describe('refusals', () => {
  const tight = limits([window(1, HOUR)]);

  test('create a strike state only if there is an escalation', () => {
    const counters = newCounters(tight.windows);
    for (const given of [{ ...tight, escalation: null }, tight]) {
      expect(counters.strikeState).toBeNull();
      for (let i = 0; i < 3; i++) admit(counters, given, 1, NOW);
    }
    expect(counters.strikeState).toMatchObject({ refused: { at: NOW, until: NOW + HOUR } });
  });

  test.each([
    ['until its end, where the windows have room', 0, 2 * HOUR, 'banned', 2 * HOUR],
    ['until the window has room, where that is later', 1, 20 * MINUTE, 'banned', HOUR],
    ['not after its end', 0, 0, 'admitted', 0],
  ] as const)('by a ban hold %s', (_name, used, banned, verdict, retryAfter) => {
    const counters = newCounters(tight.windows);
    if (used > 0) admit(counters, tight, used, NOW);
    counters.strikeState = { ...newStrikeState(), bannedUntil: NOW + banned, level: 1 };
    const response = admit(counters, tight, 1, NOW);
    expect(response).toMatchObject({
      verdict,
      retryAt: retryAfter && NOW + retryAfter,
      banBegins: false,
      strikes: 0,
    });
    expect(response.bannedUntil).toBe(banned && NOW + banned);
  });

  test('by a ban charge nothing and note nothing', () => {
    const counters = newCounters(tight.windows);
    counters.strikeState = { ...newStrikeState(), bannedUntil: NOW + HOUR, level: 1 };
    const before = structuredClone(counters);
    for (let i = 0; i < 20; i++) admit(counters, tight, 1, NOW + i * ESCALATION.grace);
    expect(counters).toEqual(before);
  });
});

describe('a look', () => {
  test('returns what a request of cost 0 would get, and changes nothing', () => {
    fc.assert(
      fc.property(lenient, requests, (given, sent) => {
        send(given, sent, ({ now }, _cost, _before, counters) => {
          const kept = structuredClone(counters);
          const seen = look(counters, given, now);
          expect(counters).toEqual(kept);
          expect(seen).toEqual(admit(kept, given, 0, now));
        });
      }),
    );
  });

  test('under other limits keeps the windows of the counters', () => {
    const given = limits([window(3, MINUTE)]);
    const counters = newCounters(given.windows);
    for (let i = 0; i < 4; i++) admit(counters, given, 1, NOW);
    const kept = structuredClone(counters);
    expect(remaining(look(counters, limits([window(5, MINUTE), window(9, DAY)]), NOW))).toEqual([
      2, 9,
    ]);
    expect(counters).toEqual(kept);
    expect(counters.windows).toBe(given.windows);
  });

  test('never returns fewer than 0 units, also when the limit was lowered below what is used', () => {
    const counters = newCounters([window(9, MINUTE)]);
    eachWindow(counters.windows, (one, at) => meterOf(one).charge(counters.cells, at, one, 9, NOW));
    expect(remaining(look(counters, limits([window(4, MINUTE)]), NOW))).toEqual([0]);
  });
});

describe('the binding window', () => {
  const reading = (span: number, remaining: number) => ({
    window: window(10, span),
    used: 10 - remaining,
    resetAt: NOW + span,
  });
  const [minute, hour, day] = [MINUTE, HOUR, DAY];

  test.each([
    [[reading(minute, 3)], minute],
    [[reading(minute, 3), reading(day, 9)], minute],
    [[reading(minute, 3), reading(day, 2)], day],
    [[reading(minute, 3), reading(hour, 3), reading(day, 4)], hour],
    [[reading(minute, 0), reading(hour, 0), reading(day, 0)], day],
  ])('%#: has the fewest units left, and of equals it is the longer one', (readings, span) => {
    expect(bindingReading(readings, NO_SCOPES)?.window.span).toBe(span);
  });

  test('may be one of the API of the request, not one of an operation', () => {
    const inNotes = { ...reading(minute, 1), window: scoped('@notes', 10, MINUTE) };
    const inLogin = { ...reading(minute, 0), window: scoped('login', 10, MINUTE) };
    const readings = [reading(hour, 2), inNotes, inLogin];
    expect(bindingReading(readings, ['@notes', 'login'])).toBe(inNotes);
    expect(bindingReading(readings, ['@files', 'login'])).toBe(readings[0]);
    expect(bindingReading([inNotes, inLogin], ['@files'])).toBe(inNotes);
    expect(bindingReading([inLogin], ['@files', 'login'])).toBeNull();
  });
});

describe('a window that does not refuse', () => {
  const one = fc.record({
    limit: fc.integer({ min: 1, max: 6 }),
    span: fc.constantFrom(MINUTE, HOUR),
    kind: fc.constantFrom('fixed', 'sliding', 'calendar'),
  });
  const watchable = one
    .filter(hasSpan as (given: object) => boolean)
    .map(({ limit, span, kind }) => window(limit, span, kind as Window['kind']));
  const overOf = ({ readings }: Admission) => readings[0]!.unfit;

  test('and only watches reports exactly the requests that it would have refused', () => {
    let reported = 0;
    fc.assert(
      fc.property(watchable, requests, (enforced, sent) => {
        const given = limits([enforced], null);
        const watched = limits([withExcess('watch', enforced)], null);
        const [refusing, watching] = [newCounters(given.windows), newCounters(watched.windows)];
        let now = NOW;
        for (const { pass, cost } of sent) {
          now += pass;
          const { verdict } = admit(refusing, given, cost, now);
          const response = admit(watching, watched, cost, now);
          expect(response.verdict).toBe('admitted');
          expect(overOf(response)).toBe(verdict === 'limited' || undefined);
          expect(watching.cells).toEqual(refusing.cells);
          if (verdict === 'limited') reported++;
        }
      }),
    );
    expect(reported).toBeGreaterThan(0);
  });

  test('and has overage counts every unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.nat({ max: 4 })), (limit, costs) => {
        const given = limits([withExcess('overage', window(limit, HOUR))], null);
        const counters = newCounters(given.windows);
        let used = 0;
        for (const cost of costs) {
          const response = admit(counters, given, cost, NOW);
          const before = Math.max(used, limit);
          used += cost;
          expect(response.readings[0]!.used).toBe(used);
          const units = Math.max(0, used - before);
          const excesses = excessOf(response, cost, []).filter((excess) => excess.units > 0);
          expect(excesses.map((excess) => excess.units)).toEqual(units > 0 ? [units] : []);
        }
      }),
    );
  });

  test('is binding only if no window refuses, and if it only watches also none has overage', () => {
    const reading = (given: Window, remaining: number) => ({
      window: given,
      used: given.limit - remaining,
      resetAt: NOW,
    });
    const watched = reading(withExcess('watch', window(9, MINUTE)), 0);
    const overage = reading(withExcess('overage', window(9, HOUR)), 1);
    const refusing = reading(window(9, DAY), 2);
    expect(bindingReading([watched, overage, refusing], NO_SCOPES)).toBe(refusing);
    expect(bindingReading([watched, overage], NO_SCOPES)).toBe(overage);
    expect(bindingReading([watched], NO_SCOPES)).toBe(watched);
  });

  test('reports nothing of another scope, of a refusal and of a local decision', () => {
    const watched = { ...withExcess('watch', window(1, MINUTE)), scope: 'login' };
    const readings = [{ window: watched, used: 1, resetAt: NOW, unfit: true as const }];
    const base = { ...admit(newCounters([]), limits([], null), 0, NOW), readings };
    const response: Admission = { ...base, exceeds: true };
    expect(excessOf(response, 2, ['login'])).toEqual([{ window: watched, units: 2 }]);
    expect(excessOf(response, 2, [])).toEqual([]);
    expect(excessOf({ ...response, verdict: 'limited' }, 2, ['login'])).toEqual([]);
    expect(excessOf({ ...response, by: 'local' }, 2, ['login'])).toEqual([]);
  });
});
