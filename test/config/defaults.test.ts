import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Config } from '../../src/config/config.ts';
import { describeConfig } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { loadPlans } from '../../src/config/plans.ts';
import { settingsOf } from '../../src/config/settings.ts';
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

function defaultsIn(cwd: string, gateway: string): Config {
  return {
    workers: 1,
    listen: {
      host: '0.0.0.0',
      port: 8080,
      tls: { cert: null, key: null, certificates: [], minVersion: 'TLSv1.2' },
      proxyProtocol: { from: [] },
    },
    admin: {
      host: '127.0.0.1',
      port: 9901,
      token: null,
      tls: { cert: null, key: null, certificates: [], clientCa: null },
    },
    data: join(cwd, 'data'),
    redis: null,
    upstream: {
      stores: [],
      connections: 128,
      connectTimeout: 2 * second,
      headersTimeout: 10 * second,
      bodyTimeout: 30 * second,
      minResponseRate: 16 * 1024,
      tls: { ca: null, cert: null, key: null, serverName: null },
      resolve: 30 * second,
      readyWhenAway: true,
      checks: {
        path: null,
        interval: 5 * second,
        timeout: 2 * second,
        healthy: 1,
        unhealthy: 3,
        statuses: [{ from: 200, to: 399 }],
      },
      ejection: {
        enabled: true,
        failures: 5,
        timeouts: 3,
        share: 0.5,
        statuses: [],
        probe: second,
        slowReturn: 10 * second,
      },
      retries: { budget: 0.1, most: 2, on: ['connect', 'reset'], timeouts: false },
    },
    upstreams: {},
    contract: {
      file: join(root, 'config/openapi.yaml'),
      unknownQuery: 'refuse',
      leniency: 'none',
      serverPath: 'ignore',
      encodedCommas: 'data',
      integers: 'plain',
      readOnly: 'pass',
      maxDepth: 64,
      responses: 'off',
      afterSunset: 'serve',
    },
    plans: {
      plans: new Map([
        ['free', { name: 'free', count: 'key', windows: windows(60, 1000), concurrency: 10, weight: 1 }],
        ['pro', { name: 'pro', count: 'key', windows: windows(300, 10_000), concurrency: 40, weight: 4 }],
        ['business', { name: 'business', count: 'key', windows: windows(1000, 100_000), concurrency: 150, weight: 8 }],
        ['enterprise', { name: 'enterprise', count: 'key', windows: null, weight: 16 }],
      ]),
      ladder: {
        strikes: 10,
        within: minute,
        grace: 100,
        lengths: [minute, 5 * minute, 30 * minute, 2 * hour, 24 * hour],
        forget: day,
      },
      accounts: new Map(),
    },
    door: {
      trustedProxies: [],
      stripHeaders: expect.arrayContaining(['remote-user', 'x-auth-request-*', 'proxy']) as unknown as string[],
      maxConnections: 10_000,
      maxConnectionsPerAddress: 'auto',
      maxHeaderBytes: 16 * 1024,
      maxHeaders: 100,
      maxUrlBytes: 8 * 1024,
      maxBodyBytes: 1024 * 1024,
      bodyBudget: 16 * 1024 * 1024,
      minBodyRate: 1024,
      headersTimeout: 10 * second,
      requestTimeout: 30 * second,
      keepAliveTimeout: 65 * second,
      maxRequestsPerConnection: 1000,
      stallTimeout: 30 * second,
      drainDelay: 0,
      drainTimeout: 10 * second,
      guard: { failures: 60, span: minute },
    },
    addresses: { allow: [], deny: [] },
    mounts: [],
    cors: { origins: ['*'], maxAge: 10 * minute },
    reference: { enabled: true },
    console: { enabled: true, idle: 30 * minute, links: [] },
    audit: { keep: 100_000, bans: { keep: 100_000, for: 90 * 24 * 60 * minute } },
    webhooks: {
      url: null,
      secret: null,
      previousSecret: null,
      events: [],
      endpoints: [],
      timeout: 15 * second,
      keep: 3 * day,
      waiting: 10_000,
      expiring: 7 * day,
      quota: day,
    },
    explain: { requests: 10_000, sample: 1 },
    tracing: {
      endpoint: null,
      tracesEndpoint: null,
      exporter: 'otlp',
      protocol: 'http/protobuf',
      headers: null,
      compression: 'none',
      timeout: 10 * second,
      certificate: null,
      clientCertificate: null,
      clientKey: null,
      sampler: 'parentbased_traceidratio',
      ratio: 1,
      parents: 'any',
      service: null,
      resource: null,
      batch: { queue: 2048, size: 512, delay: 5 * second, timeout: 30 * second },
      clientAddress: false,
      serverTiming: false,
    },
    log: { level: 'info', requests: true, format: 'auto' },
    files: { gateway, plans: join(root, 'plans.yaml'), addresses: [] },
  };
}

describe('the defaults', () => {
  test('are what the shipped files say, wherever the gateway is started', () => {
    const cwd = folderWith();
    expect(loadConfig({ env: {}, cwd })).toEqual(defaultsIn(cwd, join(root, 'config/gateway.yaml')));
  });

  const sections = [...new Set([...settingsOf('gateway')].flatMap(([name]) => name.match(/^\w+(?=\.)/) ?? []))];

  test.each([
    ['an empty map', '{}'],
    ['sections without settings', sections.map((section) => `${section}:\n`).join('')],
  ])('hold with %s', (_, content) => {
    const cwd = folderWith({ 'gateway.yaml': content });
    expect(loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd })).toEqual(
      defaultsIn(cwd, join(cwd, 'gateway.yaml')),
    );
  });

  test('are all written in the shipped gateway.yaml, in the order of the schema', () => {
    const described = describeConfig(loadConfig({ env: {}, cwd: root }));
    const lines = described.map(({ source }) => Number(/^file config\/gateway\.yaml:(\d+):\d+$/.exec(source)?.[1]));
    expect(described.map(({ name }) => name)).toEqual([...settingsOf('gateway')].map(([name]) => name));
    expect(lines).toEqual([...lines].sort((a, b) => a - b));
  });

  test('of the ladder are those of the shipped plans.yaml, together and one by one', () => {
    const cwd = folderWith({
      'silent.yaml': 'plans: { free: { custom: true } }\n',
      'partly.yaml': 'plans: { free: { custom: true } }\nbans: { strikes: 3 }\n',
    });
    const shipped = loadPlans(join(root, 'plans.yaml')).ladder;
    expect(loadPlans('silent.yaml', cwd).ladder).toEqual(shipped);
    expect(loadPlans('partly.yaml', cwd).ladder).toEqual({ ...shipped, strikes: 3 });
  });
});
