import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { loadPlans } from '../support/load-plans.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 3, per: minute }] }\n';
const NAMES = ['one', 'two', 'three', 'four'];

let redis: RedisServer;
let one: TestGateway;
let two: TestGateway;
let calls: [AdminCall, AdminCall];
let file: string;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  await redis.admin.flushall();
  const env = { REDIS_URL: redis.url };
  one = await TestGateway.start({ plans: PLANS, env });
  file = join(one.folder, 'plans.yaml');
  two = await TestGateway.start({ env: { ...env, STOREGATE_PLANS: file } });
  calls = [adminOf(one.adminUrl), adminOf(two.adminUrl)];
});
afterEach(async () => {
  await Promise.all([one.stop(), two.stop()]);
});

const inFile = () => [...loadPlans(file).plans.keys()].sort();
const put = (call: AdminCall, name: string) =>
  call('PUT', `/plans/${name}`, { create: true, limits: '9/minute' });
/** A key of each new plan makes every simulation ask Redis, so that concurrent calls overlap. */
async function haveKeys(): Promise<void> {
  for (let i = 0; i < 5; i++) await calls[0]('POST', '/keys', { account: `a${i}`, plan: 'free' });
}

function held(names: readonly string[], statuses: readonly number[]): string[] {
  for (const status of statuses) expect([200, 409]).toContain(status);
  return names.filter((_, i) => statuses[i] === 200);
}

test('plans that are set at once at two gateways on one file are kept, and in force at both', async () => {
  await haveKeys();
  const responses = await Promise.all(NAMES.map((name, i) => put(calls[i % 2]!, name)));
  const kept = held(
    NAMES,
    responses.map(({ status }) => status),
  );
  expect(inFile()).toEqual(['free', ...kept].sort());
  for (const call of calls)
    for (const name of kept)
      await until(
        `${name} is in force`,
        async () => (await call('GET', `/plans/${name}`)).status === 200,
      );
});

test('a plan that one gateway cannot put in force removes no plan of the other', async () => {
  writeFileSync(join(one.folder, 'gateway.yaml'), 'nonsense: true\n');
  const [refused, taken] = await Promise.all([put(calls[0], 'refused'), put(calls[1], 'taken')]);
  expect([refused.status, taken.status]).toEqual([422, 200]);
  expect(inFile()).toEqual(['free', 'taken']);
  const { entries } = (await calls[1]('GET', '/audit?target=refused')).body;
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'plans.set.failed',
    'plans.set',
  ]);
});
