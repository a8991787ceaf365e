import { expect, test } from '@jest/globals';
import {
  outcomeOf,
  refusalsIn,
  requestsOf,
  startsOf,
} from '../src/browser/views/keys/usage-steps.ts';
import { clientsIn, months, periodOf, type UsageRow } from '../src/browser/views/usage/rows.ts';

test.each([
  [200, null, 'answered'],
  [304, null, 'answered'],
  [429, 'rate_limit_exceeded', 'limited'],
  [429, 'too_many_in_flight', 'limited'],
  [429, null, 'refused'],
  [403, 'key_banned', 'banned'],
  [404, null, 'refused'],
  [499, null, 'refused'],
  [500, null, 'failed'],
  [503, 'upstream_down', 'failed'],
])('a request that ended with %p %p is %s', (status, code, outcome) => {
  expect(outcomeOf({ status, code })).toBe(outcome);
});

const HOUR = 3_600_000;
const at = (hour: number) => new Date(hour * HOUR).toISOString();
const row = (hour: number, requests: number, more: Partial<UsageRow> = {}) =>
  ({ hour: at(hour), requests, status: 200, code: null, operation: 'list', ...more }) as UsageRow;
const LINE = { by: 'hour', length: HOUR } as const;

test('a line of steps ends with the current one, and is empty before anything was counted', () => {
  const starts = startsOf(at(100.5), LINE, 104.2 * HOUR);
  expect(starts.map((start) => start / HOUR)).toEqual([100, 101, 102, 103, 104]);
  const rows = [row(102, 3), row(102, 4), row(104, 1)];
  expect(requestsOf(rows, starts, LINE, at(101.5))).toEqual([null, 0, 7, 0, 1]);
  expect(requestsOf([], starts, LINE, null)).toEqual([null, null, null, null, null]);
});

test('refusals are summed by code and operation, most first', () => {
  const limited = { status: 429, code: 'rate_limit_exceeded' };
  const rows = [row(1, 9), row(1, 2, limited), row(2, 3, limited), row(2, 1, { status: 502 })];
  expect(refusalsIn(rows).map(({ code, requests }) => [code, requests])).toEqual([
    ['rate_limit_exceeded', 5],
    [null, 1],
  ]);
});

test('months of the year before and their ends, in UTC', () => {
  expect(months(3, new Date('2030-01-31T23:59:59Z'))).toEqual(['2030-01', '2029-12', '2029-11']);
  expect(periodOf('2029-12')).toEqual({ from: '2029-12-01', to: '2030-01-01' });
  expect(periodOf('2028-02')).toEqual({ from: '2028-02-01', to: '2028-03-01' });
});

test('a caller of a deprecated operation has all calls and the last day, most calls first', () => {
  const call = (day: string, key: string, requests: number) =>
    row(0, requests, { day, key, account: 'acme', operation: 'old' });
  const rows = [call('2030-01-01', 'a', 2), call('2030-01-02', 'b', 9), call('2030-01-03', 'a', 3)];
  const callers = clientsIn(rows).map(({ key, requests, last }) => [key, requests, last]);
  expect(callers).toEqual([
    ['b', 9, '2030-01-02'],
    ['a', 5, '2030-01-03'],
  ]);
});
