import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FaultyStore, hangs } from '../support/faulty-store.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { flood, GatewayWithWorkers } from '../support/workers.ts';

const QUICK = 'headersTimeout: 1s, ejection: { probe: 50ms, slowReturn: 100ms }';

let redis: RedisServer;
let stores: FaultyStore[];
let gateway: GatewayWithWorkers;
beforeAll(async () => {
  redis = await startRedis();
  stores = [await FaultyStore.start(), await FaultyStore.start()];
  const urls = stores.map(({ url }) => url).join(',');
  const files = { 'gateway.yaml': `upstream: { url: "${urls}", ${QUICK} }\n` };
  gateway = await GatewayWithWorkers.start({ redisUrl: redis.url, files });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all(stores.map((store) => store.close()));
  await redis.stop();
});

const workersThatTold = (type: string, store: FaultyStore) =>
  new Set(gateway.told(type).flatMap((line) => (line.store === store.name ? [line.worker] : []))).size;

test('every worker finds out by itself that a store hangs, and that it is back; a reload reaches all', async () => {
  const { key } = await gateway.key('1000000/hour');
  const headers = { 'x-api-key': key };
  const load = () => flood(`${gateway.url}/pets`, { callers: 8, requests: 40, headers });
  const [one, two] = stores as [FaultyStore, FaultyStore];
  one.act = hangs;
  await until('both workers know', async () => {
    await load();
    return workersThatTold('store.away', one) === 2;
  });
  expect(new Set((await load()).map(({ status }) => status))).toEqual(new Set([200]));
  gateway.write('gateway.yaml', `upstream: { url: "${two.url}", ${QUICK} }\n`);
  await until('a reload has put it in force', () => gateway.told('reload.done').length > 0);
  const before = one.requests.length;
  expect(new Set((await load()).map(({ status }) => status))).toEqual(new Set([200]));
  expect(one.requests.slice(before).filter((line) => !line.startsWith('GET / '))).toEqual([]);
  expect(workersThatTold('store.away', two)).toBe(0);
});
