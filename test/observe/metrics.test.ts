import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import perfHooks from 'node:perf_hooks';
import { describe, expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { counter } from '../../src/observe/metric-rows.ts';
import { METRICS } from '../../src/observe/metric-table.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { namesIn } from '../deploy/promql.ts';
import { alerts, dashboardExpressions, recordings, root } from '../deploy/shipped.ts';
import { textOf } from '../support/exposition.ts';
import { CARRYING } from '../support/gauges.ts';
import { requestEvent } from '../support/request-event.ts';

const REQUEST = requestEvent({
  operation: 'getPet',
  verdict: null,
  keyId: null,
  account: null,
  plan: null,
  upstream: null,
});
const ENDED = {
  type: 'worker.ended',
  worker: 1,
  pid: 2,
  reason: 'code 1',
  replacedAfter: null,
} as const;
const OUTAGE = { type: 'state.outage', policy: 'local', error: null } as const;

const OPERATING = {
  exempted: () => 6,
  certificateEnd: () => 2_000_000_000,
  ready: () => 1,
  reloadSuccess: () => 0,
  reloadTime: () => 1_900_000_000,
};

const carrier = () => createMetrics({ ...CARRYING, ...OPERATING });
const primary = () => createMetrics({ workers: () => 2, ...OPERATING });

/** The samples of ours that these events create or change. */
async function changedBy(events: readonly Event[], metrics = carrier()): Promise<string[]> {
  const samples = async () =>
    new Set(
      (await textOf(metrics))
        .split('\n')
        .filter((line) => /^storegate_.*(?<!_bucket\{.*) \S+$/.test(line)),
    );
  const before = await samples();
  for (const event of events) metrics.observe(event);
  return [...(await samples()).difference(before)];
}

const TIMED = [
  'storegate_request_duration_seconds_sum{operation="getPet"} 0.003',
  'storegate_request_duration_seconds_count{operation="getPet"} 1',
];

describe('events are counted', () => {
  const counted: [string, Event[], string[]][] = [
    [
      'an answer of the backend',
      [{ ...REQUEST, verdict: 'admitted', plan: 'free', upstream: 2 }],
      [
        'storegate_requests_total{operation="getPet",method="GET",status="200"} 1',
        'storegate_admissions_total{plan="free",verdict="admitted"} 1',
        'storegate_forwarded_requests_total{plan="free",result="answered"} 1',
        ...TIMED,
        'storegate_upstream_duration_seconds_sum{operation="getPet"} 0.002',
        'storegate_upstream_duration_seconds_count{operation="getPet"} 1',
      ],
    ],
    [
      'an answer that leaves little of a window',
      [{ ...REQUEST, verdict: 'admitted', plan: 'free', nearLimit: true }],
      [
        'storegate_requests_total{operation="getPet",method="GET",status="200"} 1',
        'storegate_admissions_total{plan="free",verdict="admitted"} 1',
        'storegate_near_limit_admissions_total{plan="free"} 1',
        ...TIMED,
      ],
    ],
    [
      'a request that a busy backend has no place for',
      [{ ...REQUEST, verdict: 'admitted', plan: 'free', status: 503, code: 'upstream_busy' }],
      [
        'storegate_requests_total{operation="getPet",method="GET",status="503"} 1',
        'storegate_refusals_total{code="upstream_busy"} 1',
        'storegate_admissions_total{plan="free",verdict="admitted"} 1',
        'storegate_forwarded_requests_total{plan="free",result="rejected"} 1',
        ...TIMED,
      ],
    ],
    [
      'a response after its client left',
      [{ ...REQUEST, status: 499, complete: false, code: 'client_closed_request' }],
      [
        'storegate_requests_total{operation="getPet",method="GET",status="499"} 1',
        'storegate_refusals_total{code="client_closed_request"} 1',
        'storegate_incomplete_responses_total 1',
        ...TIMED,
      ],
    ],
    [
      'a ban, and another of another plan',
      ['free', 'pro'].map((plan) => ({ type: 'ban', id: 'x', keyId: 'k', plan, until: 1 })),
      ['storegate_bans_total{plan="free"} 1', 'storegate_bans_total{plan="pro"} 1'],
    ],
    [
      'connections that were too many',
      (['address', 'total', 'address'] as const).map((reason) => ({
        type: 'connection.refused',
        reason,
        address: 'a',
      })),
      [
        'storegate_connections_refused_total{reason="address"} 2',
        'storegate_connections_refused_total{reason="total"} 1',
      ],
    ],
    [
      'idle connections that made room',
      [
        { type: 'connection.ended', withKey: 0, withoutKey: 3 },
        { type: 'connection.ended', withKey: 2, withoutKey: 1 },
      ],
      [
        'storegate_connections_ended_total{key="none"} 4',
        'storegate_connections_ended_total{key="valid"} 2',
      ],
    ],
    [
      'both ends of a reload',
      [
        { type: 'reload.done', reason: '', changed: [], needRestart: [] },
        { type: 'reload.failed', reason: '', problems: [] },
      ],
      [
        'storegate_reloads_total{result="success"} 1',
        'storegate_reloads_total{result="failure"} 1',
      ],
    ],
    [
      'a fault that is only reported',
      [
        {
          type: 'contract.fault',
          id: 'x',
          api: null,
          operation: 'getPet',
          side: 'response',
          refused: false,
          count: 2,
          faults: [],
        },
      ],
      ['storegate_contract_faults_total{operation="getPet",side="response"} 1'],
    ],
    [
      'requests of two APIs with equal names, and of none',
      ([null, 'notes', 'shop'] as const).map((api) => ({
        ...REQUEST,
        api,
        operation: `${api === null ? '' : `${api}/`}a/list`,
      })),
      [
        'storegate_requests_total{operation="a/list",method="GET",status="200"} 1',
        ...['notes', 'shop'].map(
          (api) =>
            `storegate_requests_total{api="${api}",operation="a/list",method="GET",status="200"} 1`,
        ),
        ...['', 'api="notes",', 'api="shop",'].flatMap((api) => [
          `storegate_request_duration_seconds_sum{${api}operation="a/list"} 0.003`,
          `storegate_request_duration_seconds_count{${api}operation="a/list"} 1`,
        ]),
      ],
    ],
    [
      'a replaced secret',
      [{ type: 'key.retiring', id: 'x', keyId: 'k', plan: 'free' }],
      ['storegate_retiring_key_requests_total{plan="free"} 1'],
    ],
    [
      'a second attempt',
      [{ type: 'retry', id: 'x', upstream: 'default', backend: 'a:80', error: new Error('reset') }],
      ['storegate_upstream_retries_total 1'],
    ],
    [
      'a decision alone',
      [{ type: 'state.local_mode', policy: 'deny' }],
      ['storegate_state_local_mode_requests_total{policy="deny"} 1'],
    ],
    [
      'an outage of the state, which also sets its mode',
      [OUTAGE],
      ['storegate_state_outages_total 1', 'storegate_state_mode{mode="local"} 1'],
    ],
    [
      'connections until the last one is back',
      [
        { type: 'state.connection', of: 'requests', isCut: true },
        { type: 'state.connection', of: 'messages', isCut: true },
        { type: 'state.connection', of: 'requests', isCut: false },
      ],
      ['storegate_state_connections{status="down"} 1'],
    ],
    [
      'answers of the state',
      [0.2, 0.3].map((duration) => ({ type: 'state.responded', duration })),
      ['storegate_state_duration_seconds_sum 0.0005', 'storegate_state_duration_seconds_count 2'],
    ],
    [
      'the configuration that is in force last, and no other',
      ['p1', 'p2'].map((plans) => ({
        type: 'configuration.applied',
        settings: 's',
        plans,
        contract: 'c',
      })),
      ['storegate_config_info{settings="s",plans="p2",contract="c"} 1'],
    ],
    [
      'its end',
      [OUTAGE, { type: 'state.recovered', duration: 5 }],
      ['storegate_state_outages_total 1'],
    ],
    ['nothing, of what no metric is about', [{ type: 'stopping', inFlight: 1 }], []],
  ];

  test.each(counted)('%s', async (_, events, samples) => {
    expect(await changedBy(events)).toEqual(samples);
  });
});

test('the table has every metric that the dashboard, the rules and docs name, and no other', () => {
  const expressions = [
    ...dashboardExpressions.map(([, expr]) => expr),
    ...[...alerts, ...recordings].map(({ expr }) => expr),
  ];
  const docs = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'));
  const named = [
    ...expressions.flatMap((expr) => namesIn(expr).selectors.map(({ metric }) => metric)),
    ...docs.flatMap(
      (file) =>
        readFileSync(join(root, 'docs', file), 'utf8').match(/(?<=`)storegate_[a-z_]*[a-z]\b/g) ??
        [],
    ),
  ]
    .filter((name) => name.startsWith('storegate_'))
    .map((name) => name.replace(/_(bucket|sum|count)$/, ''));
  expect([...new Set(named)].sort()).toEqual(METRICS.map(({ name }) => name).sort());
});

test('the primary process reports workers, and its workers report requests', async () => {
  const crashes = [
    { ...ENDED, unexpected: true },
    { ...ENDED, unexpected: false },
  ];
  expect(await changedBy(crashes, primary())).toEqual(['storegate_worker_exits_total 1']);
  expect(await changedBy(crashes)).toEqual([]);
  expect(await textOf(primary())).toContain('\nstoregate_workers 2\n');
  expect(await textOf(primary())).not.toMatch(/storegate_(requests_in_flight|subjects|state_mode)/);
  expect(await textOf(carrier())).toContain('\nstoregate_requests_in_flight 3\n');
  expect(await textOf(carrier())).toContain('\nstoregate_subjects 4\n');
  expect(await textOf(carrier())).toContain('\nstoregate_body_bytes 5\n');
  expect(await textOf(carrier())).not.toContain('storegate_worker');
  expect(await textOf(carrier())).toContain('\nstoregate_upstream_pending_requests 1\n');
  expect(await textOf(primary())).not.toMatch(
    /storegate_(upstream_(connections|pending)|body|state_duration|config_info\{)/,
  );
  expect(await textOf(primary())).toContain(
    '\nstoregate_config_last_reload_timestamp_seconds 1900000000\n',
  );
  expect(await textOf(primary())).toContain('\nstoregate_contract_unsupported_operations 6\n');
});

test('the versions of storegate and of Node are reported by every process', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const line = `\nstoregate_build_info{version="${version}",node="${process.version}"} 1\n`;
  expect(await textOf(carrier())).toContain(line);
  expect(await textOf(primary())).toContain(line);
});

test('buckets of the state begin at a tenth of a millisecond, those of requests at a whole one', async () => {
  const metrics = carrier();
  metrics.observe({ type: 'state.responded', duration: 0.2 });
  metrics.observe(REQUEST);
  const text = await textOf(metrics);
  expect(text).toContain('storegate_state_duration_seconds_bucket{le="0.0001"} 0\n');
  expect(text).toContain('storegate_state_duration_seconds_bucket{le="0.00025"} 1\n');
  expect(text).not.toContain(
    'storegate_request_duration_seconds_bucket{operation="getPet",le="0.0001"}',
  );
});

test('the types limit a row to its events and labels', () => {
  const rows = [
    counter('n', ['bug'], { help: 'h', labelNames: ['id'], count: (add, event) => add(event.id) }),
    counter('n', ['ban'], {
      help: 'h',
      labelNames: ['id'],
      // @ts-expect-error: a ban knows no operation.
      count: (add, event) => add(event.operation),
    }),
    counter('n', ['ban'], {
      help: 'h',
      labelNames: ['id'],
      // @ts-expect-error: one label, two values.
      count: (add, event) => add(event.id, event.plan),
    }),
    counter('n', ['ban'], {
      help: 'h',
      labelNames: ['id', 'plan'],
      // @ts-expect-error: two labels, one value.
      count: (add, event) => add(event.id),
    }),
    // @ts-expect-error: unknown event.
    counter('n', ['bann'], { help: 'h', labelNames: [], count: (add) => add() }),
  ];
  expect(rows.map(({ kind }) => kind)).toEqual(Array(5).fill('counter'));
});

test('the event loop is sampled once a second, and its lag is the delay of a sample', async () => {
  const { monitorEventLoopDelay } = perfHooks;
  let resolution: number | undefined;
  perfHooks.monitorEventLoopDelay = (options) => {
    resolution = options?.resolution;
    const histogram = monitorEventLoopDelay(options);
    const seen = { max: 1_750e6, percentile: (share: number) => (share === 99 ? 1_500e6 : 999e6) };
    return new Proxy(histogram, {
      get: (own, name) =>
        Reflect.get(seen, name) ?? Reflect.get(own, name)?.bind?.(own) ?? Reflect.get(own, name),
    });
  };
  try {
    const text = await textOf(carrier());
    expect(resolution).toBe(1_000);
    for (const [name, seconds] of [
      ['max', 0.75],
      ['p99', 0.5],
      ['p50', 0],
    ])
      expect(text).toContain(`\nnodejs_eventloop_lag_${name}_seconds ${seconds}\n`);
  } finally {
    perfHooks.monitorEventLoopDelay = monitorEventLoopDelay;
  }
});
