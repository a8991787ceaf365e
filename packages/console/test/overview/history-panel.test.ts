import { expect, test } from '@jest/globals';
import type { HistoryStep, LiveNow } from '@storegate/admin-api';
import { kindsOf, onLine, sumOf, ticksOnLine } from '../../src/browser/views/overview/outcomes.ts';

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

test('each request is of one kind', () => {
  const classes = { '2xx': 50, '3xx': 5, '4xx': 30, '5xx': 4, aborted: 3 };
  const kinds = kindsOf({ requests: 92, admitted: 60, limited: 20, banned: 5, classes });
  expect(kinds).toEqual({ answered: 55, limited: 25, refused: 8, failed: 4 });
});

const tick = (second: number, span = 2_000) =>
  ({
    at: new Date(second * 1_000).toISOString(),
    span,
    requests: 10,
    limited: 0,
    banned: 0,
    classes: { '2xx': 10, '3xx': 0, '4xx': 0, '5xx': 0, aborted: 0 },
  }) as LiveNow;

test('time without a listener is a gap between ticks, and is in no rate', () => {
  const seconds = (ticks: readonly LiveNow[], count: number) =>
    ticksOnLine(ticks, count).map((one) => one && Date.parse(one.at) / 1_000);
  expect(seconds([tick(100), tick(102), tick(103.9), tick(107, 3_000)], 5)).toEqual([
    null,
    100,
    102,
    103.9,
    107,
  ]);
  expect(seconds([tick(100), tick(102), tick(108), tick(110)], 8)).toEqual([
    null,
    null,
    100,
    102,
    null,
    null,
    108,
    110,
  ]);
  // The first tick after a pause only begins to count.
  expect(seconds([tick(100), tick(106, 0), tick(108)], 6)).toEqual([
    null,
    100,
    null,
    null,
    null,
    108,
  ]);
  expect(seconds([tick(100), tick(1_000)], 3)).toEqual([null, null, 1_000]);
  expect(sumOf([tick(100), tick(102), tick(120), tick(122)], 10_000)).toMatchObject({
    span: 4_000,
    requests: 20,
  });
});
