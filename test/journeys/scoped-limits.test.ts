import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadContract } from '../../src/config/contract/contract.ts';
import { type AdminCall, adminOf } from '../support/admin.ts';
import type { Response } from '../support/client.ts';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { contractWith } from '../support/scoped.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 20, per: minute }, { limit: 1000, per: day }] }
  tiny: { windows: [{ limit: 2, per: hour }] }
bans: { strikes: 3, workers: 1, window: 1h, grace: 1ms, durations: [1m] }
`;
const LIMITED = {
  operations: { listCategories: '3/minute' },
  tags: { Animals: [{ limit: 4, per: 'hour' }] },
};
const folder = temporaryFolders({ keep: true });
let redis: RedisServer;
let gateway: TestGateway;
let admin: AdminCall;
beforeAll(async () => {
  redis = await startRedis();
  const contract = join(folder(), 'own.yaml');
  writeFileSync(contract, contractWith(LIMITED));
  gateway = await TestGateway.start({
    plans: PLANS,
    settings: `contract: { file: ${contract} }\nredis: { deadline: 5s }\n`,
    env: { REDIS_URL: redis.url },
  });
  admin = adminOf(gateway.adminUrl);
});
afterAll(async () => {
  await gateway.stop();
  await redis.stop();
});

const get = (path: string, key: string) => gateway.client.get(path).set('X-API-Key', key);
const remaining = ({ headers }: Response) => headers['x-ratelimit-remaining'];

test('an operation is limited separately: in one step with the plan, and refused with its name', async () => {
  const { secret } = await gateway.key();
  for (let i = 0; i < 3; i++) expect((await get('/categories', secret)).status).toBe(200);
  const refused = await get('/categories', secret);
  isTheError(refused, 429, 'rate_limit_exceeded');
  expect(refused.body.message).toMatch(/^Limit of 3 per minute for listCategories exceeded: /);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(refused.headers).toMatchObject({
    'x-ratelimit-limit': '3',
    'x-ratelimit-remaining': '0',
  });
  expect(refused.headers['ratelimit-policy']).toBe(
    '"minute";q=20;w=60, "day";q=1000;w=86400, "listCategories:minute";q=3;w=60',
  );
  expect(refused.headers.ratelimit).toMatch(
    /^"minute";r=17;t=\d+, .*, "listCategories:minute";r=0;t=\d+$/,
  );
  const again = await get('/categories', secret);
  expect(again.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
  const other = await get('/store/orders', secret);
  expect(other.status).toBe(200);
  expect(remaining(other)).toBe('16');
  expect(other.headers['ratelimit-policy']).toBe('"minute";q=20;w=60, "day";q=1000;w=86400');
});

test('a tag is limited over all its operations together', async () => {
  const { secret } = await gateway.key();
  const paths = ['/pets', '/pets/1', '/pets', '/pets/2'];
  for (const path of paths) expect((await get(path, secret)).status).not.toBe(429);
  const refused = await get('/pets/3', secret);
  isTheError(refused, 429, 'rate_limit_exceeded');
  expect(refused.body.message).toContain('Limit of 4 per hour for the tag Animals exceeded');
  expect(refused.headers.ratelimit).toContain('"tag:Animals:hour";r=0');
  expect(refused.headers).toMatchObject({
    'x-ratelimit-limit': '4',
    'x-ratelimit-remaining': '0',
  });
  expect((await get('/categories', secret)).status).toBe(200);
});

test('a client that continues after the refusal is banned from everything', async () => {
  const { secret } = await gateway.key();
  for (let i = 0; i < 3; i++) await get('/categories', secret);
  await until('the ban has begun', async () => {
    gateway.clock.pass(10);
    return (await get('/categories', secret)).status === 403;
  });
  isTheError(await get('/store/orders', secret), 403, 'key_banned');
  const { body } = await admin('GET', '/bans');
  expect(body.bans[0]).toMatchObject({ limit: '3/minute for listCategories' });
});

test('clients and operators see every window, and operators grant units by its name', async () => {
  const { secret, id } = await gateway.key();
  await get('/categories', secret);
  await get('/pets', secret);
  const usage = await get('/usage', secret);
  expect(usage.body.windows).toMatchObject([
    { name: 'minute', used: 2 },
    { name: 'listCategories:minute', operation: 'listCategories', limit: 3, used: 1 },
    { name: 'tag:Animals:hour', tag: 'Animals', limit: 4, used: 1 },
    { name: 'day', used: 2 },
  ]);
  const file = join(gateway.folder, 'served.json');
  writeFileSync(file, (await gateway.client.get('/openapi.json')).text);
  const { operation } = loadContract(file).match('GET', '/usage');
  expect(
    operation!.checkResponse(200, usage.headers['content-type'], Buffer.from(usage.text)),
  ).toEqual([]);
  const used = async (body?: unknown) =>
    (body === undefined
      ? await admin('GET', `/usage/${id}`)
      : await admin('POST', `/usage/${id}/grant`, body)
    ).body.usage[0].windows.map((window: { used: number }) => window.used);
  expect(await used({ units: 1, window: 'listCategories:minute' })).toEqual([2, 0, 1, 2]);
  expect(await used({ units: 1, window: 'minute' })).toEqual([1, 0, 1, 2]);
  expect(await used()).toEqual([1, 0, 1, 2]);
  const unknown = await admin('POST', `/usage/${id}/grant`, { units: 1, window: 'Animals:hour' });
  expect(unknown.body.message).toContain(
    'windows: minute, listCategories:minute, tag:Animals:hour, day.',
  );
});
