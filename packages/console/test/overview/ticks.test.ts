import { expect, test } from '@jest/globals';
import type { HistoryStep, Status } from '@storegate/admin-api';
import {
  NO_TICKS,
  ticksOnLine,
  withMinutes,
  withStatus,
} from '../../src/browser/views/overview/ticks.ts';

/** Of one process that has carried 10 requests per second since the time 0. */
function ticksAt(...seconds: readonly number[]) {
  return seconds.reduce((ticks, second) => {
    const requests = second * 10;
    const classes = { '2xx': requests, '3xx': 0, '4xx': 0, '5xx': 0, aborted: 0 };
    const traffic = { requests, admitted: requests, limited: 0, banned: 0, classes, durations: {} };
    const gateways = [{ gateway: 'edge', processes: [{ pid: 7, traffic }] }];
    return withStatus(ticks, { gateways } as unknown as Status, second * 1_000);
  }, NO_TICKS);
}
const latest = (...seconds: readonly number[]) => ticksAt(...seconds).all.at(-1)!;
const line = (count: number, ...seconds: readonly number[]) =>
  ticksOnLine(ticksAt(...seconds), count).map((tick) => tick && tick.at / 1_000);

test('a tick has the requests since the poll before, and those of the last ten seconds', () => {
  expect(latest(100)).toMatchObject({ span: 0, requests: 0, lately: { span: 0 } });
  expect(latest(100, 102, 104, 106, 108, 110, 112.5)).toMatchObject({
    span: 2_500,
    requests: 25,
    lately: { span: 10_500, requests: 105 },
  });
});

test('a missed poll is in the next tick, and a longer gap is in no rate', () => {
  expect(latest(100, 102, 108)).toMatchObject({ requests: 60, lately: { requests: 80 } });
  expect(latest(100, 102, 120)).toMatchObject({ requests: 0, lately: { span: 0, requests: 0 } });
  expect(latest(100, 102, 120, 122)).toMatchObject({ requests: 20, lately: { requests: 20 } });
});

test('ticks are on a line that ends with the newest, with gaps for missed polls', () => {
  expect(line(4, 100)).toEqual([null, null, null, null]);
  expect(line(5, 100, 102, 103.9, 106.8)).toEqual([null, null, 102, 103.9, 106.8]);
  expect(line(6, 100, 102, 108, 110)).toEqual([null, 102, null, null, 108, 110]);
  // The first tick after a pause only begins to count.
  expect(line(4, 100, 102, 120, 122)).toEqual([null, null, null, 122]);
  expect(line(3, 100, 1_000, 1_002)).toEqual([null, null, 1_002]);
});

test('places before the first tick have the mean of their minute, as far as the gateway knows it', () => {
  const minute = { at: new Date(60_000).toISOString(), requests: 600, p50: 7 } as HistoryStep;
  const seen = ticksOnLine(ticksAt(124, 126), 4);
  const starts = [58, 118, 120, 126].map((second) => second * 1_000);
  const shown = withMinutes(seen, starts, [minute]).map(
    (tick) => tick && [(tick.requests * 1_000) / tick.span, tick.lately.latency.p50],
  );
  expect(shown).toEqual([null, [10, 7], null, [10, null]]);
});
