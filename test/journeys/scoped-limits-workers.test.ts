import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStore } from '../../src/cli/store.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { contractWith } from '../support/scoped.ts';
import { beside, flood, GatewayWithWorkers } from '../support/workers.ts';

let folder: string;
let redis: RedisServer;
let store: Awaited<ReturnType<typeof startStore>>;
let gateway: GatewayWithWorkers;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  redis = await startRedis();
  store = await startStore(join(folder, 'store.db'), { host: '127.0.0.1', port: 0 });
  const files = {
    'gateway.yaml': `plans: { file: plans.yaml }\ncontract: { file: own.yaml }\n`,
    'plans.yaml':
      'plans:\n  free: { windows: [{ limit: 1000, per: day }] }\n  enterprise: { custom: true }\nbans: { strikes: 100000 }\n',
    'own.yaml': contractWith({ operations: { listCategories: '30/hour' }, tags: { Animals: '5/hour:sliding' } }),
  };
  gateway = await GatewayWithWorkers.start({ redisUrl: redis.url, storeUrl: store.url, files });
});
afterAll(async () => {
  await gateway?.stop();
  await store.store.close();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('workers count an operation together, also after a reload, and commands beside them keep what was counted', async () => {
  const { key, id } = await gateway.key('200/hour');
  const admitted = async (requests: number) => {
    const load = { callers: 10, requests, headers: { 'X-API-Key': key } };
    return (await flood(`${gateway.url}/categories`, load)).filter(({ status }) => status === 200).length;
  };
  expect(await admitted(60)).toBe(30);
  gateway.write(
    'own.yaml',
    contractWith({ operations: { listCategories: '40/hour' }, tags: { Animals: '5/hour:sliding' } }),
  );
  expect((await gateway.admin('POST', '/reload')).status).toBe(200);
  expect(await admitted(60)).toBe(10);

  const windows = async (...args: string[]) => {
    const { code, out, err } = await beside(gateway, 'usage', ...args, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [standing] = JSON.parse(out);
    return standing.windows.map(({ name, used }: { name: string; used: number }) => `${name} ${used}`);
  };
  expect(await windows('show', id)).toEqual(['hour 40', 'listCategories:hour 40', 'tag:Animals:hour 0']);
  const granted = await windows('grant', id, '--units', '3', '--window', 'listCategories:hour');
  expect(granted).toEqual(['hour 40', 'listCategories:hour 37', 'tag:Animals:hour 0']);
  expect(await admitted(20)).toBe(3);

  const checked = await beside(gateway, 'check');
  expect(checked).toMatchObject({ code: 0, err: '' });
  expect(checked.out).toContain(
    '\nLimits beside those of plans: 40/hour for listCategories, 5/hour:sliding for the tag Animals.\n',
  );
});
