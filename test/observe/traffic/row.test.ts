import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BUCKETS, bucketOf, durationIn, quantile } from '../../../src/observe/traffic/row.ts';

const ERROR = 0.05;
const duration = fc.double({ min: 0.11, max: 70_000, noNaN: true });

function counted(durations: readonly number[]): Uint32Array {
  const counts = new Uint32Array(BUCKETS);
  for (const one of durations) counts[bucketOf(one)]!++;
  return counts;
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

  test('have quantiles within the same error, also after a merge', () => {
    const q = fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1);
    const some = fc.array(duration, { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(some, some, q, (one, other, q) => {
        const sum = counted(one).map((count, i) => count + counted(other)[i]!);
        const all = [...one, ...other].sort((a, b) => a - b);
        const truth = all[Math.max(1, Math.ceil(q * all.length)) - 1]!;
        expect(Math.abs(quantile(sum, q)! - truth)).toBeLessThanOrEqual(ERROR * truth);
      }),
    );
  });

  test('have no quantiles without values', () =>
    expect(quantile(new Uint32Array(BUCKETS), 0.5)).toBeNull());
});
