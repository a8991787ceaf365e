import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  adoptWindows,
  type Counters,
  eachWindow,
  newCounters,
  newStrikeState,
  noWait,
  staleAt,
} from '../../src/limits/counters.ts';
import { KIND_NAMES, kindOf, meterOf, windowId } from '../../src/limits/kinds.ts';
import type { Window } from '../../src/limits/limits.ts';
import { DAY, HOUR, hasSpan, MINUTE, window } from '../support/limits.ts';

const NOW = Date.UTC(2026, 0, 1);

/** Lists as a plan has them: each span once, the shortest first, of any kinds and limits. */
const lists = fc
  .uniqueArray(
    fc
      .record({
        limit: fc.integer({ min: 1, max: 100 }),
        span: fc.constantFrom(1_000, 7_001, MINUTE, HOUR, DAY),
        kind: fc.constantFrom(...KIND_NAMES),
      })
      .filter(hasSpan),
    { minLength: 1, maxLength: 4, selector: ({ span }) => span },
  )
  .map((ones) =>
    ones.map(({ limit, span, kind }) => window(limit, span, kind)).sort((a, b) => a.span - b.span),
  );

/** What is used in each window, by its id. */
function usedIn(counters: Counters, now: number): Map<string, number> {
  const used = new Map<string, number>();
  eachWindow(counters.windows, (one, at, meter) =>
    used.set(windowId(one), meter.used(counters.cells, at, one, now)),
  );
  return used;
}

/** Counters with different units in each window: 1, 2, … */
function charged(windows: readonly Window[], now = NOW): Counters {
  const counters = newCounters(windows);
  let units = 0;
  eachWindow(windows, (one, at, meter) => meter.charge(counters.cells, at, one, ++units, now));
  return counters;
}

describe('counters', () => {
  test('has a run of cells for each window, one after the other and all zero', () => {
    fc.assert(
      fc.property(lists, (windows) => {
        const { cells, strikeState } = newCounters(windows);
        let end = 0;
        eachWindow(windows, (one, at, meter) => {
          expect(meter).toBe(kindOf(one).meter);
          expect(at).toBe(end);
          end += meter.size;
        });
        expect(cells).toEqual(new Array(end).fill(0));
        expect(strikeState).toBeNull();
      }),
    );
  });
});

describe('counters that change their windows', () => {
  test('keeps the count of each that has the kind and span of one before, and has fresh ones for the others', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const counters = charged(before);
        const existing = usedIn(counters, NOW);
        adoptWindows(counters, after);
        expect(counters.windows).toBe(after);
        const fresh = newCounters(after).cells;
        expect(counters.cells).toHaveLength(fresh.length);
        eachWindow(after, (one, at, { size }) => {
          const cells = counters.cells.slice(at, at + size);
          if (!existing.has(windowId(one))) expect(cells).toEqual(fresh.slice(at, at + size));
        });
        expect(usedIn(counters, NOW)).toEqual(
          new Map(after.map((one) => [windowId(one), existing.get(windowId(one)) ?? 0])),
        );
      }),
    );
  });

  test('counts on in them as if they had always been these, whatever their limits are now', () => {
    fc.assert(
      fc.property(
        lists,
        fc.integer({ min: 1, max: 50 }),
        fc.nat({ max: 2 * DAY }),
        (before, limit, passed) => {
          const [counters, untouched] = [charged(before), charged(before)];
          adoptWindows(counters, before.map((one) => ({ ...one, limit })).reverse());
          expect(usedIn(counters, NOW + passed)).toEqual(usedIn(untouched, NOW + passed));
          adoptWindows(counters, before);
          expect(counters).toEqual(untouched);
        },
      ),
    );
  });

  test('is left alone by the list that it counts in already', () => {
    const windows = [window(5, MINUTE)];
    const counters = charged(windows);
    const { cells } = counters;
    adoptWindows(counters, windows);
    expect(counters.cells).toBe(cells);
  });

  describe('keep the retry times of refusals', () => {
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
      const refused = { at: NOW, until: NOW + 1, refusals: 3 };
      const strikeState = {
        ...newStrikeState(),
        refused,
        strikes: [NOW],
        bannedUntil: NOW + 9,
        level: 2,
      };
      const counters = { ...charged(two), strikeState: { ...strikeState } };
      adoptWindows(counters, windows);
      expect(counters.strikeState).toEqual(
        keeps ? strikeState : { ...strikeState, refused: noWait() },
      );
    });
  });
});

describe('counters are stale', () => {
  test('when the last of their windows is, if there was never a refusal', () => {
    fc.assert(
      fc.property(lists, (windows) => {
        const counters = charged(windows);
        const stale = staleAt(counters);
        expect([...usedIn(counters, stale).values()].every((used) => used === 0)).toBe(true);
        const ends: number[] = [];
        eachWindow(windows, (one, at) => ends.push(meterOf(one).staleAt(counters.cells, at, one)));
        expect(stale).toBe(Math.max(...ends));
      }),
    );
  });

  const minute = [window(5, MINUTE)];
  test.each([
    ['a refusal in force', { refused: { at: NOW, until: NOW + HOUR, refusals: 1 } }, NOW + HOUR],
    ['a ban in force', { bannedUntil: NOW + HOUR }, NOW + HOUR],
    ['strikes or a level to forget', { forgottenAt: NOW + HOUR }, NOW + HOUR],
    ['nothing but its window', {}, NOW + MINUTE],
  ] as const)('not before the strike state expires: %s', (_name, strikeState, stale) => {
    const counters = { ...charged(minute), strikeState: { ...newStrikeState(), ...strikeState } };
    expect(staleAt(counters)).toBe(stale);
  });
});
