import { expect, test } from '@jest/globals';
import { throttle } from '../../src/observe/throttle.ts';

test('one of many events passes per interval, with the number of those since the last one', () => {
  let now = 0;
  const count = throttle(1_000, () => now);
  expect([count('a'), count('a'), count('a')]).toEqual([1, null, null]);
  now = 999;
  expect([count('a'), count('b')]).toEqual([null, 1]);
  now = 1_000;
  expect([count('a'), count('a'), count('b')]).toEqual([4, null, null]);
  now = 9_000;
  expect([count('a'), count('b')]).toEqual([2, 2]);
  expect([count('c', 19), count('c', 2)]).toEqual([19, null]);
  now = 20_000;
  expect(count('c')).toBe(3);
});
