import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeConfig } from '../../src/config/describe.ts';
import { loadConfig, shippedFiles } from '../../src/config/load.ts';
import { settingsOf } from '../../src/config/settings.ts';
import { loadPlans } from '../support/load-plans.ts';
import { folderWith } from './folder.ts';

const root = resolve(import.meta.dirname, '../..');
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

function windows(perMinute: number, perDay: number) {
  return [
    { name: 'minute', kind: 'fixed', limit: perMinute, span: minute },
    { name: 'day', kind: 'fixed', limit: perDay, span: day },
  ] as const;
}

function defaultsIn(cwd: string, gateway: string) {
  return {
    workers: 1,
    listen: {
      port: 8080,
      tls: { cert: null, certificates: [], minVersion: 'TLSv1.2' },
      proxyProtocol: { trustedBalancers: [] },
    },
    admin: { host: '127.0.0.1', port: 9901, token: null },
    data: join(cwd, 'data'),
    redis: null,
    upstream: {
      backends: [],
      connectTimeout: 2 * second,
      minResponseRate: 16 * 1024,
      tls: { ca: null, cert: null, key: null, serverName: null },
      healthChecks: { path: null, interval: 5 * second, statuses: [{ from: 200, to: 399 }] },
      ejection: { enabled: true, failureRate: 0.5, statuses: [] },
      retries: { on: ['connect', 'reset'] },
    },
    upstreams: {},
    contract: { file: join(root, 'config/openapi.yaml'), unknownQuery: 'refuse', maxDepth: 64 },
    plans: {
      plans: new Map([
        [
          'free',
          { name: 'free', count: 'key', windows: windows(60, 1000), concurrency: 60, weight: 1 },
        ],
        [
          'pro',
          { name: 'pro', count: 'key', windows: windows(300, 10_000), concurrency: 300, weight: 4 },
        ],
        [
          'business',
          {
            name: 'business',
            count: 'key',
            windows: windows(1000, 100_000),
            concurrency: 1000,
            weight: 8,
          },
        ],
        ['enterprise', { name: 'enterprise', count: 'key', windows: null, weight: 16 }],
      ]),
      escalation: {
        strikes: 10,
        window: minute,
        grace: 100,
        durations: [minute, 5 * minute, 30 * minute, 2 * hour, 24 * hour],
        decay: day,
      },
      accounts: new Map(),
    },
    http: {
      trustedProxies: [],
      maxConnectionsPerAddress: 'auto',
      maxBodyBytes: 1024 * 1024,
      bodyBudget: 16 * 1024 * 1024,
      drainDelay: 0,
      authFailureLimit: { failures: 60, window: minute },
    },
    addresses: { allow: [], deny: [] },
    apis: [{ name: 'default', host: null, path: '/', backends: 'default', target: null }],
    audit: { maxEntries: 100_000, bans: { maxEntries: 100_000, maxAge: 90 * day } },
    tracing: { endpoint: null, headers: null, ratio: 1, batch: { scheduleDelay: 5 * second } },
    files: { gateway, plans: join(root, 'plans.yaml'), others: [] },
  };
}

describe('the defaults', () => {
  test('are those of the shipped files, wherever the gateway is started', () => {
    const cwd = folderWith();
    expect(loadConfig({ env: {}, cwd })).toMatchObject(defaultsIn(cwd, shippedFiles.gateway));
  });

  test('take the plans.yaml of the working folder, as the gateway.yaml there', () => {
    const cwd = folderWith({
      'gateway.yaml': '{}',
      'plans.yaml': 'plans: { own: { custom: true } }',
    });
    const { files, plans } = loadConfig({ env: {}, cwd });
    expect(files.plans).toBe(join(cwd, 'plans.yaml'));
    expect([...plans.plans.keys()]).toEqual(['own']);
  });

  const sections = [
    ...new Set([...settingsOf('gateway')].flatMap(([name]) => name.match(/^\w+(?=\.)/) ?? [])),
  ];

  test.each([
    ['an empty map', '{}'],
    ['sections without settings', sections.map((section) => `${section}:\n`).join('')],
  ])('apply with %s', (_, content) => {
    const cwd = folderWith({ 'gateway.yaml': content });
    const shipped = loadConfig({ env: {}, cwd });
    expect(loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd })).toEqual({
      ...shipped,
      files: { ...shipped.files, gateway: join(cwd, 'gateway.yaml') },
    });
  });

  test('are all written in the shipped gateway.yaml, in the order of the schema', () => {
    const described = describeConfig(loadConfig({ env: {}, cwd: root }));
    const lines = described.map(({ source }) =>
      Number(/^file config\/gateway\.yaml:(\d+):\d+$/.exec(source)?.[1]),
    );
    expect(described.map(({ name }) => name)).toEqual(
      [...settingsOf('gateway')].map(([name]) => name),
    );
    expect(lines).toEqual([...lines].sort((a, b) => a - b));
  });

  test('of bans are those of the shipped plans.yaml, together and one by one', () => {
    const cwd = folderWith({
      'silent.yaml': 'plans: { free: { custom: true } }\n',
      'partly.yaml': 'plans: { free: { custom: true } }\nbans: { strikes: 3 }\n',
    });
    const shipped = loadPlans(join(root, 'plans.yaml')).escalation;
    expect(loadPlans('silent.yaml', cwd).escalation).toEqual(shipped);
    expect(loadPlans('partly.yaml', cwd).escalation).toEqual({ ...shipped, strikes: 3 });
  });
});
