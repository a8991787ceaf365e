import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Config } from '../../src/config/config.ts';
import { sourceOf } from '../../src/config/describe.ts';
import { environmentVariables } from '../../src/config/environment.ts';
import { loadConfig, shippedFiles } from '../../src/config/load.ts';
import { settingSchema } from '../../src/config/settings.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';
import { loadSettings, OTHER_FILES, OTHER_SECRET, OTHER_VALUES, SECRET } from './other-values.ts';

const variables = environmentVariables();
const otherToken = 'a-token-from-the-environment';
const plans = 'plans: { free: { custom: true } }\n';

function setUp(gateway: string) {
  const cwd = folderWith({
    'plans.yaml': plans,
    'other/plans.yaml': plans,
    'shipped.yaml': plans,
    'g.yaml': gateway,
  });
  const files = {
    plans: join(cwd, 'shipped.yaml'),
    contract: join(cwd, 'contract.yaml'),
    gateway: join(cwd, 'g.yaml'),
  };
  const load = (env: Record<string, string>) => loadConfig({ env, cwd, files });
  return { load };
}

const NEEDED = { 'redis.url': 'redis://127.0.0.1', 'webhooks.secret': SECRET };
const folder = folderWith(OTHER_FILES);

function textFor(name: string, written: unknown): string {
  if (name === 'OTEL_SDK_DISABLED') return 'TRUE';
  return name.startsWith('OTEL_') ? String(written).replace(/^(\d+)ms$/, '$1') : String(written);
}

describe.each([...variables].filter(([, setting]) => setting !== null))('%s', (name, setting) => {
  const other = OTHER_VALUES[setting!];
  const inFile = () => loadSettings(folder, { ...NEEDED, [setting!]: other });

  test('has the same effect as its setting, and overrides it', () => {
    const written = { ...NEEDED, [setting!]: settingSchema(setting!).default };
    const config = loadSettings(folder, written, { [name]: textFor(name, other) });
    const [first, ...others] = config.apis;
    // Where its contract is named.
    const { namedBy } = inFile().apis[0]!;
    expect({ ...config, apis: [{ ...first, namedBy }, ...others] }).toEqual(inFile());
    expect(sourceOf(config, setting!)).toEqual({ kind: 'environment', name });
  });

  test('does not override the file if it is unset or empty', () => {
    const config = loadSettings(folder, { ...NEEDED, [setting!]: other }, { [name]: '' });
    expect(config).toEqual(inFile());
    expect(sourceOf(config, setting!)).toMatchObject({ kind: 'file', file: 'gateway.yaml' });
  });
});

test('converts numbers, durations of OpenTelemetry and paths to settings', () => {
  const { workers, listen, tracing, files, contract } = loadConfig({
    env: {
      STOREGATE_WORKERS: 'auto',
      STOREGATE_CONFIG: shippedFiles.gateway,
      STOREGATE_PORT: '0',
      STOREGATE_PLANS: 'other.yaml',
      STOREGATE_CONTRACT: '/b.yaml',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1500',
      OTEL_RESOURCE_ATTRIBUTES: ' c = d%2Ce ,',
    },
    cwd: folder,
  });
  expect([workers, listen.port, files.plans, contract.file]).toEqual([
    1,
    0,
    join(folder, 'other.yaml'),
    '/b.yaml',
  ]);
  expect(tracing).toMatchObject({ ratio: 0.25, timeout: 1_500, resourceAttributes: { c: 'd,e' } });
});

test('headers for the trace collector may be in a file', () => {
  const cwd = folderWith({
    'secrets/one': 'authorization=Bearer%20one\n',
    'secrets/two': 'authorization=two',
  });
  const load = (env: Record<string, string>) => loadConfig({ env, cwd }).tracing.headers;
  expect(load({ OTEL_EXPORTER_OTLP_HEADERS_FILE: 'secrets/one' })).toEqual({
    authorization: 'Bearer one',
  });
  const both = {
    OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE: 'secrets/two',
  };
  expect(load(both)).toEqual({ authorization: 'two' });
});

test('the traces variable of OpenTelemetry wins over the general one, and only one value turns its SDK off', () => {
  const { load } = setUp('{}');
  const { tracing } = load({
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2',
    OTEL_SDK_DISABLED: 'yes',
  });
  expect(tracing).toMatchObject({ timeout: 1, exporter: 'otlp' });
});

test('ignores other variables of OpenTelemetry, valid or not, if its SDK is off', () => {
  const { load } = setUp('tracing: { endpoint: "http://a:1", sampler: always_off }');
  const off = {
    OTEL_SDK_DISABLED: 'true',
    OTEL_EXPORTER_OTLP_HEADERS_FILE: 'nowhere',
    OTEL_TRACES_EXPORTER: 'console',
  };
  const { tracing } = load({ ...off, OTEL_TRACES_SAMPLER: 'always_on' });
  expect(tracing).toMatchObject({
    exporter: 'none',
    sampler: 'always_off',
    headers: {},
  });
});

test('STOREGATE_CONFIG names the settings file, relative to the working folder', () => {
  const cwd = folderWith({ 'conf/mine.yaml': 'listen: { port: 1234 }' });
  const config = loadConfig({ env: { STOREGATE_CONFIG: 'conf/mine.yaml' }, cwd });
  expect(config.listen.port).toBe(1234);
  expect(config.files.gateway).toBe(join(cwd, 'conf/mine.yaml'));
});

describe('a wrong variable', () => {
  const wrong = (env: Record<string, string>) => mistakesOf(() => setUp('{}').load(env));

  test.each([
    ['STOREGATE_PORT', '65536', 'must be a port from 0 to 65535, is 65536'],
    ['STOREGATE_PORT', '0x50', 'must be a port from 0 to 65535, is "0x50"'],
    ['STOREGATE_PORT', ' 80', 'must be a port from 0 to 65535, is " 80"'],
    [
      'STOREGATE_DATA',
      'a\u0000b',
      'must be a path, not empty and without control characters, is "a\uFFFDb"',
    ],
    ['LOG_LEVEL', 'INFO', 'must be fatal, error, warn, info, debug, trace or silent, is "INFO"'],
    [
      'BACKEND_URL',
      'backend:3000',
      'must be an http or https URL such as http://127.0.0.1:3000, without credentials, query or fragment, or several with commas between them, is "backend:3000"',
    ],
  ])('%s=%j is reported by its name', (name, text, message) => {
    expect(wrong({ [name]: text })).toEqual([`${name}: ${message}`]);
  });

  test('is reported with all the others', () => {
    const mistakes = wrong({ STOREGATE_PORT: 'x', LOG_LEVEL: 'x', STOREGATE_NOSE: 'x' });
    expect(mistakes.map((line) => line.split(':')[0])).toEqual([
      'STOREGATE_NOSE',
      'STOREGATE_PORT',
      'LOG_LEVEL',
    ]);
  });

  test('is named in a conflict with other settings', () => {
    expect(wrong({ STOREGATE_ADMIN_HOST: '0.0.0.0' })).toEqual([
      'STOREGATE_ADMIN_HOST: needs an admin token (STOREGATE_ADMIN_TOKEN), because 0.0.0.0 can be reached from other machines; 127.0.0.1 needs none',
    ]);
    expect(wrong({ STOREGATE_PORT: '9901' })).toEqual([
      'STOREGATE_PORT: admin and public listener must not share port 9901',
    ]);
  });

  test('is reported once: no further rule is checked', () => {
    expect(wrong({ STOREGATE_ADMIN_HOST: '0.0.0.0', STOREGATE_ADMIN_TOKEN: 'short' })).toEqual([
      'STOREGATE_ADMIN_TOKEN: must be 16 to 512 visible ASCII characters without spaces, and is not (the value is not shown)',
    ]);
  });
});

describe('the admin listener', () => {
  test.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost', '::ffff:127.0.0.1'])(
    'needs no token on %s',
    (host) => {
      expect(setUp('{}').load({ STOREGATE_ADMIN_HOST: host }).admin).toMatchObject({
        host,
        token: null,
      });
    },
  );

  test.each(['0.0.0.0', '::', '10.0.0.1', 'gateway.example', '128.0.0.1', '::ffff:10.0.0.1'])(
    'needs one on %s',
    (host) => {
      expect(mistakesOf(() => setUp('{}').load({ STOREGATE_ADMIN_HOST: host }))).toHaveLength(1);
      const env = { STOREGATE_ADMIN_HOST: host, STOREGATE_ADMIN_TOKEN: otherToken };
      expect(setUp('{}').load(env).admin).toMatchObject({ host, token: otherToken });
    },
  );

  test('may share a port with the public listener on another address, or when the system chooses', () => {
    const { load } = setUp('{}');
    expect(load({ STOREGATE_HOST: '10.0.0.1', STOREGATE_PORT: '9901' }).listen.port).toBe(9901);
    expect(load({ STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0' }).admin.port).toBe(0);
  });
});

describe('an unknown variable', () => {
  const mistakes = (name: string, text = 'x') =>
    mistakesOf(() => setUp('{}').load({ [name]: text }));

  test('is a mistake if its name starts with STOREGATE_', () => {
    expect(mistakes('STOREGATE_COLOUR')).toEqual([
      `STOREGATE_COLOUR: is unknown; known are ${[...variables.keys()].join(', ')}`,
    ]);
  });

  test('is reported with a suggestion after any typo of one letter', () => {
    const names = [...variables.keys()].filter((name) => name.startsWith('STOREGATE_'));
    const slip = fc.constantFrom(...names).chain((name) =>
      fc.integer({ min: 'STOREGATE_'.length, max: name.length - 1 }).map((at) => ({
        name,
        slipped: name.slice(0, at) + name.slice(at + 1),
      })),
    );
    fc.assert(
      fc.property(slip, ({ name, slipped }) => {
        expect(mistakes(slipped)).toEqual([`${slipped}: is unknown; did you mean ${name}?`]);
      }),
      { numRuns: 30 },
    );
  });

  test('is explained if Kubernetes set it', () => {
    expect(mistakes('STOREGATE_PORT_8080_TCP_ADDR')).toEqual([
      'STOREGATE_PORT_8080_TCP_ADDR: was set by Kubernetes for a Service of this name; set enableServiceLinks: false in the pod',
    ]);
  });

  test('is ignored if it is empty, or of another program', () => {
    const { load } = setUp('{}');
    expect(
      load({ STOREGATE_COLOUR: '', HOME: '/root', PORT: 'x', storegate_port: 'x' }).listen.port,
    ).toBe(8080);
  });

  test('cannot write to the terminal', () => {
    expect(mistakes('STOREGATE_\u001b[31m\n')[0]).toMatch(
      /^STOREGATE_\uFFFD\[31m\uFFFD: is unknown/,
    );
  });

  test.each([
    ['REDIS_ULR', 'REDIS_URL'],
    ['REDIS_SENTINEL_PASWORD', 'REDIS_SENTINEL_PASSWORD'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
  ])('%s, one typo from %s, is a mistake', (name, meant) => {
    expect(mistakes(name)).toEqual([`${name}: is unknown; did you mean ${meant}?`]);
  });

  test.each([
    { REDIS_HOST: 'x', REDIS_TLS: 'x', REDIS_PASSWORD: 'x', STORE_SERVICE_HOST: 'x', LOG: 'x' },
    { REDIS_URI: 'x', REDIS_URL: 'redis://a' },
    { redis_ulr: 'x' },
  ])('is ignored if it may be meant for another program: %j', (env) => {
    expect(setUp('{}').load(env as Record<string, string>).listen.port).toBe(8080);
  });
});

describe.each([
  ['STOREGATE_ADMIN_TOKEN', otherToken, (c: Config) => c.admin.token],
  ['REDIS_URL', 'redis://:s3cr3t@b:1', (c: Config) => c.redis?.url],
  ['REDIS_SENTINEL_PASSWORD', 's3cr3t', (c: Config) => c.redis?.sentinelPassword],
  ['STOREGATE_WEBHOOK_SECRET', OTHER_SECRET, (c: Config) => c.webhooks.secret],
  ['STOREGATE_WEBHOOK_PREVIOUS_SECRET', OTHER_SECRET, (c: Config) => c.webhooks.previousSecret],
] as const)('%s in a file', (name, secret, read) => {
  const file = `${name}_FILE`;
  const setUpWith = (content: string) => {
    const cwd = folderWith({ 'secrets/one': content });
    const redis: Record<string, string> =
      name === 'REDIS_SENTINEL_PASSWORD' ? { REDIS_URL: 'redis://a' } : {};
    return (env: Record<string, string>) => loadConfig({ env: { ...redis, ...env }, cwd });
  };

  test.each(['', '\n', '\r\n'])('is read without the line end %j', (end) => {
    const config = setUpWith(secret + end)({ [file]: 'secrets/one' });
    expect(read(config)).toBe(secret);
    expect(sourceOf(config, variables.get(name)!)).toEqual({ kind: 'environment', name: file });
  });

  test.each([
    ['nowhere', 'the file that it names does not exist (the path is not shown)'],
    ['secrets', 'the file that it names must be a file, is a folder (the path is not shown)'],
    [secret, 'the file that it names does not exist (the path is not shown)'],
  ])('is a mistake if it cannot be read: %s', (path, message) => {
    expect(mistakesOf(() => setUpWith(secret)({ [file]: path }))).toEqual([`${file}: ${message}`]);
  });

  test('is a mistake if it is empty, or if the secret is given twice', () => {
    expect(mistakesOf(() => setUpWith('\n')({ [file]: 'secrets/one' }))).toEqual([
      `${file}: the file that it names is empty`,
    ]);
    expect(mistakesOf(() => setUpWith(secret)({ [file]: 'secrets/one', [name]: secret }))).toEqual([
      `${file}: ${name} is set too; set one of them`,
    ]);
  });

  test('is checked by the same rules, under the name of its variable, and never shown', () => {
    const mistakes = mistakesOf(() => setUpWith(`${secret} ${secret}`)({ [file]: 'secrets/one' }));
    expect(mistakes).toEqual([expect.stringMatching(`^${file}: must be `)]);
    expect(mistakes.join()).not.toContain('s3cr3t');
    expect(mistakes.join()).not.toContain(otherToken);
  });
});
