import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

let redis: RedisServer;
let gateway: TestGateway;

beforeEach(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  await gateway.stop();
  await redis.stop();
});

async function start(settings: string): Promise<string> {
  gateway = await TestGateway.start({
    settings: `redis: { failureThreshold: 1, ${settings} }`,
    env: { REDIS_URL: redis.url },
  });
  return (await gateway.key()).secret;
}

const get = (key: string) => gateway.client.get('/categories').set('X-API-Key', key);
const lines = (msg: string) => gateway.log.filter((line) => line.msg === msg);

test('a gateway whose Redis died continues to count, and reports it once', async () => {
  const key = await start('onOutage: local');
  expect((await get(key)).headers['x-ratelimit-remaining']).toBe('59');
  await redis.kill();
  await until('the outage is reported', async () => {
    expect((await get(key)).status).toBe(200);
    return lines('state.outage').length === 1;
  });
  let response = await get(key);
  while (response.status === 200) response = await get(key);
  isTheError(response, 429, 'rate_limit_exceeded');
  expect(lines('state.outage')).toHaveLength(1);
  expect((await gateway.admin.get('/health/ready')).status).toBe(200);
});

describe('under the policy deny', () => {
  test('it returns 503 with Retry-After, is not ready, and recovers by itself', async () => {
    const key = await start('onOutage: deny, readyDuringOutage: false');
    expect((await get(key)).status).toBe(200);
    await redis.kill();
    await until('it refuses', async () => (await get(key)).status === 503);
    const response = await get(key);
    isTheError(response, 503, 'state_unavailable');
    expect(response.headers['retry-after']).toBe('1');
    isTheError(await gateway.client.get('/usage').set('X-API-Key', key), 503, 'state_unavailable');
    expect((await gateway.admin.get('/health/ready')).status).toBe(503);
    expect(lines('outage')).toEqual([]);

    const again = await startRedis({ port: redis.port });
    await until(
      'it is ready',
      async () => (await gateway.admin.get('/health/ready')).status === 200,
    );
    await gateway.stop();
    await again.stop();
  });
});

test('while Redis is down, metrics are scraped for the first time and limits are changed', async () => {
  const plans = (limit: number) =>
    `plans:\n  free: { windows: [{ limit: ${limit}, per: minute }] }\n`;
  gateway = await TestGateway.start({
    plans: plans(5),
    settings: 'redis: { deadline: 1s, failureThreshold: 1 }',
    env: { REDIS_URL: redis.url },
  });
  const { secret } = await gateway.key();
  await get(secret);
  await redis.kill();
  expect((await gateway.admin.get('/metrics')).status).toBe(200);
  writeFileSync(join(gateway.folder, 'plans.yaml'), plans(50));
  await until(
    'the limit is raised',
    async () => (await get(secret)).headers['x-ratelimit-limit'] === '50',
  );
});
