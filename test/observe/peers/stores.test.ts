import { expect, test } from '@jest/globals';
import type { StoreStatus } from '../../../src/observe/peers/status.ts';
import { storesOfAll } from '../../../src/observe/peers/stores.ts';

function store(changes: Partial<StoreStatus> = {}): StoreStatus {
  return {
    upstream: 'default',
    store: 's1:80',
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

const process = (worker: number | null, ...stores: StoreStatus[]) => ({ worker, stores });
const down = (since: number) => store({ state: 'away', since, reason: 'hanging' });
const gateways = (...processes: ReturnType<typeof process>[]) => [{ gateway: 'one', processes }];

test('a backend is up since the last process reported it, and its counts are sums', () => {
  const [merged] = storesOfAll(
    gateways(process(1, store()), process(2, store({ since: 200, waiting: 3 }))),
  );
  expect(merged).toMatchObject({
    upstream: 'default',
    store: 's1:80',
    state: 'up',
    since: 200,
    reason: null,
    of: 2,
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
    { state: 'away', since: 250, reason: 'hanging', down: 2 },
  ],
  [
    'down for some',
    [store(), down(250)],
    { state: 'partly', since: 250, reason: 'hanging', down: 1 },
  ],
  [
    'returning for some and up for others',
    [store(), store({ state: 'returning', since: 400, reason: 'check' })],
    { state: 'returning', since: 400, reason: 'check', down: 0 },
  ],
  [
    'returning for some and down for others',
    [store({ state: 'returning', since: 400, reason: 'check' }), down(250)],
    { state: 'partly', since: 250, reason: 'hanging', down: 1 },
  ],
])('a backend is %s', (_how, seen, expected) => {
  const [merged, ...rest] = storesOfAll(gateways(...seen.map((one, i) => process(i + 1, one))));
  expect(merged).toMatchObject({ ...expected, of: 2 });
  expect(rest).toEqual([]);
});

test('backends of one upstream are adjacent, also those of one gateway only, and old gateways report none', () => {
  const other = store({ upstream: 'orders' });
  const merged = storesOfAll([
    { gateway: 'one', processes: [process(null, store(), other)] },
    { gateway: 'two', processes: [process(null, store(), store({ store: 's2:80' }), other)] },
    { gateway: 'old', processes: [{ worker: null } as unknown as ReturnType<typeof process>] },
  ]);
  expect(merged.map(({ upstream, store, of }) => [upstream, store, of])).toEqual([
    ['default', 's1:80', 2],
    ['default', 's2:80', 1],
    ['orders', 's1:80', 2],
  ]);
});
