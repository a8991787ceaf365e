import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStore } from '../../src/cli/store.ts';
import { jsonOf } from '../support/failure.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { finished, type Running, storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';

const GATEWAYS = 4;
const CALLERS = 200;

let folder: string;
let redis: RedisServer;
let store: Awaited<ReturnType<typeof startStore>>;
let gateways: Running[];
let urls: string[];
let where: { cwd: string; env: Record<string, string> };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  redis = await startRedis();
  store = await startStore(join(folder, 'store.db'), { host: '127.0.0.1', port: 0 });
  // Four gateways, their callers and Redis share the processors of the test machine, and a delay is no outage.
  writeFileSync(join(folder, 'gateway.yaml'), 'redis: { deadline: 10s }\nlog: { requests: false }\n');
  const env = {
    REDIS_URL: redis.url,
    STORE_URL: store.url,
    STOREGATE_CONFIG: 'gateway.yaml',
    STOREGATE_PORT: '0',
    STOREGATE_ADMIN_PORT: '0',
  };
  where = { cwd: folder, env };
  gateways = Array.from({ length: GATEWAYS }, () => storegate(['serve', '--no-demo-keys'], where));
  const urlOf = ({ out, err }: Running) => {
    if (err() !== '') throw new Error(err());
    return /storegate answers at (\S+)/.exec(out())?.[1];
  };
  await until('all gateways answer', () => gateways.every((gateway) => urlOf(gateway) !== undefined));
  urls = gateways.map((gateway) => urlOf(gateway)!);
});

afterAll(async () => {
  for (const { child } of gateways) child.kill('SIGTERM');
  const codes = await Promise.all(gateways.map(({ exit }) => exit));
  await store.store.close();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
  expect(codes).toEqual([0, 0, 0, 0]);
});

async function createKey(...limits: string[]): Promise<string> {
  const { code, out, err } = await finished(
    ['keys', 'create', '--plan', 'enterprise', '--account', 'acme', '--key-only', ...limits],
    where,
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.trim();
}

/**
 * Sends requests of two hundred callers, spread over all gateways; returns status and X-RateLimit-Remaining of each.
 */
async function flood(key: string, requests: number): Promise<{ status: number; remaining: number }[]> {
  const answers: { status: number; remaining: number }[] = [];
  let left = requests;
  const call = async (_: unknown, caller: number) => {
    while (left-- > 0) {
      const response = await fetch(`${urls[caller % GATEWAYS]}/categories`, { headers: { 'X-API-Key': key } });
      await response.arrayBuffer();
      answers.push({ status: response.status, remaining: Number(response.headers.get('x-ratelimit-remaining')) });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return answers;
}

test('two hundred callers of one key at four gateways get exactly its limit, and every remainder once', async () => {
  const key = await createKey('--limits', '500/hour,2000/day');
  const answers = await flood(key, 1_000);
  const admitted = answers.filter(({ status }) => status === 200).map(({ remaining }) => remaining);
  expect(admitted.sort((a, b) => a - b)).toEqual([...new Array(500).keys()]);
  expect(new Set(answers.map(({ status }) => status)).isSubsetOf(new Set([200, 429, 403]))).toBe(true);
});

test('a key that the command line revokes is refused by every gateway', async () => {
  const key = await createKey('--limits', '500/hour');
  const statuses = () =>
    Promise.all(urls.map(async (url) => (await fetch(`${url}/categories`, { headers: { 'X-API-Key': key } })).status));
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  const listed = jsonOf(await finished(['keys', 'list', '--json'], where)) as { id: string; limits: string }[];
  const { id } = listed.find(({ limits }) => limits === '500/hour')!;
  await finished(['keys', 'revoke', id], where);
  await until('all of them refuse it', async () => (await statuses()).every((status) => status === 401));
});
