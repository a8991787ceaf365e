import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { isTheError } from '../support/expect-headers.ts';
import { bodyOf } from '../support/failure.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { Fixture } from './fixture.ts';

const responses = { 200: { description: 'Good.' } };
const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Items', version: '1' },
  paths: {
    '/open': { get: { operationId: 'open', responses } },
    '/items': {
      get: { operationId: 'readItems', 'x-required-scopes': ['items:read'], responses },
      post: {
        operationId: 'makeItem',
        'x-required-scopes': ['items:read', 'items:write'],
        requestBody,
        responses,
      },
    },
  },
};

let redis: RedisServer;
let fixture: Fixture;
let admin: AdminCall;
beforeAll(async () => {
  redis = await startRedis();
  fixture = await Fixture.start({
    document: DOCUMENT,
    plans:
      'plans: {free: {windows: [{per: minute, limit: 1000}]}, small: {windows: [{per: minute, limit: 3}]}}\n',
    env: { REDIS_URL: redis.url },
  });
  admin = adminOf(fixture.gateway.adminUrl);
});
afterAll(async () => {
  await fixture?.stop();
  await redis.stop();
});

const key = async (...scopes: string[]) =>
  bodyOf(await admin('POST', '/keys', { account: 'acme', plan: 'free', scopes })) as {
    id: string;
    key: string;
  };
const ask = (method: 'get' | 'head' | 'post' | 'put' | 'patch', path: string, secret: string) =>
  fixture.gateway.client[method](path).set('X-API-Key', secret);
const statuses = async (secret: string) =>
  await Promise.all([
    ask('get', '/open', secret).then(({ status }) => status),
    ask('get', '/items', secret).then(({ status }) => status),
    ask('head', '/items', secret).then(({ status }) => status),
    ask('post', '/items', secret)
      .send({})
      .then(({ status }) => status),
  ]);

test('a key may call operations whose scopes it has all, and operations without scopes', async () => {
  expect(await statuses((await key()).key)).toEqual([200, 403, 403, 403]);
  expect(await statuses((await key('items:read')).key)).toEqual([200, 200, 200, 403]);
  expect(await statuses((await key('items:write')).key)).toEqual([200, 403, 403, 403]);
  expect(await statuses((await key('other', 'items:write', 'items:read')).key)).toEqual([
    200, 200, 200, 200,
  ]);
  expect(
    await statuses((await key('Items:read', 'items:*', 'items', 'items:read:all')).key),
  ).toEqual([200, 403, 403, 403]);
});

test('a key without scopes gets the missing ones, and nothing reaches the backend', async () => {
  const { key: secret, id } = await key('items:write');
  fixture.backend.requests.length = 0;
  fixture.gateway.log.length = 0;
  const refused = await ask('post', '/items?items:read=1', secret).send({
    scopes: ['items:read'],
  });
  isTheError(refused, 403, 'scope_missing');
  expect(refused.body.message).toMatch(/^This API key lacks the scope items:read\./);
  expect(refused.headers['www-authenticate']).toBe(
    'Bearer realm="storegate", error="insufficient_scope", scope="items:read items:write"',
  );
  expect(JSON.stringify([refused.body, refused.headers])).not.toContain(secret);
  expect(fixture.backend.requests).toEqual([]);
  await until('it is in the log', () =>
    fixture.gateway.log.some((line) => line.code === 'scope_missing'),
  );
  expect(fixture.gateway.log.find((line) => line.code === 'scope_missing')).toMatchObject({
    operation: 'makeItem',
    status: 403,
  });
  expect((await fixture.gateway.admin.get('/metrics')).text).toMatch(/code="scope_missing"} [1-9]/);
  const usage = await ask('get', '/usage', secret);
  expect(usage.body.key).toMatchObject({ id, scopes: ['items:write'] });
});

test.each(['GET /%69tems', 'GET /items?x', 'HEAD /%69%74ems', 'GET http://a/items'])(
  'another spelling gives no access: %s',
  async (line) => {
    const { key: secret } = await key();
    const response = await fixture.ask(
      `${line} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${secret}\r\nX-HTTP-Method-Override: POST\r\n\r\n`,
    );
    expect(response.status).toBe(403);
  },
);

test('a refusal is charged like every other, so a flood of them ends in 429', async () => {
  const { key: secret } = bodyOf(await admin('POST', '/keys', { account: 'flood', plan: 'small' }));
  const responses = [];
  for (let i = 0; i < 4; i++) responses.push(await ask('get', '/items', secret));
  expect(
    responses.map(({ status, headers }) => [status, headers['x-ratelimit-remaining']]),
  ).toEqual([
    [403, '2'],
    [403, '1'],
    [403, '0'],
    [429, '0'],
  ]);
});

test('an unknown path or method is reported as such', async () => {
  const { key: secret } = await key();
  isTheError(await ask('get', '/nowhere', secret), 404, 'not_found');
  isTheError(await ask('put', '/open', secret), 405, 'method_not_allowed');
  isTheError(await fixture.gateway.client.get('/items'), 401, 'missing_api_key');
});

test('scopes that are added, removed or kept by a rotation apply from then on', async () => {
  const { key: secret, id } = await key();
  const becomes = (of: string, status: number) =>
    until(`it is ${status}`, async () => (await ask('get', '/items', of)).status === status);
  await becomes(secret, 403);
  await admin('PATCH', `/keys/${id}`, { scopes: ['items:read'] });
  await becomes(secret, 200);
  const rotated = bodyOf(await admin('POST', `/keys/${id}/rotate`, { overlap: '1h' })).key;
  await becomes(rotated, 200);
  await becomes(secret, 200);
  await admin('PATCH', `/keys/${id}`, { scopes: [] });
  await becomes(rotated, 403);
  await becomes(secret, 403);
});
