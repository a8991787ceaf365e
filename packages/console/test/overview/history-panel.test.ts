import { expect, test } from '@jest/globals';
import type { HistoryStep } from '@storegate/admin-api';
import { countsOf, onLine } from '../../src/browser/views/overview/outcomes.ts';

const at = (minute: number) => ({ at: new Date(minute * 60_000).toISOString() }) as HistoryStep;

test('steps without counts are gaps on the line, which ends with the newest', () => {
  const line = onLine([at(101), at(103)], 60_000, 5, 104.5 * 60_000);
  expect(line.map(({ at, step }) => [at / 60_000, step !== null])).toEqual([
    [99, false],
    [100, false],
    [101, true],
    [102, false],
    [103, true],
  ]);
  expect(onLine([], 60_000, 2, 104.5 * 60_000).map(({ at }) => at / 60_000)).toEqual([102, 103]);
});

test('each request has one outcome', () => {
  const classes = { '2xx': 50, '3xx': 5, '4xx': 30, '5xx': 4, aborted: 3 };
  const counts = countsOf({ requests: 92, admitted: 60, limited: 20, banned: 5, classes });
  expect(counts).toEqual({ answered: 55, limited: 20, banned: 5, refused: 8, failed: 4 });
});
