import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KIND_NAMES, WINDOW_KINDS } from '../../src/limits/kinds.ts';
import type { Window } from '../../src/limits/limits.ts';
import { SLOTS } from '../../src/limits/windows.ts';
import { DAY, HOUR, MINUTE, SECOND, window } from '../support/limits.ts';
import {
  ADJACENT,
  beginnings,
  type Counter,
  countersOf,
  histories,
  live,
  windowsOf,
} from './histories.ts';

const START = Date.UTC(2026, 0, 1);
/** Milliseconds by which a clock may jitter. */
const JITTER = 1_000;
/** Milliseconds from the end of a history to a moment at which its window is looked at again. */
const later = fc.oneof(fc.nat({ max: 200 }), fc.nat({ max: 2 * DAY }));

describe.each(KIND_NAMES)('a window of the kind %s', (kind) => {
  const { meter, resetsAsWhole } = WINDOW_KINDS[kind];
  const usedAt = ({ cells, at, window }: Counter, now: number) =>
    meter.used(cells, at, window, now);
  const fitsAt = ({ cells, at, window, now }: Counter, cost: number) =>
    meter.fitsAt(cells, at, window, cost, now);
  const resetAt = ({ cells, at, window }: Counter, now: number) =>
    meter.resetAt(cells, at, window, now);
  /** Holds a law against any history, with a jittering clock, of any window of the kind. */
  const holds = (law: (counter: Counter, after: number, units: number) => void) =>
    fc.assert(fc.property(countersOf(kind), later, fc.integer({ min: 1, max: 20 }), law), {
      numRuns: 400,
    });

  test('has nothing used while it is fresh, and takes all of its limit at once', () => {
    fc.assert(
      fc.property(windowsOf(kind), beginnings, (one, now) => {
        const fresh = live(one, now, []);
        expect(usedAt(fresh, now)).toBe(0);
        expect(fitsAt(fresh, one.limit)).toBe(now);
        expect(resetAt(fresh, now)).toBe(meter.endFrom(one, now));
        expect(meter.staleAt(fresh.cells, fresh.at, one)).toBeLessThanOrEqual(now);
      }),
    );
  });

  test('has used what it was charged, and gives back what is refunded but never more than was used', () => {
    holds(({ window, cells, at, now }, _after, units) => {
      const used = meter.used(cells, at, window, now);
      meter.charge(cells, at, window, units, now);
      expect(meter.used(cells, at, window, now)).toBe(used + units);
      meter.refund(cells, at, window, units + 3, now);
      expect(meter.used(cells, at, window, now)).toBe(Math.max(0, used - 3));
      meter.refund(cells, at, window, used + 1, now);
      expect(meter.used(cells, at, window, now)).toBe(0);
    });
  });

  test('touches no adjacent cell, and counts in whole units that are never negative', () => {
    holds(({ cells, at }) => {
      const own = cells.slice(at, at + meter.size);
      expect(
        [...cells.slice(0, at), ...cells.slice(at + meter.size)].every((cell) => cell === ADJACENT),
      ).toBe(true);
      expect(own.every((cell) => Number.isSafeInteger(cell) && cell >= 0)).toBe(true);
      expect(own).toHaveLength(meter.size);
    });
  });

  test('only loses units while nothing is charged, and has what was counted also when the clock jitters back', () => {
    holds((counter, after) => {
      const used = usedAt(counter, counter.now);
      expect(usedAt(counter, counter.now + after)).toBeLessThanOrEqual(used);
      expect(usedAt(counter, counter.now - 50)).toBeGreaterThanOrEqual(used);
    });
  });

  test('keeps all units if the clock is set back, and they return no later than units charged then', () => {
    fc.assert(
      fc.property(countersOf(kind), fc.integer({ min: 1, max: 3 * DAY }), (counter, back) => {
        const { window, cells, at } = counter;
        const used = usedAt(counter, counter.now);
        const now = counter.now - back;
        meter.correctTimes(cells, at, window, now);
        expect(usedAt(counter, now)).toBeGreaterThanOrEqual(used);
        if (resetsAsWhole && used > 0) expect(usedAt(counter, now)).toBe(used);
        const latest = meter.endFrom(window, now + JITTER) + Math.ceil(window.span / SLOTS);
        if (used > 0) expect(meter.staleAt(cells, at, window)).toBeLessThanOrEqual(latest);
      }),
      { numRuns: 400 },
    );
  });

  test('keeps its units and their time if the clock jitters back across the begin of a period', () => {
    const one = window(12, HOUR, kind);
    for (const back of [1, 20, JITTER - 1]) {
      const counter = live(one, START, [{ pass: 0, units: 3, refund: false }]);
      const { cells, at } = counter;
      // Without a correction too, because a window may be read before one.
      expect(usedAt(counter, START - back)).toBe(3);
      meter.correctTimes(cells, at, one, START - back);
      expect(usedAt(counter, START - back)).toBe(3);
      meter.correctTimes(cells, at, one, START + 20);
      meter.charge(cells, at, one, 1, START + 20);
      expect(usedAt(counter, START + 20)).toBe(4);
      expect(usedAt(counter, START + HOUR - 2 * JITTER)).toBe(4);
    }
  });

  test('counts what is charged while the clock jitters back', () => {
    holds((counter, _after, units) => {
      const { window, cells, at, now } = counter;
      const used = usedAt(counter, now);
      meter.charge(cells, at, window, 1, now);
      meter.charge(cells, at, window, units, now - Math.floor(window.span / 10));
      expect(usedAt(counter, now)).toBe(used + 1 + units);
    });
  });

  test('admits again at the earliest instant at which the cost fits, and it does fit then', () => {
    holds((counter, _after, cost) => {
      const { window, now } = counter;
      const fits = fitsAt(counter, cost);
      if (usedAt(counter, now) + cost <= window.limit) {
        expect(fits).toBe(now);
        return;
      }
      expect(fits).toBeGreaterThan(now);
      // A cost above the limit never fits; the client still gets a retry time.
      if (cost > window.limit) return;
      expect(usedAt(counter, fits) + cost).toBeLessThanOrEqual(window.limit);
      expect(usedAt(counter, fits - 1) + cost).toBeGreaterThan(window.limit);
    });
  });

  test('has the same used until its reset, and less from then on', () => {
    holds((counter) => {
      const { window, now } = counter;
      const used = usedAt(counter, now);
      const reset = resetAt(counter, now);
      expect(reset).toBeGreaterThan(now);
      if (used === 0) {
        expect(reset).toBe(meter.endFrom(window, now));
        return;
      }
      expect(usedAt(counter, reset - 1)).toBe(used);
      expect(usedAt(counter, reset)).toBeLessThan(used);
      if (resetsAsWhole) expect(usedAt(counter, reset)).toBe(0);
    });
  });

  test('reads as a fresh one once it is stale, and counts as one', () => {
    holds((counter, after, units) => {
      const { window, cells, at } = counter;
      const now = Math.max(counter.now, meter.staleAt(cells, at, window)) + after;
      const fresh = live(window, now, []);
      const reads = ({ cells, at }: Counter, when: number) => [
        meter.used(cells, at, window, when),
        meter.resetAt(cells, at, window, when),
        meter.fitsAt(cells, at, window, units, when),
      ];
      expect(reads(counter, now)).toEqual(reads(fresh, now));
      for (const one of [counter, fresh]) meter.charge(one.cells, one.at, window, units, now);
      for (const passed of [0, 1, after, window.span - 1, window.span, 2 * window.span]) {
        expect(reads(counter, now + passed)).toEqual(reads(fresh, now + passed));
      }
    });
  });

  test('returns since when units count: the opening of the window, or now if each unit has its own time', () => {
    holds((counter) => {
      const { window, cells, at, now } = counter;
      const openedAt = meter.openedAt(cells, at, window, now);
      if (!resetsAsWhole) expect(openedAt).toBe(now);
      else if (usedAt(counter, now) > 0)
        expect(openedAt).toBe(meter.beginBefore(window, resetAt(counter, now)));
    });
  });

  test('never has admitted more than its limit', () => {
    fc.assert(
      fc.property(
        windowsOf(kind).chain((one) => fc.tuple(fc.constant(one), beginnings, histories(one.span))),
        ([one, start, steps]) => {
          const charges = steps.map((step) => ({ ...step, refund: false }));
          live(one, start, charges, ({ cells, at, now, charged }) => {
            // Where all units come back at once, the span that counts is the one since it was
            // opened; else it is any.
            const from = resetsAsWhole ? meter.openedAt(cells, at, one, now) : now - one.span + 1;
            const until = meter.endFrom(one, from);
            const inSpan = charged.filter((one) => one.now >= from && one.now < until);
            const used = inSpan.reduce((sum, { units }) => sum + units, 0);
            expect(used).toBeLessThanOrEqual(one.limit);
          });
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('when units come back', () => {
  const charges = [
    { pass: 0, units: 2, refund: false },
    { pass: 20 * SECOND, units: 1, refund: false },
  ];

  const expected: Record<Window['kind'], readonly (readonly [after: number, used: number])[]> = {
    // Opened by the first charge, over as a whole one span later.
    fixed: [
      [0, 3],
      [39_999, 3],
      [40_000, 0],
    ],
    // A minute has slots of 3 s: what was charged in one counts until the whole slot is a minute
    // ago.
    sliding: [
      [0, 3],
      [42_999, 3],
      [43_000, 1],
      [60_999, 1],
      [61_000, 0],
    ],
    // The hour ends, and the charges came in its last minute.
    calendar: [
      [0, 3],
      [39_999, 3],
      [40_000, 0],
    ],
  };
  const begins: Record<Window['kind'], readonly [start: number, span: number]> = {
    fixed: [START, MINUTE],
    sliding: [START, MINUTE],
    calendar: [START + 59 * MINUTE, HOUR],
  };

  test.each(KIND_NAMES)('%s', (kind) => {
    const [start, span] = begins[kind];
    const { cells, at, window: one, now } = live(window(3, span, kind), start, charges);
    const { meter } = WINDOW_KINDS[kind];
    expect(
      expected[kind].map(([after]) => [after, meter.used(cells, at, one, now + after)]),
    ).toEqual(expected[kind]);
  });

  test('is late by a slot at the most, where they come back little by little', () => {
    const { meter } = WINDOW_KINDS.sliding;
    fc.assert(
      fc.property(windowsOf('sliding'), beginnings, (one, now) => {
        const { cells, at } = live(one, now, [{ pass: 0, units: 1, refund: false }]);
        const slot = Math.ceil(one.span / SLOTS);
        expect(meter.resetAt(cells, at, one, now) - now).toBeGreaterThanOrEqual(one.span);
        expect(meter.resetAt(cells, at, one, now) - now).toBeLessThanOrEqual(SLOTS * slot + slot);
      }),
    );
  });
});
