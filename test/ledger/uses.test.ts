import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HighestUses } from '../../src/ledger/highest.ts';
import { UsesTables } from '../../src/ledger/uses.ts';
import { type Admission, admit } from '../../src/limits/admission.ts';
import { newCounters } from '../../src/limits/counters.ts';
import type { Window } from '../../src/limits/limits.ts';
import { simulateLimit } from '../../src/limits/plan-simulation.ts';
import type { Scopes } from '../../src/limits/scopes.ts';
import type { RequestTrace } from '../../src/observe/events.ts';
import { HOUR, limits, MINUTE, SECOND, scoped, TestClock, window } from '../support/limits.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const SUBJECTS = ['key:key_1', 'key:key_2', 'key:key_3'];

const trace = (subject: string, admission: Admission, cost: number) =>
  ({ subject, admission, usage: admission, cost, scopes: [] }) as unknown as RequestTrace;

interface Sent {
  readonly subject?: string;
  readonly process?: number;
  readonly cost?: number;
  readonly plan?: string;
  readonly by?: Pick<Admission, 'by'>;
  readonly scopes?: Scopes;
}

/**
 * Keys with these windows on several processes, each of which knows only its own admitted requests.
 */
function carrying(
  windows: readonly Window[],
  { processes = 1, budget }: { processes?: number; budget?: number | undefined } = {},
) {
  const clock = new TestClock(NOON);
  const all = Array.from({ length: processes }, () => new UsesTables(budget));
  const countersOf = new Map(SUBJECTS.map((subject) => [subject, newCounters(windows)]));
  const inForce = limits([...windows], null);
  const admitted: { subject: string; at: number; cost: number }[] = [];
  return {
    clock,
    admitted,
    send(sent: Sent = {}) {
      const { subject = SUBJECTS[0]!, process = 0, cost = 1, plan = 'free', by = {} } = sent;
      const counters = countersOf.get(subject)!;
      const admission = { ...admit(counters, inForce, cost, clock.now, sent.scopes), ...by };
      const { verdict } = admission;
      if (verdict !== 'admitted') return verdict;
      all[process]!.note(plan, trace(subject, admission, cost));
      admitted.push({ subject, at: clock.now, cost });
      return verdict;
    },
    /** Of all processes, as their slices are added up. */
    known(requested: readonly Window[], plan = 'free') {
      const sum = new UsesTables();
      for (const one of all) sum.add(one.pack());
      const none = { floor: 0, local: false, rows: [] };
      const windows = requested.map((window) => sum.table(plan, window, 'key')?.all ?? none);
      return { costliest: sum.costliest, windows };
    },
  };
}

const usesIn = (row: readonly number[]) =>
  row.flatMap((at, i) => (i % 2 === 0 ? [{ at, used: row[i + 1]! }] : []));

/** Units that the window alone refuses, counted one by one. */
function refusedBy(one: Window, requests: readonly { at: number; cost: number }[]): number {
  const counters = newCounters([one]);
  const refused = requests.filter(
    ({ at, cost }) => admit(counters, limits([one], null), cost, at).verdict !== 'admitted',
  );
  return refused.reduce((sum, { cost }) => sum + cost, 0);
}

describe('simulated refusals of a smaller limit', () => {
  const request = fc.record({
    pause: fc.oneof(fc.integer({ min: 0, max: 9_000 }), fc.integer({ min: 0, max: 200 * SECOND })),
    subject: fc.constantFrom(...SUBJECTS),
    process: fc.nat(2),
    cost: fc.constantFrom(1, 1, 1, 3),
  });
  const traffic = {
    requests: fc.array(request, { maxLength: 400 }),
    kind: fc.constantFrom<Window['kind']>('fixed', 'sliding'),
    limit: fc.integer({ min: 4, max: 30 }),
    smaller: fc.integer({ min: 1, max: 30 }),
    budget: fc.constantFrom(undefined, 12, 60),
  };

  type Request = typeof request extends fc.Arbitrary<infer One> ? One : never;

  /** Three processes after these requests. */
  function carried(inForce: Window[], requests: readonly Request[], budget?: number) {
    const { clock, send, known, admitted } = carrying(inForce, { processes: 3, budget });
    for (const { pause, ...one } of requests) {
      clock.pass(pause);
      send(one);
    }
    return { known, admitted };
  }

  test('are within the reported range, for any distribution of requests and dropped data', () => {
    fc.assert(
      fc.property(fc.record(traffic), ({ requests, kind, limit, smaller, budget }) => {
        const inForce = [window(limit, MINUTE, kind), window(3 * limit, HOUR)];
        const tried = [window(smaller, MINUTE, kind), window(2 * smaller, HOUR)];
        const { known, admitted } = carried(inForce, requests, budget);
        const { windows, costliest } = known(tried);
        for (const [i, one] of tried.entries()) {
          const { floor, rows } = windows[i]!;
          for (const subject of SUBJECTS) {
            const refused = refusedBy(
              one,
              admitted.filter((each) => each.subject === subject),
            );
            const row = new Map(rows).get(subject);
            const result = row ? simulateLimit(one, usesIn(row), { floor, costliest }) : null;
            if (result === null) expect(refused === 0 || floor > one.limit).toBe(true);
            else {
              expect(result.refused.least).toBeLessThanOrEqual(refused);
              expect(refused).toBeLessThanOrEqual(result.refused.most ?? Number.POSITIVE_INFINITY);
              expect(refused).toBeGreaterThan(0);
            }
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test('are exact for a fixed window, if every request costs one and nothing was dropped', () => {
    fc.assert(
      fc.property(fc.record(traffic), ({ requests, limit, smaller }) => {
        const one = window(smaller, MINUTE);
        const ofOne = requests.map((each) => ({ ...each, cost: 1 as const }));
        const { known, admitted } = carried([window(limit, MINUTE)], ofOne);
        const { windows, costliest } = known([one]);
        for (const subject of SUBJECTS) {
          const row = new Map(windows[0]!.rows).get(subject) ?? [];
          const result = simulateLimit(one, usesIn(row), { floor: windows[0]!.floor, costliest });
          const refused = refusedBy(
            one,
            admitted.filter((each) => each.subject === subject),
          );
          expect(result?.refused ?? { least: 0, most: 0 }).toEqual({
            least: refused,
            most: refused,
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  test('include the peak, its time, and the number of peaks', () => {
    const { clock, send, known: existing } = carrying([window(10, MINUTE)]);
    for (const units of [4, 9, 6]) {
      for (let i = 0; i < units; i++) send();
      clock.pass(2 * MINUTE);
    }
    const { windows, costliest } = existing([window(5, MINUTE)]);
    const result = simulateLimit(window(5, MINUTE), usesIn(windows[0]!.rows[0]![1]), {
      floor: 0,
      costliest,
    });
    expect(result).toEqual({
      peak: 9,
      at: NOON + 3 * MINUTE,
      times: 2,
      refused: { least: 5, most: 5 },
    });
    expect(
      simulateLimit(window(9, MINUTE), [{ at: NOON, used: 9 }], { floor: 0, costliest: 1 }),
    ).toBeNull();
  });

  test('are unknown if a request costs more than the limit, because it opens no window', () => {
    const uses = [{ at: NOON, used: 8 }];
    expect(simulateLimit(window(3, MINUTE), uses, { floor: 0, costliest: 4 })).toMatchObject({
      refused: { least: 0, most: null },
    });
  });
});

describe('recorded peaks', () => {
  test('have the highest use of each window, from all processes', () => {
    const { clock, send, known: existing } = carrying([window(100, MINUTE)], { processes: 2 });
    for (let i = 0; i < 7; i++) send({ process: i % 2 });
    clock.pass(MINUTE);
    send({ process: 1 });
    expect(existing([window(100, MINUTE)]).windows).toEqual([
      { floor: 0, local: false, rows: [['key:key_1', [NOON + MINUTE, 7, NOON + 2 * MINUTE, 1]]] },
    ]);
  });

  test('exclude local decisions, and report that their use is unknown', () => {
    const { clock, send, known: existing } = carrying([window(100, MINUTE)], { processes: 2 });
    send();
    clock.pass(MINUTE);
    send({ process: 1, by: { by: 'local' } });
    const requested = [window(100, MINUTE), window(100, HOUR)];
    expect(existing(requested).windows).toEqual([
      { floor: 0, local: true, rows: [['key:key_1', [NOON + MINUTE, 1]]] },
      { floor: 0, local: false, rows: [] },
    ]);
  });

  test('belong to one plan and its windows', () => {
    const { send, known: existing } = carrying([window(100, MINUTE)]);
    send();
    send({ plan: 'pro' });
    const rows = (plan: string, requested: Window) =>
      existing([requested], plan).windows[0]!.rows.length;
    expect([rows('free', window(1, MINUTE)), rows('pro', window(1, MINUTE))]).toEqual([1, 1]);
    expect([rows('gold', window(1, MINUTE)), rows('free', window(1, HOUR))]).toEqual([0, 0]);
    expect(rows('free', window(1, MINUTE, 'sliding'))).toBe(0);
  });

  test('know the windows of an API beside those of all, and none of operations', () => {
    const [all, notes, login] = [
      window(100, MINUTE),
      scoped('@notes', 100, MINUTE),
      scoped('login', 100, MINUTE),
    ];
    const { send, known: existing } = carrying([all, notes, login]);
    send();
    send({ scopes: ['@notes'] });
    const uses = (requested: Window) => existing([requested]).windows[0]!.rows[0]?.[1][1];
    expect([all, notes, login].map(uses)).toEqual([2, 1, undefined]);
  });

  test('count a window since all processes have it', () => {
    const plans = (...windows: Window[]) =>
      new Map([['free', { name: 'free', count: 'key' as const, windows }]]);
    const uses = new UsesTables();
    const since = (span: number) => uses.countedSince('free', window(1, span), 'key');
    uses.noteWindows('one', NOON, plans(window(1, MINUTE)));
    uses.noteWindows('one', NOON + 5, plans(window(1, MINUTE), window(9, HOUR)));
    expect([since(MINUTE), since(HOUR)]).toEqual([0, NOON + 5]);
    uses.noteWindows('two', NOON + 6, plans(window(1, MINUTE)));
    expect([since(MINUTE), since(HOUR)]).toEqual([0, Number.POSITIVE_INFINITY]);
    uses.noteWindows('two', NOON + 7, plans(window(1, HOUR)));
    expect([since(MINUTE), since(HOUR)]).toEqual([Number.POSITIVE_INFINITY, NOON + 7]);
    expect(uses.countedSince('free', window(1, HOUR), 'account')).toBe(Number.POSITIVE_INFINITY);
  });
});

test('keep the highest of too many windows, and report what may be missing', () => {
  const table = new HighestUses();
  for (let i = 0; i < 1_000; i++) table.note(`key:${i % 10}`, i, (i * 7) % 1_000);
  table.shrink(100);
  expect(table.weight).toBeLessThanOrEqual(100);
  const kept = [...table.rows.values()].flatMap(usesIn).map(({ used }) => used);
  expect(kept.sort((a, b) => a - b)).toEqual(Array.from(kept, (_, i) => table.floor + 1 + i));
  expect(kept.at(-1)).toBe(999);
  const { weight } = table;
  table.note('key:1', 1, table.floor);
  expect(table.weight).toBe(weight);
});

test('keep some of too many windows with equal use', () => {
  const table = new HighestUses();
  for (let i = 0; i < 1_000; i++) table.note(`key:${i}`, 1, 60);
  table.shrink(100);
  expect(table.floor).toBe(60);
  expect(table.rows.size).toBeGreaterThan(4);
  expect(table.weight).toBeLessThanOrEqual(100);
});
