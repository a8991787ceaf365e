import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeConfig } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problems/problems.ts';
import { folderWith } from './folder.ts';

/** Generated, so that no fixture contains a secret. */
const secret = fc.stringMatching(/^[a-f0-9]{16}$/).map((text) => `s3cr3t${text}`);

function saidWhen(env: Record<string, string>, gateway: string): string {
  const cwd = folderWith({ 'g.yaml': gateway });
  try {
    loadConfig({ env: { STOREGATE_CONFIG: 'g.yaml', ...env }, cwd });
  } catch (error) {
    if (error instanceof ConfigError) return inspect(error, { depth: 9 });
    throw error;
  }
  throw new Error('nothing was found wrong');
}

const places: readonly [
  string,
  (secret: string) => { env?: Record<string, string>; file?: string },
][] = [
  ['a token with a space', (s) => ({ env: { STOREGATE_ADMIN_TOKEN: `${s} ${s}` } })],
  ['a token in the file', (s) => ({ file: `admin: { token: [${s}] }` })],
  ['a token in place of its section', (s) => ({ file: `admin: ${s}` })],
  ['a token beside another mistake', (s) => ({ file: `admin: { token: ${s}, host: 0.0.0.0.0 }` })],
  [
    'a Redis password with a slash',
    (s) => ({ env: { REDIS_URL: `redis://:${s}/x@redis.example` } }),
  ],
  ['a Redis query', (s) => ({ env: { REDIS_URL: `redis://redis.example?password=${s}` } })],
  ['a Redis URL in place of its section', (s) => ({ file: `redis: redis://:${s}@redis.example` })],
  ['a Redis URL as key', (s) => ({ file: `{ redis: { "redis://:${s}@redis.example": 1 } }` })],
  ['a Redis URL as the whole file', (s) => ({ file: `redis://:${s}@redis.example` })],
  ['a Sentinel password with a space', (s) => ({ env: { REDIS_SENTINEL_PASSWORD: `${s} ${s}` } })],
  ['a webhook URL', (s) => ({ env: { STOREGATE_WEBHOOK_URL: `http://hooks.example/${s}` } })],
  [
    'a webhook URL without a secret',
    (s) => ({ env: { STOREGATE_WEBHOOK_URL: `https://hooks.example/${s}` } }),
  ],
  [
    'a webhook URL that is there twice',
    (s) => ({
      file: `webhooks: { url: "https://a/${s}", endpoints: [{ url: "https://a/${s}" }] }`,
    }),
  ],
  ['a webhook secret', (s) => ({ env: { STOREGATE_WEBHOOK_SECRET: s } })],
  ['a webhook secret in the file', (s) => ({ file: `webhooks: { previousSecret: whsec_${s} }` })],
  ['a backend password', (s) => ({ env: { BACKEND_URL: `https://shop:${s}@backend.example` } })],
  ['a backend fragment', (s) => ({ env: { BACKEND_URL: `https://store.example/#${s}` } })],
  ['a value behind a syntax mistake', (s) => ({ file: `admin:\n  token: a\n}${s}\n` })],
  ['an unfinished quote', (s) => ({ file: `admin:\n  token: "${s}\n` })],
  ['a value with a tag', (s) => ({ file: `admin:\n  token: !secret ${s}\n` })],
  ['a text after a quote', (s) => ({ file: `admin:\n  token: "a" ${s}\n` })],
  ['a text after a block head', (s) => ({ file: `admin:\n  token: | ${s}\n` })],
  ['a key set twice', (s) => ({ file: `admin:\n  token: ${s}\n  token: ${s}\n` })],
  [
    'a header for the receiver of spans',
    (s) => ({ env: { OTEL_EXPORTER_OTLP_HEADERS: `authorization ${s}` } }),
  ],
  [
    'a password of the receiver',
    (s) => ({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `https://u:${s}@b` } }),
  ],
  ['the value of an unknown variable', (s) => ({ env: { STOREGATE_TOKEN: s } })],
];

describe('no message ever shows', () => {
  test.each(places)('%s', (_, place) => {
    fc.assert(
      fc.property(secret, (text) => {
        const { env = {}, file = '' } = place(text);
        expect(saidWhen(env, file)).not.toContain(text);
      }),
      { numRuns: 5 },
    );
  });
});

describe('the description of a configuration', () => {
  test('masks the token and the password, and still shows the address of Redis', () => {
    const [text] = fc.sample(secret, 1) as [string];
    const env = {
      STOREGATE_ADMIN_TOKEN: text,
      REDIS_URL: `rediss://gate:${text}@redis.example:6380/1`,
    };
    const described = describeConfig(loadConfig({ env, cwd: folderWith() }));
    expect(inspect(described, { maxArrayLength: null })).not.toContain(text);
    expect(described).toContainEqual({
      name: 'admin.token',
      value: '"***"',
      source: 'environment STOREGATE_ADMIN_TOKEN',
    });
    expect(described).toContainEqual({
      name: 'redis.url',
      value: '"rediss://***@redis.example:6380/1"',
      source: 'environment REDIS_URL',
    });
  });

  test('hides a token that looks like a URL', () => {
    const env = { STOREGATE_ADMIN_TOKEN: 'redis://looks-like-a-host' };
    expect(describeConfig(loadConfig({ env, cwd: folderWith() }))).toContainEqual(
      expect.objectContaining({ name: 'admin.token', value: '"***"' }),
    );
  });
});
