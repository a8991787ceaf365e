import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FrequentItems, mergeSummaries, type Summary } from '../../../src/observe/top/summary.ts';

function counted(keys: readonly string[], size: number): Summary<string> {
  const counters = new FrequentItems<string>(size);
  keys.forEach((key, i) => {
    counters.add(key, i).about ??= `about ${key}`;
  });
  return counters.summary();
}

function exactly(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function expectPromises(
  { total, floor, items }: Summary<string>,
  keys: readonly string[],
  size: number,
): void {
  const truth = exactly(keys);
  const known = new Map(items.map((item) => [item.key, item]));
  expect(total).toBe(keys.length);
  expect(known.size).toBe(items.length);
  expect(items.length).toBeLessThanOrEqual(size);
  expect(floor).toBeLessThanOrEqual(total / size);
  for (const { key, count, error, about } of items) {
    expect(count).toBeGreaterThanOrEqual(truth.get(key) ?? 0);
    expect(count - error).toBeLessThanOrEqual(truth.get(key) ?? 0);
    expect(error).toBeLessThanOrEqual(floor);
    expect(about).toBe(`about ${key}`);
  }
  for (const [key, count] of truth) if (!known.has(key)) expect(count).toBeLessThanOrEqual(floor);
}

const size = fc.integer({ min: 1, max: 8 });
const key = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 60 }) },
);
const keys = fc.array(key.map(String), { maxLength: 200 });

describe('counting the most frequent', () => {
  test('is exact while there are enough counters', () => {
    const { items, floor } = counted(['a', 'b', 'a', 'c', 'a', 'b'], 4);
    expect(new Map(items.map(({ key, count }) => [key, count]))).toEqual(
      exactly(['a', 'b', 'a', 'c', 'a', 'b']),
    );
    expect(items.every(({ error }) => error === 0)).toBe(true);
    expect(floor).toBe(0);
  });

  test('drops the rarer half of twice as many keys, and counts a new key from the highest dropped count', () => {
    const { total, items, floor } = counted(
      ['a', 'a', 'a', 'b', 'b', 'c', 'd', 'd', 'e', 'e', 'e'],
      2,
    );
    expect(items.map(({ key, count, error, last }) => [key, count, error, last])).toEqual([
      ['e', 5, 2, 10],
      ['a', 3, 0, 2],
    ]);
    expect({ total, floor }).toEqual({ total: 11, floor: 2 });
  });

  test('never counts too little, reports the error, and misses no frequent key', () => {
    fc.assert(
      fc.property(keys, size, (keys, size) => expectPromises(counted(keys, size), keys, size)),
    );
  });
});

describe('merging several summaries', () => {
  test('adds counts, and the floor of summaries without a counter for it', () => {
    const one = { total: 9, floor: 2, items: [item('a', 7, 0), item('b', 2, 1)] };
    const other = { total: 5, floor: 1, items: [item('a', 3, 1), item('c', 2, 0)] };
    const { total, floor, items } = mergeSummaries([one, other], 2);
    expect({ total, floor }).toEqual({ total: 14, floor: 3 });
    expect(items).toMatchObject([
      { key: 'a', count: 10, error: 1 },
      { key: 'c', count: 4, error: 2 },
    ]);
  });

  test('keeps the last data of an item', () => {
    const of = (last: number, about: string) => ({
      total: 1,
      floor: 0,
      items: [{ ...item('a', 1, 0), last, about }],
    });
    expect(mergeSummaries([of(5, 'new'), of(4, 'old')], 1).items).toMatchObject([
      { last: 5, about: 'new' },
    ]);
    expect(mergeSummaries([of(4, 'old'), of(5, 'new')], 1).items).toMatchObject([
      { last: 5, about: 'new' },
    ]);
  });

  test('of nothing is empty', () => {
    expect(mergeSummaries([], 3)).toEqual({ total: 0, floor: 0, items: [] });
  });

  test('keeps every guarantee, also when the result is merged again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(keys, { maxLength: 4 }), { maxLength: 4 }),
        size,
        (groups, size) => {
          const merged = groups.map((parts) =>
            mergeSummaries(
              parts.map((part) => counted(part, size)),
              size,
            ),
          );
          groups.forEach((parts, i) => {
            expectPromises(merged[i]!, parts.flat(), size);
          });
          expectPromises(mergeSummaries(merged, size), groups.flat(2), size);
        },
      ),
    );
  });
});

const item = (key: string, count: number, error: number) => ({
  key,
  count,
  error,
  last: 0,
  about: `about ${key}`,
});
