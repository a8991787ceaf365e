import { expect, test } from '@jest/globals';
import { roundUp, stacked } from '../src/browser/parts/scale.ts';

test('bars stand on the bars below, and only steps of which nothing is known are gaps', () => {
  const [first, second, third] = [
    [1, null, null, 0],
    [2, 5, null, 0],
    [null, 1, null, 4],
  ];
  expect(stacked([first!, second!, third!])).toEqual([
    [1, null, null, 0],
    [3, 5, null, 0],
    [3, 6, null, 4],
  ]);
});

test.each([
  [0, 0],
  [0.3, 0.4],
  [1, 1],
  [28, 40],
  [41, 60],
  [801, 1_000],
])('an axis for values up to %d ends at %d', (most, end) => {
  expect(roundUp(most)).toBeCloseTo(end, 9);
});
