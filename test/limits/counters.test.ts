import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  adoptWindows,
  type Counters,
  eachWindow,
  newCounters,
  newStrikeState,
  staleAt,
} from '../../src/limits/counters.ts';
import { KIND_NAMES, kindOf, meterOf, windowId } from '../../src/limits/kinds.ts';
import type { Window } from '../../src/limits/limits.ts';
import { DAY, HOUR, LADDER, MINUTE, window } from '../support/limits.ts';

const NOW = Date.UTC(2026, 0, 1);

/** Lists as a plan has them: each span once, the shortest first, of any kinds and limits. */
const lists = fc
  .uniqueArray(
    fc.record({
      limit: fc.integer({ min: 1, max: 100 }),
      span: fc.constantFrom(1_000, 7_001, MINUTE, HOUR, DAY),
      kind: fc.constantFrom(...KIND_NAMES),
    }),
    { minLength: 1, maxLength: 4, selector: ({ span }) => span },
  )
  .map((ones) => ones.map(({ limit, span, kind }) => window(limit, span, kind)).sort((a, b) => a.span - b.span));

/** What is used in each window, by its id. */
function usedIn(ledger: Counters, now: number): Map<string, number> {
  const used = new Map<string, number>();
  eachWindow(ledger.windows, (one, at, meter) => used.set(windowId(one), meter.used(ledger.cells, at, one, now)));
  return used;
}

/** A ledger with other units in each window: 1, 2, … */
function charged(windows: readonly Window[], now = NOW): Counters {
  const ledger = newCounters(windows);
  let units = 0;
  eachWindow(windows, (one, at, meter) => meter.charge(ledger.cells, at, one, ++units, now));
  return ledger;
}

describe('a ledger', () => {
  test('has a run of cells for each window, one after the other and all zero', () => {
    fc.assert(
      fc.property(lists, (windows) => {
        const { cells, conduct } = newCounters(windows);
        let end = 0;
        eachWindow(windows, (one, at, meter) => {
          expect(meter).toBe(kindOf(one).meter);
          expect(at).toBe(end);
          end += meter.size;
        });
        expect(cells).toEqual(new Array(end).fill(0));
        expect(conduct).toBeNull();
      }),
    );
  });
});

describe('a ledger that changes its windows', () => {
  test('keeps the count of each that has the kind and span of one before, and has fresh ones for the others', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const ledger = charged(before);
        const known = usedIn(ledger, NOW);
        adoptWindows(ledger, after);
        expect(ledger.windows).toBe(after);
        const fresh = newCounters(after).cells;
        expect(ledger.cells).toHaveLength(fresh.length);
        eachWindow(after, (one, at, { size }) => {
          const cells = ledger.cells.slice(at, at + size);
          if (!known.has(windowId(one))) expect(cells).toEqual(fresh.slice(at, at + size));
        });
        expect(usedIn(ledger, NOW)).toEqual(
          new Map(after.map((one) => [windowId(one), known.get(windowId(one)) ?? 0])),
        );
      }),
    );
  });

  test('counts on in them as if they had always been these, whatever their limits are now', () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 50 }), fc.nat({ max: 2 * DAY }), (before, limit, passed) => {
        const [ledger, untouched] = [charged(before), charged(before)];
        adoptWindows(ledger, before.map((one) => ({ ...one, limit })).reverse());
        expect(usedIn(ledger, NOW + passed)).toEqual(usedIn(untouched, NOW + passed));
        adoptWindows(ledger, before);
        expect(ledger).toEqual(untouched);
      }),
    );
  });

  test('is left alone by the list that it counts in already', () => {
    const windows = [window(5, MINUTE)];
    const ledger = charged(windows);
    const { cells } = ledger;
    adoptWindows(ledger, windows);
    expect(ledger.cells).toBe(cells);
  });

  describe('still knows what was told about coming back', () => {
    const two = [window(5, MINUTE), window(9, HOUR)];
    const [minute, hour] = two as [Window, Window];
    const others = KIND_NAMES.filter((kind) => kind !== minute.kind);

    test.each<[name: string, windows: Window[], keeps: boolean]>([
      ['the same list once more: yes', two.map((one) => ({ ...one })), true],
      ['the same limits by other names: yes', two.map((one) => ({ ...one, name: 'other' })), true],
      ['another limit: no', [minute, { ...hour, limit: 10 }], false],
      ['another span: no', [minute, { ...hour, span: DAY }], false],
      ...others.map((kind): [string, Window[], boolean] => [
        `the kind ${kind}: no`,
        [{ ...minute, kind }, hour],
        false,
      ]),
      ['one window less: no', [minute], false],
      ['one window more: no', [...two, window(99, DAY)], false],
    ])('%s', (_name, windows, keeps) => {
      const told = { refusedAt: NOW, refusedUntil: NOW + 1 };
      const conduct = { ...newStrikeState(), ...told, strikes: [NOW], bannedUntil: NOW + 9, rung: 2 };
      const ledger = { ...charged(two), conduct: { ...conduct } };
      adoptWindows(ledger, windows);
      expect(ledger.conduct).toEqual(keeps ? conduct : { ...conduct, refusedAt: 0, refusedUntil: 0 });
    });
  });
});

describe('a ledger is stale', () => {
  test('when the last of its windows is, if nobody was ever refused', () => {
    fc.assert(
      fc.property(lists, (windows) => {
        const ledger = charged(windows);
        const stale = staleAt(ledger, LADDER);
        expect([...usedIn(ledger, stale).values()].every((used) => used === 0)).toBe(true);
        const ends: number[] = [];
        eachWindow(windows, (one, at) => ends.push(meterOf(one).staleAt(ledger.cells, at, one)));
        expect(stale).toBe(Math.max(...ends));
      }),
    );
  });

  const minute = [window(5, MINUTE)];
  test.each([
    ['a refusal in force', { refusedUntil: NOW + HOUR }, LADDER, NOW + HOUR],
    ['a ban in force', { bannedUntil: NOW + HOUR }, null, NOW + HOUR],
    ['strikes that may still count', { cleanSince: NOW + 1 }, LADDER, NOW + 1 + LADDER.window],
    ['a rung to forget', { rung: 3, cleanSince: NOW }, LADDER, NOW + 3 * LADDER.decay],
    ['a rung that nobody looks at', { rung: 3, cleanSince: NOW }, null, NOW + MINUTE],
    ['nothing but its window', {}, LADDER, NOW + MINUTE],
  ] as const)('not before its conduct says no more: %s', (_name, conduct, escalation, stale) => {
    const ledger = { ...charged(minute), conduct: { ...newStrikeState(), ...conduct } };
    expect(staleAt(ledger, escalation)).toBe(stale);
  });
});
