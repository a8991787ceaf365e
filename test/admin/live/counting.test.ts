import { expect, test } from '@jest/globals';
import { Counting } from '../../../src/admin/live/counting.ts';
import { rowText } from '../../../src/observe/traffic/packing.ts';
import { COLUMNS, countIn, placesOf, requestsIn } from '../../../src/observe/traffic/row.ts';
import { requestEvent } from '../../support/request-event.ts';

function counted(id: string, age: number, requests: number) {
  const row = new Float64Array(COLUMNS);
  for (let i = 0; i < requests; i++) countIn(row, placesOf(requestEvent()));
  return { id, age, counted: rowText(row), upTo: requests };
}

const inAll = (counting: Counting, now: number, ...processes: ReturnType<typeof counted>[]) =>
  requestsIn(counting.count([processes], now).row);

test('counts requests since the previous tick, and none at the first tick', () => {
  const counting = new Counting();
  expect(counting.count([[counted('a', 90_000, 500)]], 1_000)).toMatchObject({ span: 0 });
  const { span, row, rows } = counting.count(
    [[counted('a', 92_000, 507)], [counted('b', 1_000, 3)]],
    3_000,
  );
  expect([span, requestsIn(row), ...rows.map(requestsIn)]).toEqual([2_000, 10, 7, 3]);
});

test('a replacement process counts from its start, and no other does', () => {
  const counting = new Counting();
  inAll(counting, 0, counted('a', 50_000, 1_000));
  expect(inAll(counting, 2_000, counted('a', 52_000, 1_001), counted('c', 500, 4))).toBe(5);
  expect(inAll(counting, 4_000, counted('c', 2_500, 5), counted('d', 4_001, 700))).toBe(1);
  expect(
    inAll(
      counting,
      6_000,
      counted('c', 4_500, 5),
      counted('d', 6_001, 702),
      counted('e', 3_000, 8),
    ),
  ).toBe(10);
});

test('a process that misses some ticks loses nothing; after a long silence it counts from then on', () => {
  const counting = new Counting();
  inAll(counting, 0, counted('a', 50_000, 1_000), counted('b', 50_000, 1_000));
  expect(inAll(counting, 2_000, counted('a', 52_000, 1_001))).toBe(1);
  expect(counting.after).toEqual({ a: 1_001, b: 1_000 });
  expect(inAll(counting, 4_000, counted('a', 54_000, 1_001), counted('b', 54_000, 1_005))).toBe(5);
  expect(inAll(counting, 15_000, counted('a', 65_000, 1_002))).toBe(1);
  expect(counting.after).toEqual({ a: 1_002 });
  expect(inAll(counting, 17_000, counted('a', 67_000, 1_002), counted('b', 67_000, 9_000))).toBe(0);
});

test('no number is below 0, whatever a process reports', () => {
  const counting = new Counting();
  inAll(counting, 0, counted('a', 50_000, 1_000));
  expect(inAll(counting, 2_000, counted('a', 52_000, 10))).toBe(0);
  expect(inAll(counting, 4_000, counted('a', 54_000, 12))).toBe(2);
});

test('durations cover the last five ticks together', () => {
  const counting = new Counting();
  let last = counting.count([[counted('a', 0, 0)]], 0);
  for (let i = 1; i <= 7; i++)
    last = counting.count([[counted('a', i * 2_000, i * 10)]], i * 2_000);
  expect([last.lately.span, requestsIn(last.lately.row)]).toEqual([10_000, 50]);
});
