import { expect, test } from '@jest/globals';
import { createCache } from '../../src/common/cache.ts';

test('holds at most twice its size', () => {
  const cache = createCache<number>(10);
  for (let i = 0; i < 1_000; i++) cache.set(`${i}`, i);
  const held = Array.from({ length: 1_000 }, (_, i) => cache.get(`${i}`)).filter(
    (value) => value !== undefined,
  );
  expect(held.length).toBeGreaterThanOrEqual(10);
  expect(held.length).toBeLessThanOrEqual(20);
});

test('keeps entries that are read, however many others pass through', () => {
  const cache = createCache<string>(10);
  cache.set('wanted', 'here');
  for (let i = 0; i < 1_000; i++) {
    cache.set(`${i}`, 'passing');
    expect(cache.get('wanted')).toBe('here');
  }
});

test('is empty after a clear', () => {
  const cache = createCache<number>(2);
  for (let i = 0; i < 4; i++) cache.set(`${i}`, i);
  cache.clear();
  for (let i = 0; i < 4; i++) expect(cache.get(`${i}`)).toBeUndefined();
});
