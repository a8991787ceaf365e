import { expect, test } from '@jest/globals';
import type { Status, Traffic } from '../src/index.ts';
import { latencyOf, trafficBetween, trafficSample } from '../src/text/index.ts';

/** All answered in 2 ms. */
function total(requests: number): Traffic {
  const classes = { '2xx': requests, '3xx': 0, '4xx': 0, '5xx': 0, aborted: 0 };
  const durations = { '2': requests };
  return { requests, admitted: requests, limited: 0, banned: 0, classes, durations };
}

/** Two gateways, each with its processes by pid. */
function sample(at: number, ...processes: Readonly<Record<number, number>>[]) {
  const gateways = processes.map((byPid, i) => ({
    gateway: `edge-${i}`,
    processes: Object.entries(byPid).map(([pid, requests]) => ({
      pid: Number(pid),
      traffic: total(requests),
    })),
  }));
  return trafficSample({ gateways } as unknown as Pick<Status, 'gateways'>, at);
}

test('has the requests between two samples, of all processes of all gateways', () => {
  const before = sample(1_000, { 7: 500, 8: 20 }, { 7: 1 });
  expect(trafficBetween(before, sample(3_000, { 7: 507, 8: 20 }, { 7: 4 }))).toEqual({
    span: 2_000,
    requests: 10,
    admitted: 10,
    limited: 0,
    banned: 0,
    classes: { '2xx': 10, '3xx': 0, '4xx': 0, '5xx': 0, aborted: 0 },
    latency: { p50: 2, p95: 2, p99: 2 },
  });
});

test.each([
  ['started', [{ 7: 10 }], [{ 7: 11, 9: 400 }], 1],
  ['ended', [{ 7: 10, 8: 30 }], [{ 7: 12 }], 2],
  ['has the pid of an earlier one', [{ 7: 10, 8: 30 }], [{ 7: 13, 8: 2 }], 3],
  ['is of another gateway that has its pid', [{ 7: 10 }], [{}, { 7: 900 }], 0],
] as const)('a process that %s adds nothing', (_case, before, after, requests) => {
  expect(trafficBetween(sample(0, ...before), sample(2_000, ...after)).requests).toBe(requests);
});

test('no time has no requests and no latency', () => {
  const one = sample(1_000, { 7: 500 });
  const latency = { p50: null, p95: null, p99: null };
  expect(trafficBetween(one, one)).toMatchObject({ span: 0, requests: 0, latency });
});

test.each([
  [{}, [null, null, null]],
  [{ 3: 1 }, [3, 3, 3]],
  [{ 100: 1, 20: 4, 0.1056: 95 }, [0.106, 0.106, 20]],
  [{ 9: 50, 10: 50 }, [9, 10, 10]],
  [{ 9: 0, 10: 2 }, [10, 10, 10]],
])('of durations %j the quantiles are %j', (durations, [p50, p95, p99]) => {
  expect(latencyOf(durations)).toEqual({ p50, p95, p99 });
});
