import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addTo,
  BUCKETS,
  bucketOf,
  COLUMNS,
  durationIn,
  durationsIn,
} from '../../../src/observe/traffic/row.ts';

const ERROR = 0.05;
const duration = fc.double({ min: 0.11, max: 70_000, noNaN: true });

function counted(durations: readonly number[]): Uint32Array {
  const row = new Uint32Array(COLUMNS);
  for (const one of durations) row[COLUMNS - BUCKETS + bucketOf(one)]!++;
  return row;
}

describe('durations in buckets', () => {
  test('are reported with an error of 5 % at most', () => {
    fc.assert(
      fc.property(duration, (duration) => {
        expect(Math.abs(durationIn(bucketOf(duration)) - duration)).toBeLessThanOrEqual(
          ERROR * duration,
        );
      }),
    );
  });

  test('are in order', () => {
    fc.assert(
      fc.property(duration, duration, (one, other) => {
        expect(bucketOf(Math.min(one, other))).toBeLessThanOrEqual(bucketOf(Math.max(one, other)));
      }),
    );
  });

  test.each([0, -1, 0.1, Number.NaN])('%d is in the first bucket', (duration) =>
    expect(bucketOf(duration)).toBe(0),
  );

  test.each([80_000, 1e12, Number.POSITIVE_INFINITY])('%d is in the last bucket', (duration) => {
    expect(bucketOf(duration)).toBe(BUCKETS - 1);
  });

  test('are added up after a merge', () => {
    const some = fc.array(duration, { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(some, some, (one, other) => {
        const all = [...one, ...other];
        const row = counted(one);
        addTo(row, counted(other));
        const found = durationsIn(row);
        const existing = Object.keys(found).map(Number);
        expect(Object.values(found).reduce((sum, count) => sum + count, 0)).toBe(all.length);
        for (const one of all)
          expect(existing.some((existing) => Math.abs(existing - one) <= ERROR * one)).toBe(true);
      }),
    );
  });
});
