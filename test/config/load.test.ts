import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeConfig, sourceOf } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { folderWith } from './folder.ts';

function load(gateway: string, env: Record<string, string> = {}) {
  const cwd = folderWith({ 'conf/g.yaml': gateway });
  return { cwd, config: loadConfig({ env: { STOREGATE_CONFIG: 'conf/g.yaml', ...env }, cwd }) };
}

test('paths inside a file are relative to the working folder, not to the file', () => {
  const { cwd, config } = load('data: state\ncontract: { file: ./api.yaml }\n');
  expect(config.data).toBe(join(cwd, 'state'));
  expect(config.contract.file).toBe(join(cwd, 'api.yaml'));
});

test('targets are normalized URLs without a trailing slash, and WebSockets are off by default', () => {
  const { config } = load(`
upstream: { url: HTTPS://Backend.Example:443/base// }
apis:
  - { name: files, path: /files, contract: none, stripPath: false, target: http://127.0.0.1:3001/ }
  - { name: live-v1, path: /live/v1, contract: none, stripPath: false, target: http://127.0.0.1:3002/x, websocket: true }
`);
  expect(config.upstream.backends).toEqual([{ url: 'https://backend.example/base', weight: 1 }]);
  const unset = {
    host: null,
    stripPath: false,
    backends: null,
    keys: config.keys,
    addresses: { allow: [], deny: [] },
  };
  expect(config.apis.slice(1)).toMatchObject([
    { ...unset, path: '/files', target: 'http://127.0.0.1:3001', websocket: false },
    { ...unset, path: '/live/v1', target: 'http://127.0.0.1:3002/x', websocket: true },
  ]);
});

describe('the backends of an upstream', () => {
  test.each([
    [
      'several URLs',
      'upstream: { url: "http://a:1, https://B/x/" }',
      {},
      [
        ['http://a:1', 1],
        ['https://b/x', 1],
      ],
    ],
    [
      'a list with weights',
      'upstream: { backends: [{ url: http://a:1, weight: 3 }, { url: http://b }] }',
      {},
      [
        ['http://a:1', 3],
        ['http://b', 1],
      ],
    ],
    [
      'the variable, which beats a list',
      'upstream: { backends: [{ url: http://a:1 }] }',
      { BACKEND_URL: 'http://c,http://d' },
      [
        ['http://c', 1],
        ['http://d', 1],
      ],
    ],
  ] as const)('are %s', (_, gateway, env, backends) => {
    const { config } = load(gateway, env);
    expect(config.upstream.backends).toEqual(backends.map(([url, weight]) => ({ url, weight })));
  });
});

test('an upstream inherits everything but its backends', () => {
  const { config } = load(`
upstream: { url: http://a, headersTimeout: 3s, healthChecks: { path: /up, interval: 7s }, retries: { on: [] } }
upstreams:
  stock: { url: http://b, healthChecks: { path: /health }, ejection: { statuses: [503] } }
  files: { backends: [{ url: http://c }], headersTimeout: 1m }
apis: [{ name: files-too, path: /files, contract: none, upstream: files }, { name: more, path: /more, contract: none, stripPath: false }]
`);
  const { stock, files } = config.upstreams;
  expect(stock).toEqual({
    ...config.upstream,
    backends: [{ url: 'http://b', weight: 1 }],
    healthChecks: { ...config.upstream.healthChecks, path: '/health' },
    ejection: { ...config.upstream.ejection, statuses: [{ from: 503, to: 503 }] },
  });
  expect(files).toEqual({
    ...config.upstream,
    backends: [{ url: 'http://c', weight: 1 }],
    headersTimeout: 60_000,
  });
  expect(config.upstream.healthChecks.interval).toBe(7_000);
  expect(config.apis.slice(1).map(({ backends }) => backends)).toEqual(['files', 'default']);
});

describe('is accepted unchanged', () => {
  test.each([
    [
      'trusted proxies of both families',
      'http: { trustedProxies: [10.0.0.0/8, 192.0.2.1, "::1", 0.0.0.0/0] }',
    ],
    [
      'an API whose path only begins like another one',
      'apis: [{ name: documents, path: /documents, contract: none, stripPath: false, target: http://a }, { name: document, path: /document, contract: none, stripPath: false, target: http://a }]',
    ],
    ['an IPv6 backend', 'upstream: { url: "http://[::1]:3000" }'],
    ['sizes in plain bytes', 'http: { maxBodyBytes: 1000, maxUrlBytes: "2000" }'],
    ['equal limits', 'http: { headersTimeout: 30s, maxUrlBytes: 16KiB }'],
  ])('%s', (_, gateway) => {
    expect(() => load(gateway)).not.toThrow();
  });
});

describe('the configuration', () => {
  test('is immutable', () => {
    const { config } = load(
      'apis: [{ name: a, path: /a, contract: none, stripPath: false, target: http://a }]\nhttp: { trustedProxies: [10.0.0.0/8] }',
    );
    const pending: unknown[] = [config];
    let seen = 0;
    while (pending.length > 0) {
      const value = pending.pop();
      if (typeof value !== 'object' || value === null) continue;
      seen += 1;
      expect(Object.isFrozen(value)).toBe(true);
      pending.push(...Object.values(value), ...(value instanceof Map ? value.values() : []));
    }
    expect(seen).toBeGreaterThan(30);
  });

  test('has read-only maps', () => {
    const plans = load('{}').config.plans.plans as Map<string, unknown>;
    expect([...plans.keys()]).toEqual(['free', 'pro', 'business', 'enterprise']);
    for (const write of [
      () => plans.set('x', 1),
      () => plans.delete('free'),
      () => plans.clear(),
    ]) {
      expect(write).toThrow(new TypeError('the configuration is read-only'));
    }
    expect(plans.size).toBe(4);
  });
});

describe('where a value came from', () => {
  test('is reported for each setting: environment, file with its position, or default', () => {
    const { config } = load('http:\n  maxBodyBytes: 2MiB\n', { LOG_LEVEL: 'warn' });
    const described = new Map(
      describeConfig(config).map(({ name, value, source }) => [name, `${value} ${source}`]),
    );
    expect(described.get('log.level')).toBe('"warn" environment LOG_LEVEL');
    expect(described.get('http.maxBodyBytes')).toBe('"2MiB" file conf/g.yaml:2:17');
    expect(described.get('listen.port')).toBe('8080 default');
    expect(described.get('apis')).toBe('[] default');
  });

  test('is known only for existing settings of a loaded configuration', () => {
    const { config } = load('{}');
    expect(() => sourceOf(config, 'http.colour')).toThrow('unknown setting http.colour');
    expect(() => describeConfig({ ...config })).toThrow('only a Config that loadConfig returned');
  });
});
