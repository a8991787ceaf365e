import { expect, test } from '@jest/globals';
import type { Backend } from '../src/index.ts';
import {
  type Condition,
  FINDINGS,
  type FindingType,
  findingText,
  type GatewayFacts,
  type HealthFacts,
  healthText,
  judgeHealth,
  severityOf,
  withCommand,
} from '../src/text/index.ts';

const AT = '2030-01-31T10:00:00.000Z';
const LATER = '2030-01-31T10:05:00.000Z';
const time = (at: string) => at.slice(11, 16);

const gateway = (changes: Partial<GatewayFacts> = {}): GatewayFacts => ({
  gateway: 'one',
  started: '2030-01-31T09:00:00.000Z',
  readiness: 'ready',
  workers: 2,
  processes: 2,
  differs: [],
  conditions: [],
  ...changes,
});

const backend = (changes: Partial<Backend> = {}): Backend => ({
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
});

const facts = (changes: Partial<HealthFacts> = {}): HealthFacts => ({
  gateways: [gateway()],
  lost: [],
  unresponsive: [],
  isolated: null,
  backends: [backend()],
  traffic: { requests: 0, failed: 0, refused: 0 },
  mostRefused: null,
  ...changes,
});

const reporting = (type: FindingType, detail = '', since: string | null = AT) =>
  facts({ gateways: [gateway({ conditions: [{ type, since, detail }] }), gateway()] });

const DOWN = { state: 'down', down: 4, reason: 'hanging' } as const;
const two = (changes: Partial<GatewayFacts>) => [gateway(changes), gateway({ gateway: 'two' })];
const lost = (replaced: string | null) => [{ gateway: 'three', at: AT, replaced }];
const traffic = (requests: number, failed: number, refused = 0) => ({ requests, failed, refused });

type Row = readonly [facts: HealthFacts, code: 0 | 1 | 2, line: string];

const degraded = (type: FindingType, detail: string, line: string): readonly Row[] => [
  [reporting(type, detail), 1, `Degraded since 10:00: ${line}`],
];

/** Facts, the exit code, and the first line of the command. */
const TABLE: Readonly<Record<FindingType, readonly Row[]>> = {
  no_gateway: [[facts({ gateways: [] }), 2, 'Down: No gateway is running. Start one.']],
  no_gateway_responds: [
    [facts({ gateways: [], unresponsive: ['one'] }), 2, 'Down: one did not respond. Check its'],
  ],
  no_gateway_ready: [
    [
      facts({ gateways: [gateway({ readiness: 'no_workers', processes: 0 })] }),
      2,
      'Down: No gateway accepts requests: it has no worker. ',
    ],
    [
      facts({ gateways: [gateway({ readiness: 'stopping' })] }),
      2,
      'Down: No gateway accepts requests: it is stopping. ',
    ],
  ],
  upstream_down: [
    [
      facts({ backends: [backend(DOWN), backend({ ...DOWN, backend: 's2:80', since: LATER })] }),
      2,
      'Down since 10:05: All 2 backends of default are down (no response in time), so its requests fail. ',
    ],
    [
      facts({ backends: [backend(DOWN), backend({ upstream: 'orders' })] }),
      2,
      'Down since 10:00: The only backend of default is down (no response in time), so its requests fail. ',
    ],
  ],
  requests_fail: [
    [facts({ traffic: traffic(54, 27) }), 2, 'Down: 50 % (27 of 54) of the requests'],
    [facts({ traffic: traffic(6, 3) }), 2, 'Down: 50 % (3 of 6) of the requests'],
    [facts({ traffic: traffic(3, 3) }), 2, 'Down: 100 % (3 of 3) of the requests'],
  ],
  redis_down_deny: [
    [
      reporting('redis_down_deny', 'not connected to Redis.'),
      2,
      'Down since 10:00: Redis is down, and redis.onOutage refuses requests: not connected to Redis. Check',
    ],
  ],
  listener_certificate: [
    [
      reporting('listener_certificate', 'the certificate in a.crt has ended on 2030-01-31'),
      2,
      'Down since 10:00: Clients cannot connect: the certificate in a.crt has ended on 2030-01-31. ',
    ],
  ],
  some_requests_fail: [
    [facts({ traffic: traffic(1_000, 1) }), 1, 'Degraded: 0.1 % (1 of 1,000) of the requests'],
    [facts({ traffic: traffic(2, 2) }), 1, 'Degraded: 100 % (2 of 2) of the requests'],
    [facts({ traffic: traffic(53, 3) }), 1, 'Degraded: 5.7 % (3 of 53) of the requests'],
    [facts({ traffic: traffic(400, 199) }), 1, 'Degraded: 50 % (199 of 400) of the requests'],
    [facts({ traffic: traffic(1_001, 1) }), 0, 'OK.'],
  ],
  redis_down_local: degraded(
    'redis_down_local',
    'timeout',
    'Redis is down, so each gateway counts by itself: timeout. ',
  ),
  redis_down_allow: degraded(
    'redis_down_allow',
    'timeout',
    'Redis is down, so requests are not counted: timeout. ',
  ),
  redis_data_doubted: degraded(
    'redis_data_doubted',
    '',
    'Redis may have come up without its data: keys that it lacks get 503, and changes are refused. Restore',
  ),
  redis_data_lost: degraded(
    'redis_data_lost',
    '1 time',
    'Redis has other data than before (1 time): what it lacks is gone, such as new keys and revocations. Unless',
  ),
  redis_connection: degraded('redis_connection', '', 'A connection to Redis is lost'),
  unsaved: degraded(
    'unsaved',
    'no space left on device (ENOSPC)',
    'Counters and changes are not saved: no space left on device (ENOSPC). Free space',
  ),
  log_dropped: degraded('log_dropped', '3 lines', 'The log lacks 3 lines. '),
  usage_dropped: degraded('usage_dropped', '1 request', 'The usage lacks 1 request'),
  usage_not_exported: degraded(
    'usage_not_exported',
    'HTTP 503',
    'The billing system at usage.export.url accepts no usage: HTTP 503. Check',
  ),
  usage_refused: degraded(
    'usage_refused',
    '2 events',
    'The billing system at usage.export.url refused 2 events, not exported. Find',
  ),
  bans_dropped: degraded('bans_dropped', '1 ban', 'The log of bans lacks 1 ban. '),
  key_cache_old: degraded('key_cache_old', '', 'The key cache is older than 30 minutes'),
  certificate_expired: degraded('certificate_expired', 'x', 'TLS fails: x. Renew it'),
  certificate_expires: degraded(
    'certificate_expires',
    'x',
    'A certificate must be renewed: x. Renew it',
  ),
  reload_refused: degraded(
    'reload_refused',
    'plans.yaml:3:5: "limit" is missing',
    'A reload was refused: plans.yaml:3:5: "limit" is missing. Correct',
  ),
  contract_copy: degraded(
    'contract_copy',
    'cannot be fetched: status 404',
    'The contract is a copy, because its URL cannot be fetched: status 404. ',
  ),
  configuration_differs: [
    [
      facts({ gateways: two({ differs: ['plans', 'contract'] }) }),
      1,
      'Degraded: A gateway differs from most gateways in plans, contract. ',
    ],
  ],
  workers_missing: [
    [facts({ gateways: [gateway({ processes: 1 })] }), 1, 'Degraded: 1 of 2 workers did not resp'],
  ],
  gateway_not_ready: [
    [
      facts({ gateways: two({ readiness: 'upstreams_down' }) }),
      1,
      'Degraded: A gateway accepts no requests: all backends of an upstream are down. ',
    ],
    [
      facts({ gateways: two({ readiness: 'state_down' }) }),
      1,
      'Degraded: A gateway accepts no requests: the shared state is down. ',
    ],
  ],
  gateway_unresponsive: [[facts({ unresponsive: ['two'] }), 1, 'Degraded: two did not respond. ']],
  gateway_lost: [
    [facts({ lost: lost(null) }), 1, 'Degraded since 10:00: three did not shut down, and no '],
  ],
  peers_unreachable: [
    [
      facts({ isolated: 'refused' }),
      1,
      'Degraded: Other gateways are unreachable, so figures are of one gateway alone. ',
    ],
  ],
  backend_down: [
    [
      facts({ backends: [backend(DOWN), backend({ backend: 's2:80', state: 'recovering' })] }),
      1,
      'Degraded since 10:00: Backend s1:80 of default is down: no response in time. ',
    ],
    [
      facts({ backends: [backend({ ...DOWN, state: 'partial', down: 1, reason: 'check' })] }),
      1,
      'Degraded since 10:00: Backend s1:80 of default is down for 1 of 4 processes: health check failed. ',
    ],
  ],
  gateway_replaced: [
    [facts({ lost: lost(LATER) }), 0, 'OK: three did not shut down, and another gateway has'],
  ],
  gateway_stopping: [
    [facts({ gateways: two({ readiness: 'stopping' }) }), 0, 'OK: A gateway is stopping.'],
  ],
  many_refused: [
    [
      facts({ traffic: traffic(1_000, 0, 620), mostRefused: 'key_1' }),
      0,
      'OK: Limits refused 62 % (620 of 1,000) of the requests of the last minute, most of them of key_1.',
    ],
    [facts({ traffic: traffic(19, 0, 19) }), 0, 'OK.'],
  ],
  backend_waiting: [
    [
      facts({ backends: [backend({ connections: { open: 8, idle: 0, waiting: 3, limit: 8 } })] }),
      0,
      'OK: 3 requests waiting for a backend connection.',
    ],
  ],
  restart_pending: [
    [reporting('restart_pending', 'listen.port', null), 0, 'OK: A change in the files needs a re'],
  ],
};

const ROWS = Object.entries(TABLE).flatMap(([type, rows]) =>
  rows.map(([given, code, line]) => [type, code, line, given] as const),
);

test.each(ROWS)('%s: exit code %i, %s', (type, code, line, given) => {
  const health = judgeHealth(given);
  expect(healthText(health, time).slice(0, line.length)).toBe(line);
  expect(severityOf(health)).toBe(code);
  const types = health.findings.map((one) => one.type);
  expect(types.slice(0, 1)).toEqual(line === 'OK.' ? [] : [type]);
});

test('all is well: OK', () => {
  expect(judgeHealth(facts())).toEqual({ status: 'ok', since: null, findings: [] });
});

test('the worst cause comes first, with what follows; equal findings of gateways are one', () => {
  const condition = (type: FindingType, since: string | null): Condition => ({
    type,
    since,
    detail: 'x',
  });
  const health = judgeHealth(
    facts({
      gateways: [
        gateway({ conditions: [condition('restart_pending', null), condition('unsaved', LATER)] }),
        gateway({
          gateway: 'two',
          conditions: [condition('unsaved', AT), condition('reload_refused', LATER)],
        }),
      ],
      traffic: traffic(10, 10),
      backends: [backend({ ...DOWN, since: LATER })],
    }),
  );
  expect(health).toMatchObject({ status: 'down', since: LATER });
  expect(health.findings.map(({ type, since, gateways }) => [type, since, gateways])).toEqual([
    ['upstream_down', LATER, []],
    ['requests_fail', null, []],
    ['unsaved', AT, ['one', 'two']],
    ['reload_refused', LATER, ['two']],
    ['restart_pending', null, ['one']],
  ]);
  expect(findingText(health.findings[2]!, time)).toBe(
    'Counters and changes are not saved: x. Free space in the data folder, or correct its permissions. (since 10:00, one, two)',
  );
});

const summary = (given: HealthFacts) =>
  judgeHealth(given).findings.map(({ type, cause }) => [type, cause]);

test('an outage of Redis is one finding, above what it causes', () => {
  const reported = (detail: string) =>
    (['key_cache_old', 'redis_connection', 'redis_down_local'] as const).map(
      (type): Condition => ({ type, since: AT, detail }),
    );
  const gateways = [
    gateway({ conditions: reported('connection refused') }),
    gateway({ conditions: reported('no response') }),
  ];
  const given = facts({ gateways, isolated: 'Redis does not respond' });
  expect(summary(given)).toEqual([
    ['redis_down_local', null],
    ['peers_unreachable', 'redis_down_local'],
    ['redis_connection', 'redis_down_local'],
    ['redis_connection', 'redis_down_local'],
    ['key_cache_old', 'redis_down_local'],
    ['key_cache_old', 'redis_down_local'],
  ]);
  expect(
    judgeHealth(given)
      .findings.slice(1)
      .map(({ action }) => action)
      .join(''),
  ).toBe('');
});

test('backends that are down stand above the requests that fail because of them', () => {
  const down = backend({ ...DOWN, reason: 'unreachable' });
  const given = { traffic: traffic(10, 10), gateways: two({ readiness: 'upstreams_down' }) };
  expect(summary(facts({ ...given, backends: [down] }))).toEqual([
    ['upstream_down', null],
    ['requests_fail', 'upstream_down'],
    ['gateway_not_ready', 'upstream_down'],
  ]);
  const one = facts({ ...given, backends: [down, backend({ upstream: 'default' })] });
  expect(summary({ ...one, gateways: [gateway()] })).toEqual([
    ['backend_down', null],
    ['requests_fail', 'backend_down'],
  ]);
  expect(judgeHealth(one)).toMatchObject({ status: 'down' });
});

test('the health is not older than the oldest gateway that runs', () => {
  const { started } = gateway();
  const old = reporting('certificate_expires', 'x', '2030-01-24T00:00:00.000Z');
  expect(judgeHealth(old).since).toBe(started);
  const gateways = [...old.gateways, gateway({ gateway: 'two', started: AT })];
  expect(judgeHealth({ ...old, gateways }).since).toBe(started);
});

test('a terminal gets the command that helps with a cause', () => {
  const [cause, follows] = judgeHealth(
    facts({ traffic: traffic(10, 10), backends: [backend(DOWN)] }),
  ).findings.map(withCommand);
  expect(cause?.action).toBe('Check the backends. Run "storegate backends".');
  expect(follows?.action).toBe('');
});

test('a condition of a newer version is ignored', () => {
  const unknown = { type: 'constructor' as FindingType, since: AT, detail: '' };
  expect(judgeHealth(facts({ gateways: [gateway({ conditions: [unknown] })] })).status).toBe('ok');
});

test('every finding has one sentence, and one instruction unless it only informs', () => {
  for (const { status, text, action } of Object.values(FINDINGS)) {
    expect(text + action).not.toContain('storegate ');
    expect(text).toMatch(/^[A-Z$][^!?]*\.$/);
    if (status !== 'ok') expect(action).toMatch(/^[A-Z].*\.$/);
  }
});
