import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Config } from '../../src/config/config.ts';
import { describeConfig, remember, settingsBehind, withStore } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { differences, inForce, keepsValue, needsRestart } from '../../src/config/restart.ts';
import { putAt, settingsOf } from '../../src/config/settings.ts';
import { folderWith } from './folder.ts';

const settings = [...settingsOf('gateway')];
const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
/** What other settings need to be there. */
const REDIS = {
  'redis.url': 'redis://127.0.0.1',
  'upstream.url': 'http://one.example',
  'webhooks.secret': SECRET,
};
const OTHER_PLANS = { 'other.yaml': 'plans: { free: { custom: true } }' };
/** One folder for all settings: each writes its own gateway.yaml. */
const folder = folderWith(OTHER_PLANS);

/** For each setting a value that is not the one it has by default and beside REDIS. */
const CHANGED: Readonly<Record<string, unknown>> = {
  workers: 2,
  'listen.host': '127.0.0.1',
  'listen.port': 8081,
  'listen.tls.cert': 'public.crt',
  'listen.tls.key': 'public.key',
  'listen.tls.certificates': [{ cert: 'shop.crt', key: 'shop.key' }],
  'listen.tls.minVersion': 'TLSv1.3',
  'listen.proxyProtocol.from': ['10.0.0.0/8'],
  'admin.host': '::1',
  'admin.port': 9902,
  'admin.token': 'sixteen-characters',
  'admin.tls.cert': 'admin.crt',
  'admin.tls.key': 'admin.key',
  'admin.tls.certificates': [{ cert: 'ops.crt', key: 'ops.key' }],
  'admin.tls.clientCa': 'operators.crt',
  data: 'elsewhere',
  'redis.url': null,
  'redis.topology': 'cluster',
  'redis.nodes': ['redis-2.example:6379'],
  'redis.master': 'other',
  'redis.sentinelPassword': 'secret',
  'redis.deadline': '51ms',
  'redis.misses': 4,
  'redis.whenAway': 'deny',
  'redis.divide': false,
  'redis.readyWhenAway': false,
  'redis.refusedFor': '6s',
  'redis.keysFor': '31s',
  'redis.keyCopy.enabled': false,
  'redis.keyCopy.sweep': '6m',
  'redis.keyCopy.maxAge': '23h',
  'upstream.url': 'http://store.example',
  'upstream.stores': [{ url: 'http://store.example', weight: 2 }],
  'upstream.connections': 129,
  'upstream.connectTimeout': '3s',
  'upstream.headersTimeout': '11s',
  'upstream.bodyTimeout': '31s',
  'upstream.minResponseRate': '1KiB',
  'upstream.tls.ca': 'ca.crt',
  'upstream.tls.cert': 'gateway.crt',
  'upstream.tls.key': 'gateway.key',
  'upstream.tls.serverName': 'store.example',
  'upstream.resolve': '31s',
  'upstream.readyWhenAway': false,
  'upstream.checks.path': '/health',
  'upstream.checks.interval': '6s',
  'upstream.checks.timeout': '3s',
  'upstream.checks.healthy': 2,
  'upstream.checks.unhealthy': 4,
  'upstream.checks.statuses': [204],
  'upstream.ejection.enabled': false,
  'upstream.ejection.failures': 6,
  'upstream.ejection.timeouts': 4,
  'upstream.ejection.share': 0.6,
  'upstream.ejection.statuses': ['500-599'],
  'upstream.ejection.probe': '2s',
  'upstream.ejection.slowReturn': '11s',
  'upstream.retries.budget': 0.2,
  'upstream.retries.most': 3,
  'upstream.retries.on': ['connect'],
  'upstream.retries.timeouts': true,
  upstreams: { stock: { url: 'http://stock.example' } },
  'contract.file': 'api.yaml',
  'contract.unknownQuery': 'pass',
  'contract.leniency': 'omit',
  'contract.serverPath': 'prefix',
  'contract.encodedCommas': 'separators',
  'contract.integers': 'any',
  'contract.readOnly': 'refuse',
  'contract.maxDepth': 65,
  'contract.responses': 'report',
  'contract.afterSunset': 'refuse',
  'plans.file': 'other.yaml',
  'door.trustedProxies': ['10.0.0.0/8'],
  'door.stripHeaders': [],
  'door.maxConnections': 9,
  'door.maxConnectionsPerAddress': 10,
  'door.maxHeaderBytes': '17KiB',
  'door.maxHeaders': 101,
  'door.maxUrlBytes': '9KiB',
  'door.maxBodyBytes': '2MiB',
  'door.bodyBudget': '32MiB',
  'door.minBodyRate': '2KiB',
  'door.headersTimeout': '11s',
  'door.requestTimeout': '31s',
  'door.keepAliveTimeout': '66s',
  'door.maxRequestsPerConnection': 999,
  'door.stallTimeout': '31s',
  'door.drainDelay': '1s',
  'door.drainTimeout': '11s',
  'door.guard.failures': 61,
  'door.guard.span': '2m',
  'addresses.allow': ['10.0.0.0/8'],
  'addresses.deny': ['10.1.0.0/16'],
  mounts: [{ path: '/files', target: 'http://files.example' }],
  'cors.origins': [],
  'cors.maxAge': '11m',
  'reference.enabled': false,
  'console.enabled': false,
  'console.idle': '31m',
  'console.links': [{ title: 'Grafana', url: 'https://grafana.example/' }],
  'audit.keep': 1_000,
  'audit.bans.keep': 1_000,
  'audit.bans.for': '30d',
  'webhooks.url': 'https://ops.example/storegate',
  'webhooks.secret': `whsec_${Buffer.alloc(24, 2).toString('base64')}`,
  'webhooks.previousSecret': SECRET,
  'webhooks.events': ['ban.begun'],
  'webhooks.endpoints': [{ url: 'https://ops.example/bans' }],
  'webhooks.timeout': '16s',
  'webhooks.keep': '2d',
  'webhooks.waiting': 100,
  'webhooks.expiring': '1d',
  'webhooks.quota': '1h',
  'explain.requests': 100,
  'explain.sample': 0.5,
  'tracing.endpoint': 'http://collector.example:4318',
  'tracing.tracesEndpoint': 'http://collector.example:4318/otlp',
  'tracing.exporter': 'none',
  'tracing.protocol': 'http/json',
  'tracing.headers': 'authorization=Bearer%20sixteen',
  'tracing.compression': 'gzip',
  'tracing.timeout': '11s',
  'tracing.certificate': 'ca.pem',
  'tracing.clientCertificate': 'client.pem',
  'tracing.clientKey': 'client.key',
  'tracing.sampler': 'always_on',
  'tracing.ratio': 0.5,
  'tracing.parents': 'proxies',
  'tracing.service': 'edge',
  'tracing.resource': 'deployment.environment.name=test',
  'tracing.batch.queue': 2049,
  'tracing.batch.size': 511,
  'tracing.batch.delay': '6s',
  'tracing.batch.timeout': '31s',
  'tracing.clientAddress': true,
  'tracing.serverTiming': true,
  'log.level': 'warn',
  'log.requests': false,
  'log.format': 'json',
};

/** Loads the configuration of a file with these settings, by their dotted names. */
function load(cwd: string, written: Readonly<Record<string, unknown>>): Config {
  const document: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(written)) putAt(document, name, value);
  writeFileSync(join(cwd, 'gateway.yaml'), JSON.stringify(document));
  return loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd });
}

const shown = (config: Config, name: string) => describeConfig(config).find((one) => one.name === name)?.value;

let usual: Config | undefined;
/** The configuration of REDIS. */
const unchanged = () => (usual ??= load(folder, REDIS));

/** Of a setting that cannot stand beside REDIS as it is, what stands in its place. */
const BESIDE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'upstream.stores': { 'upstream.url': null, 'upstream.stores': [{ url: 'http://store.example' }] },
};

test('every setting has another value here', () => {
  expect(Object.keys(CHANGED)).toEqual(settings.map(([name]) => name));
});

describe.each(settings)('%s', (name, schema) => {
  test('says whether it needs a restart, by itself or by its section', () => {
    expect([true, false]).toContain(schema['x-restart']);
    expect(needsRestart(name)).toBe(schema['x-restart']);
  });

  test(`is in force after a reload ${schema['x-restart'] ? 'as it was' : 'at once'}`, () => {
    const base = { ...REDIS, ...BESIDE[name] };
    const [one, other] = [
      name in BESIDE ? load(folder, base) : unchanged(),
      load(folder, { ...base, [name]: CHANGED[name] }),
    ];
    expect(differences(one, other)).toEqual([name]);
    for (const [running, loaded] of [
      [one, other],
      [other, one],
    ] as const) {
      expect(loaded).not.toEqual(running);
      const config = inForce(running, loaded);
      expect(config).toEqual(schema['x-restart'] ? running : loaded);
      expect(shown(config, name)).toBe(shown(schema['x-restart'] ? running : loaded, name));
      expect(Object.isFrozen(config)).toBe(true);
    }
  });
});

describe('a reload keeps what the start found', () => {
  test('the store that was started beside the gateway, while the file names none', () => {
    const cwd = folderWith();
    const running = withStore(load(cwd, {}), 'http://127.0.0.1:4000');
    const config = inForce(running, load(cwd, { 'upstream.connections': 7, 'cors.maxAge': '1s' }));
    expect(config.upstream).toEqual({ ...running.upstream, connections: 7 });
    expect(config.cors.maxAge).toBe(1000);
    expect(differences(running, config)).toEqual(['upstream.connections', 'cors.maxAge']);
    const { upstream } = inForce(running, load(cwd, { 'upstream.url': 'http://store.example' }));
    expect(upstream.stores).toEqual([{ url: 'http://store.example', weight: 1 }]);
  });

  test('the stores that it has, if the file names none any more', () => {
    const cwd = folderWith();
    const [running, loaded] = [load(cwd, { 'upstream.url': 'http://store.example' }), load(cwd, {})];
    const config = inForce(running, loaded);
    expect(config.upstream.stores).toEqual([{ url: 'http://store.example', weight: 1 }]);
    expect(shown(config, 'upstream.url')).toBe('"http://store.example"');
    expect([keepsValue('upstream.url', loaded), keepsValue('upstream.url', running)]).toEqual([true, false]);
  });

  test('the number of workers, even if auto would now be another', () => {
    const cwd = folderWith();
    const loaded = load(cwd, { ...REDIS, workers: 'auto' });
    const running = { ...loaded, workers: loaded.workers + 1 };
    remember(running, settingsBehind(loaded));
    expect(inForce(running, load(cwd, { workers: 'auto' })).workers).toBe(loaded.workers + 1);
  });
});

test('of many changes at once those that need no restart are in force', () => {
  const cwd = folderWith();
  const running = load(cwd, {});
  const written = { ...CHANGED, ...REDIS, 'plans.file': null, 'upstream.stores': [] };
  const loaded = load(cwd, written);
  const config = inForce(running, loaded);
  const changed = settings.filter(([, schema]) => !schema['x-restart']).map(([name]) => name);
  expect(differences(running, config)).toEqual(
    changed.filter((name) => name !== 'plans.file' && name !== 'upstream.stores'),
  );
  expect(config.redis).toBeNull();
  expect(inForce(loaded, running).redis).toEqual(loaded.redis);
});

test('docs/running.md names exactly the sections and settings that need a restart', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs/running.md'), 'utf8');
  const [, list = ''] = /A new value of ([^;]+)\sneeds a restart/.exec(text) ?? [];
  const named = [...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  const told = settings.filter(([name]) => named.some((one) => `${name}.`.startsWith(`${one}.`)));
  expect(told.map(([name]) => name)).toEqual(settings.map(([name]) => name).filter(needsRestart));
});

test('there is no setting of another name', () => {
  expect(() => needsRestart('door.colour')).toThrow('there is no setting door.colour');
});
