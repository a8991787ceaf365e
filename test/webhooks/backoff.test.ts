import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pauseAfter, retryAfterOf, waitAfter } from '../../src/webhooks/backoff.ts';

const S = 1_000;
const M = 60 * S;
const H = 60 * M;
const NOW = Date.UTC(2026, 10, 22, 10);

test.each([
  [1, 5 * S],
  [2, M],
  [3, 5 * M],
  [4, 30 * M],
  [5, 2 * H],
  [6, 5 * H],
  [7, 10 * H],
  [8, 10 * H],
  [1_000, 10 * H],
])('after %d attempts an event waits for %d ms, a tenth more or less', (attempts, wait) => {
  expect(waitAfter(attempts, null, 0.5)).toBe(wait);
  expect(waitAfter(attempts, null, 0)).toBe(0.9 * wait);
  expect(waitAfter(attempts, null, 1)).toBeCloseTo(1.1 * wait);
});

test('the pause of an endpoint doubles after each failure, up to five minutes', () => {
  expect([1, 2, 3, 6, 7, 8, 1_000].map((failures) => pauseAfter(failures, null, 0.5) / S)).toEqual([
    5, 10, 20, 160, 300, 300, 300,
  ]);
});

describe('a requested pause', () => {
  test.each([
    [null, null],
    ['120', 2 * M],
    ['0', 0],
    ['86400', H],
    ['999999999999', null],
    ['-1', null],
    ['soon', null],
    ['', null],
    ['1.5', null],
    ['Sun, 22 Nov 2026 10:05:00 GMT', 5 * M],
    ['Sun, 22 Nov 2026 09:00:00 GMT', null],
    ['Mon, 23 Nov 2026 10:00:00 GMT', H],
  ])('%j is %p ms', (header, requested) => {
    expect(retryAfterOf(header, NOW)).toBe(requested);
  });

  test('is never shorter than the regular one', () => {
    expect(waitAfter(1, 2 * M, 0.5)).toBe(2 * M);
    expect(waitAfter(4, 2 * M, 0.5)).toBe(30 * M);
    expect(pauseAfter(1, H, 0.5)).toBe(H);
  });

  test('is a number from 0 to an hour, or missing, for any header', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const requested = retryAfterOf(header, NOW);
        expect(requested === null || (requested >= 0 && requested <= H)).toBe(true);
      }),
    );
  });
});
