import { expect, test } from '@jest/globals';
import type { Backend, Gateway, LiveGateway, LiveNow, Status } from '@storegate/admin-api';
import { troublesIn } from '../../src/browser/views/overview/verdict.ts';

const AT = '2026-11-22T10:00:00.000Z';

function gateway(changes: Partial<LiveGateway> = {}): LiveGateway {
  return {
    gateway: 'one',
    readiness: 'ready',
    state: 'redis, single',
    localSince: null,
    stateMs: 0.4,
    workers: 2,
    processes: 2,
    inFlight: 0,
    requests: 0,
    backend: { open: 8, idle: 8, waiting: 0, limit: 8 },
    ...changes,
  };
}

function backend(changes: Partial<Backend> = {}): Backend {
  return {
    upstream: 'default',
    backend: 's1:80',
    weight: 1,
    state: 'up',
    since: AT,
    reason: null,
    total: 4,
    down: 0,
    inFlight: 0,
    requests: 0,
    failures: 0,
    retries: 0,
    connections: { open: 0, idle: 0, waiting: 0, limit: 8 },
    ...changes,
  };
}

function tick(changes: Partial<LiveNow> = {}, failed = 0): LiveNow {
  const requests = changes.requests ?? 0;
  return {
    at: AT,
    span: 2_000,
    requests,
    admitted: requests,
    limited: 0,
    banned: 0,
    inFlight: 0,
    unresponsive: [],
    isolated: null,
    classes: { '2xx': requests - failed, '3xx': 0, '4xx': 0, '5xx': failed, aborted: 0 },
    latency: { span: 10_000, p50: 1, p95: 2, p99: 3 },
    gateways: [gateway()],
    backends: [backend()],
    ...changes,
  };
}

const words = (ticks: readonly LiveNow[], status: Status | null = null) =>
  troublesIn(ticks, status).map(({ tone, words, view }) => `${tone} ${words} (${view})`);

test('nothing is wrong where nothing is, and where nothing is known', () => {
  expect(words([tick({ requests: 100 })])).toEqual([]);
  expect(words([])).toEqual([]);
});

test('gateways: silent, alone, without workers, stopping, busy; the worst comes first', () => {
  const gateways = [
    gateway({ gateway: 'a', backend: { open: 8, idle: 0, waiting: 3, limit: 8 } }),
    gateway({ gateway: 'b', processes: 1 }),
    gateway({ gateway: 'c', readiness: 'no_workers', processes: 0 }),
    gateway({ gateway: 'd', readiness: 'stopping' }),
    gateway({ gateway: 'e', readiness: 'state_down', localSince: AT }),
    gateway({ gateway: 'f', readiness: 'state_down' }),
    gateway({ gateway: 'h', readiness: 'upstreams_down' }),
  ];
  expect(words([tick({ gateways, unresponsive: ['g'], isolated: 'connection refused' })])).toEqual([
    'bad g did not respond. (gateways)',
    'bad Other gateways are unreachable: connection refused (gateways)',
    'bad b: 1 of 2 workers does not respond. (gateways)',
    'bad c has no worker and serves no requests. (gateways)',
    expect.stringMatching(/^bad e has had no connection to Redis since .*:00\. \(gateways\)$/),
    'bad f accepts no requests: the shared state is down. (gateways)',
    'bad h is not ready: all backends of an upstream are down. (gateways)',
    'warn a: 3 requests waiting for a backend connection, 8 of 8 are in use. (gateways)',
    'warn d is stopping. (gateways)',
  ]);
});

test('backends: one down while others serve, one down for some processes, all of them, a single one', () => {
  const down = { state: 'down', down: 4, reason: 'hanging' } as const;
  const troubles = (backends: readonly Backend[]) =>
    words([tick({ backends })]).map((line) => line.replace(/since (\S+ )?\S+:/, 'since T:'));
  expect(
    troubles([
      backend(down),
      backend({ backend: 's2:80', state: 'recovering' }),
      backend({ upstream: 'orders' }),
    ]),
  ).toEqual(['warn Backend s1:80 of default is down since T: no response in time. (gateways)']);
  expect(
    troubles([
      backend({ ...down, state: 'partial', down: 1, reason: 'check' }),
      backend({ backend: 's2:80' }),
    ]),
  ).toEqual([
    'warn Backend s1:80 of default is down for 1 of 4 processes since T: health check failed. (gateways)',
  ]);
  expect(
    troubles([
      backend(down),
      backend({ ...down, backend: 's2:80' }),
      backend({ upstream: 'orders' }),
    ]),
  ).toEqual([
    'bad All 2 backends of default are down. (gateways)',
    'bad Backend s1:80 of default is down since T: no response in time. (gateways)',
    'bad Backend s2:80 of default is down since T: no response in time. (gateways)',
  ]);
  expect(troubles([backend(down)])).toEqual([
    'bad Backend s1:80 of default is down since T: no response in time. (gateways)',
  ]);
});

test('requests of the last minute: failed ones by their share, those that limits refuse from a half on', () => {
  const old = tick({ requests: 100_000 });
  const minute = (changes: Partial<LiveNow>, failed: number) => [
    old,
    ...Array(30).fill(tick(changes, failed)),
  ];
  expect(words(minute({ requests: 100 }, 2))).toEqual([
    'bad 2.0 % of requests failed in the last minute (5xx): 60 of 3,000. (requests)',
  ]);
  expect(
    words([...minute({ requests: 1_000 }, 0).slice(0, -1), tick({ requests: 1_000 }, 60)]),
  ).toEqual(['warn 0.2 % of requests failed in the last minute (5xx): 60 of 30,000. (requests)']);
  expect(words([...minute({ requests: 1_000 }, 0), tick({ requests: 1_000 }, 1)])).toEqual([]);
  expect(words([tick({ requests: 2 }, 1)])).toEqual([
    'bad 1 of 2 failed in the last minute. (requests)',
  ]);
  expect(words(minute({ requests: 10, limited: 5, banned: 1 }, 0))).toEqual([
    'warn Limits refused 60 % of requests in the last minute: 180 of 300. (top-clients)',
  ]);
});

test('configurations: a refused reload, a copy of the contract, one that differs, one that waits', () => {
  const lastReload = { at: AT, reason: 'SIGHUP', problems: ['plans.yaml: no such plan'] };
  const configuration = {
    settings: 'a',
    plans: 'b',
    contract: 'c',
    contractCopy: { fetched: AT, reason: 'cannot be fetched: status 404' },
    differs: ['plans'],
    pendingRestart: ['listen.port'],
    lastReload,
  };
  const status = {
    gateways: [{ gateway: 'one', configuration } as unknown as Gateway],
    unresponsive: [],
    lost: [{ gateway: 'hung', at: '2030-01-31T00:00:00Z' }],
    isolated: null,
  };
  expect(words([], status)).toEqual([
    expect.stringMatching(/^bad hung was last seen at .* and did not shut down\. \(gateways\)$/),
    expect.stringMatching(
      /^bad one rejected its files at .*: plans\.yaml: no such plan \(configuration\)$/,
    ),
    expect.stringMatching(
      /^warn one uses a copy of the contract from .*: the URL cannot be fetched: status 404\. \(configuration\)$/,
    ),
    'warn one differs from most gateways in plans. (gateways)',
    'warn one needs a restart for listen.port. (configuration)',
  ]);
});
