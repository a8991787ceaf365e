import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createExcessTable } from '../../src/ledger/excess-table.ts';
import { UsesTables } from '../../src/ledger/uses.ts';
import { admit } from '../../src/limits/admission.ts';
import { newCounters } from '../../src/limits/counters.ts';
import type { RequestTrace } from '../../src/observe/events.ts';
import { DAY, limits, MINUTE, window, withExcess } from '../support/limits.ts';

const WATCHED = withExcess('watch', window(1, MINUTE));
const OVERAGE = { ...withExcess('overage', window(5, DAY)), scope: 'login' };
const notes = fc.array(
  fc.record({
    plan: fc.constantFrom('free', 'pro'),
    subject: fc.constantFrom('key:a', 'key:b', 'key:c'),
    excess: fc.record({
      window: fc.constantFrom(WATCHED, OVERAGE),
      units: fc.integer({ min: 1, max: 9 }),
    }),
  }),
);

test('tables of slices add up to the table of all requests', () => {
  fc.assert(
    fc.property(fc.array(notes), (slices) => {
      const [whole, merged] = [createExcessTable(), createExcessTable()];
      for (const slice of slices) {
        const one = createExcessTable();
        for (const { plan, subject, excess } of slice) {
          whole.note(plan, subject, [excess]);
          one.note(plan, subject, [excess]);
        }
        merged.absorb(JSON.parse(JSON.stringify(one.pack())));
      }
      for (const plan of ['free', 'pro']) expect(merged.sums(plan)).toEqual(whole.sums(plan));
    }),
  );
});

test('requests, units and subjects are summed up per window of a plan', () => {
  const table = createExcessTable();
  table.note('free', 'key:a', [{ window: WATCHED, units: 1 }]);
  table.note('free', 'key:a', [{ window: WATCHED, units: 2 }]);
  table.note('free', 'key:b', [
    { window: WATCHED, units: 1 },
    { window: OVERAGE, units: 4 },
  ]);
  table.note('pro', 'key:c', [{ window: WATCHED, units: 1 }]);
  expect(table.sums('free')).toEqual([
    { window: '60s', excess: 'watch', requests: 3, units: 4, subjects: 2 },
    { window: 'login:86400s', excess: 'overage', requests: 1, units: 4, subjects: 1 },
  ]);
});

test('memory is bounded: beyond a thousand subjects requests are counted without a name', () => {
  const table = createExcessTable();
  for (let i = 0; i < 1_500; i++) table.note('free', `key:${i}`, [{ window: WATCHED, units: 1 }]);
  expect(table.sums('free')).toMatchObject([{ requests: 1_500, units: 1_500, subjects: 1_000 }]);
  expect(table.pack()[0]![3]).toHaveLength(1_001);
});

test('a slice of the ledger has the excess of admitted requests', () => {
  const given = limits([WATCHED]);
  const counters = newCounters(given.windows);
  const uses = new UsesTables();
  for (let i = 0; i < 3; i++) {
    const admission = admit(counters, given, 1, 1_000_000 + i);
    uses.note('free', {
      admission,
      subject: 'key:a',
      cost: 1,
      scopes: [],
    } as unknown as RequestTrace);
  }
  const read = new UsesTables();
  read.add(uses.pack());
  expect(read.excess.sums('free')).toMatchObject([{ requests: 2, subjects: 1 }]);
  // A watching window counts what it would have admitted.
  expect(read.table('free', window(1, MINUTE), 'key')!.all.rows[0]![1][1]).toBe(1);
});
