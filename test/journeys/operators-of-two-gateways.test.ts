import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

let redis: RedisServer;
let one: TestGateway;
let two: TestGateway;
let atOne: AdminCall;
let atTwo: AdminCall;

beforeAll(async () => {
  redis = await startRedis();
  const options = { env: { REDIS_URL: redis.url } };
  one = await TestGateway.start(options);
  two = await TestGateway.start(options);
  atOne = adminOf(one.adminUrl);
  atTwo = adminOf(two.adminUrl);
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await redis.stop();
});

const create = async (draft: object = {}) =>
  bodyOf(await atOne('POST', '/keys', { account: 'acme', plan: 'business', ...draft }));
const status = async (gateway: TestGateway, key: string) =>
  (await gateway.client.get('/pets').set('X-API-Key', key)).status;
const bothAnswer = (key: string, expected: number) =>
  until(
    `both answer ${expected}`,
    async () => (await status(one, key)) === expected && (await status(two, key)) === expected,
  );

test('a key revoked by the command line is invalid at both', async () => {
  const run = (...args: string[]) =>
    commandLine(one.folder)(args, { env: { REDIS_URL: redis.url } });
  const { out } = await run('keys', 'create', '--plan', 'pro', '--account', 'cli', '--json');
  const { id, key } = JSON.parse(out);
  await bothAnswer(key, 200);
  expect(await run('keys', 'revoke', id)).toMatchObject({ code: 0, err: '' });
  await bothAnswer(key, 401);
});

test('one call to both at once creates one key, and concurrent changes are all made', async () => {
  const once = { 'Idempotency-Key': randomUUID() };
  const body = { account: 'once', plan: 'free' };
  const responses = await Promise.all(
    [atOne, atTwo, atOne, atTwo].map((call) => call('POST', '/keys', body, once)),
  );
  expect(new Set(responses.map(({ body }) => body.key)).size).toBe(1);
  expect((await atOne('GET', '/keys?account=once')).body.keys).toHaveLength(1);
  const { id } = responses[0]!.body;
  await Promise.all([
    atOne('PATCH', `/keys/${id}`, { label: 'a' }),
    atTwo('PATCH', `/keys/${id}`, { metadata: { b: 'c' } }),
  ]);
  expect((await atTwo('GET', `/keys/${id}`)).body).toMatchObject({
    label: 'a',
    metadata: { b: 'c' },
  });
});

test('the audit log, tokens, and times of last use are shared', async () => {
  const { id, key } = await create();
  await status(two, key);
  await two.close();
  // A use by a clock that is ahead is shown as now.
  const used = Math.min(one.clock.now, two.clock.now);
  expect((await atOne('GET', `/keys/${id}`)).body.lastUsed).toBe(new Date(used).toISOString());
  await two.open();
  atTwo = adminOf(two.adminUrl);
  const { entries } = (await atTwo('GET', '/audit?limit=1000')).body;
  expect(entries.map(({ number }: { number: number }) => number)).toEqual(
    entries.map((_: unknown, i: number) => entries.length - i),
  );
  expect((await atTwo('GET', `/audit?target=${id}`)).body.entries).toEqual([
    expect.objectContaining({ action: 'keys.create' }),
  ]);
  const { token } = bodyOf(await atOne('POST', '/tokens', { name: 'shared', role: 'admin' }));
  const good = adminOf(two.adminUrl, { Authorization: `Bearer ${token}` });
  expect((await atTwo('GET', '/keys')).status).toBe(401);
  expect((await good('DELETE', '/tokens/shared')).status).toBe(200);
  expect((await atOne('GET', '/keys')).status).toBe(200);
});

test('while Redis is down operators get an error, and metrics and health still work', async () => {
  expect((await atOne('GET', '/keys')).status).toBe(200);
  redis.signal('SIGSTOP');
  try {
    expect((await one.admin.get('/metrics')).status).toBe(200);
    expect((await one.admin.get('/health/live')).status).toBe(200);
    for (const path of ['/keys', '/bans'])
      expect(await atOne('GET', path)).toMatchObject({
        status: 200,
        body: { asOf: expect.any(String) },
      });
    for (const [method, path, body] of [
      ['POST', '/keys', { account: 'acme', plan: 'free' }],
      ['GET', '/audit', undefined],
    ] as const) {
      expect(await atOne(method, path, body)).toMatchObject({
        status: 503,
        body: { code: 'state_unavailable' },
      });
    }
  } finally {
    redis.signal('SIGCONT');
  }
  await until('it is back', async () => (await atOne('GET', '/keys')).status === 200);
});
