import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
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

const get = (key: string) => gateway.client.get('/categories').set('X-API-Key', key);

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
