import { expect, test } from '@jest/globals';
import { backendsOfAll } from '../../../src/observe/peers/backends.ts';
import type { BackendStatus } from '../../../src/observe/peers/status.ts';

function backend(changes: Partial<BackendStatus> = {}): BackendStatus {
  return {
    upstream: 'default',
    backend: 's1:80',
    weight: 1,
    state: 'up',
    since: 100,
    reason: null,
    inFlight: 1,
    requests: 10,
    failures: 2,
    retries: 1,
    open: 4,
    idle: 3,
    waiting: 0,
    most: 8,
    ...changes,
  };
}

const process = (worker: number | null, ...backends: BackendStatus[]) => ({ worker, backends });
const down = (since: number) => backend({ state: 'down', since, reason: 'hanging' });
const gateways = (...processes: ReturnType<typeof process>[]) => [{ gateway: 'one', processes }];

test('a backend is up since the last process reported it, and its counts are sums', () => {
  const [merged] = backendsOfAll(
    gateways(process(1, backend()), process(2, backend({ since: 200, waiting: 3 }))),
  );
  expect(merged).toMatchObject({
    upstream: 'default',
    backend: 's1:80',
    state: 'up',
    since: 200,
    reason: null,
    total: 2,
    down: 0,
    inFlight: 2,
    requests: 20,
    failures: 4,
    retries: 2,
    connections: { open: 8, idle: 6, waiting: 3, most: 16 },
  });
  expect(merged!.seen.map(({ gateway, worker, since }) => [gateway, worker, since])).toEqual([
    ['one', 1, 100],
    ['one', 2, 200],
  ]);
});

test.each([
  [
    'down for all',
    [down(300), down(250)],
    { state: 'down', since: 250, reason: 'hanging', down: 2 },
  ],
  [
    'down for some',
    [backend(), down(250)],
    { state: 'partial', since: 250, reason: 'hanging', down: 1 },
  ],
  [
    'recovering for some and up for others',
    [backend(), backend({ state: 'recovering', since: 400, reason: 'check' })],
    { state: 'recovering', since: 400, reason: 'check', down: 0 },
  ],
  [
    'recovering for some and down for others',
    [backend({ state: 'recovering', since: 400, reason: 'check' }), down(250)],
    { state: 'partial', since: 250, reason: 'hanging', down: 1 },
  ],
])('a backend is %s', (_how, seen, expected) => {
  const [merged, ...rest] = backendsOfAll(gateways(...seen.map((one, i) => process(i + 1, one))));
  expect(merged).toMatchObject({ ...expected, total: 2 });
  expect(rest).toEqual([]);
});

test('backends of one upstream are adjacent, also those of one gateway only', () => {
  const other = backend({ upstream: 'orders' });
  const merged = backendsOfAll([
    { gateway: 'one', processes: [process(null, backend(), other)] },
    { gateway: 'two', processes: [process(null, backend(), backend({ backend: 's2:80' }), other)] },
  ]);
  expect(merged.map(({ upstream, backend, total }) => [upstream, backend, total])).toEqual([
    ['default', 's1:80', 2],
    ['default', 's2:80', 1],
    ['orders', 's1:80', 2],
  ]);
});
