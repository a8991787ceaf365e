import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

const GATEWAYS = 3;
const FAILURES = 12;
const USAGE_LIMIT = 120;

let redis: RedisServer;
let gateways: TestGateway[];
beforeAll(async () => {
  redis = await startRedis();
  gateways = [];
  for (let i = 0; i < GATEWAYS; i++)
    gateways.push(
      await TestGateway.start({
        settings: `http: { authFailureLimit: { failures: ${FAILURES}, window: 1h } }`,
        env: { REDIS_URL: redis.url },
        ...(i > 0 && { backendUrl: 'http://127.0.0.1:9' }),
      }),
    );
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await redis.stop();
});

const nth = (i: number) => gateways[i % GATEWAYS]!;

test('an attacker who spreads wrong keys over several gateways has one limit', async () => {
  const responses = [];
  for (let i = 0; i < 2 * FAILURES; i++) {
    const { status, headers } = await nth(i).client.get('/pets').set('X-API-Key', 'sg_test_wrong');
    responses.push([status, Number(headers['x-ratelimit-remaining'])]);
  }
  expect(responses).toEqual(
    Array.from({ length: 2 * FAILURES }, (_, i) => [
      i < FAILURES ? 401 : 429,
      Math.max(0, FAILURES - 1 - i),
    ]),
  );
});

test('a key that spreads calls of /usage over several gateways has one limit', async () => {
  const { secret } = await gateways[0]!.key();
  const statuses = [];
  for (let i = 0; i < USAGE_LIMIT + GATEWAYS; i++)
    statuses.push((await nth(i).client.get('/usage').set('X-API-Key', secret)).status);
  expect(statuses).toEqual([...Array(USAGE_LIMIT).fill(200), ...Array(GATEWAYS).fill(429)]);
});

test('page views at each gateway are counted in one window', async () => {
  await gateways[0]!.client.get('/openapi.json');
  await gateways[1]!.client.get('/openapi.json');
  const names = await redis.admin.keys('*pages*');
  expect(names).toHaveLength(1);
  const views = Number(await redis.admin.get(names[0]!));
  await gateways[2]!.client.get('/docs/nothing');
  expect(Number(await redis.admin.get(names[0]!))).toBe(views + 1);
});
