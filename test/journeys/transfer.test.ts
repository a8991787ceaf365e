import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readUsageIn } from '../../src/state/usage-folder.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { readerOf, usageIn } from '../support/ledger.ts';
import { DAY } from '../support/limits.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const ADMIN_TOKEN = 'the-token-of-the-configuration';
const LIMIT = 400;
const CALLERS = 4;
/** A busy test machine is not an outage. */
const SETTINGS = 'redis: { deadline: 10s }\n';

let redis: RedisServer;
let backend: FakeBackend;
let old: TestGateway;
beforeAll(async () => {
  redis = await startRedis();
  backend = await fakeBackend((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  old = await TestGateway.start({
    backendUrl: backend.url,
    env: { STOREGATE_ADMIN_TOKEN: ADMIN_TOKEN },
  });
});
afterAll(async () => {
  await old.stop();
  await backend.close();
  await redis.stop();
});

async function operate(gateway: TestGateway, ...args: readonly string[]): Promise<string> {
  const env = { STOREGATE_ADMIN_URL: gateway.adminUrl, STOREGATE_ADMIN_TOKEN: ADMIN_TOKEN };
  const { code, out, err } = await commandLine(gateway.folder)(args, { env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

async function makeKey(
  gateway: TestGateway,
  ...args: readonly string[]
): Promise<{ id: string; secret: string }> {
  const out = await operate(gateway, 'keys', 'create', '--account', 'acme', '--json', ...args);
  const { id, key } = JSON.parse(out) as { id: string; key: string };
  return { id, secret: key };
}

async function copy(): Promise<void> {
  await redis.admin.flushall();
  const env = { STOREGATE_CONFIG: 'gateway.yaml', REDIS_URL: redis.url };
  const args = ['state', 'copy', '--from', join(old.folder, 'data'), '--to', 'redis'];
  expect(await commandLine(old.folder)(args, { env })).toMatchObject({ code: 0, err: '' });
}

async function ask(gateway: TestGateway, secret: string): Promise<number> {
  const { status } = await gateway.client.get('/categories').set('X-API-Key', secret);
  return status;
}

/** Oldest first, without the entries of the moves. */
async function auditOf(gateway: TestGateway): Promise<string[]> {
  const lines = (await operate(gateway, 'audit', 'export')).trim().split('\n');
  const entries = lines.map(
    (line) => JSON.parse(line) as { action: string; target: string; at: string },
  );
  return entries
    .filter(({ action }) => action !== 'state.import')
    .map((entry) => JSON.stringify([entry.at, entry.action, entry.target]));
}

/** In a place without a gateway. */
async function reportIn(place: string, folder: string) {
  const env = place.startsWith('redis:') ? { REDIS_URL: place } : { STOREGATE_DATA: place };
  const { code, out, err } = await commandLine(folder)(['usage', 'report', '--json'], { env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as {
    rows: { requests: number }[];
    since: string | null;
    lost: object[];
    dropped: number;
  };
}

test('usage moves with a backup of a running gateway, and is complete from then on', async () => {
  const { secret } = await makeKey(old, '--plan', 'pro');
  for (let i = 0; i < 60; i++) expect(await ask(old, secret)).toBe(200);
  const stored = readerOf(readUsageIn(join(old.folder, 'data')));
  const always = { from: Date.now() - DAY, to: Date.now() + DAY };
  await until('all requests are on disk', async () => {
    const [sum] = (await usageIn(stored, always, 'hour')).values();
    return sum?.requests === 60;
  });
  const begin = Date.now();
  const state = async (command: string, env: Readonly<Record<string, string>>) => {
    const run = commandLine(old.folder)(['state', command, 'state.ndjson'], { env });
    expect(await run).toMatchObject({ code: 0, err: '' });
  };
  const config = { STOREGATE_CONFIG: 'gateway.yaml' };
  await state('backup', config);
  await state('restore', { ...config, STOREGATE_DATA: 'target' });
  const { rows, since, lost, dropped } = await reportIn(join(old.folder, 'target'), old.folder);
  expect(rows).toMatchObject([{ account: 'acme', requests: 60, units: 60 }]);
  expect([lost, dropped]).toEqual([[], 0]);
  expect(Date.parse(since!)).toBeGreaterThanOrEqual(begin);
});

test('a gateway that moves from its folder to Redis refuses no key, grants no daily quota twice, and loses no ban', async () => {
  const busy = await makeKey(old, '--plan', 'free', '--limits', `${LIMIT}/day`);
  const banned = await makeKey(old, '--plan', 'free');
  await operate(old, 'bans', 'add', banned.id, '--duration', '1h', '--reason', 'test');
  const token = (
    await operate(old, 'tokens', 'create', 'ops', '--role', 'operate', '--token-only')
  ).trim();

  const statuses: number[] = [];
  const admitted = () => statuses.filter((status) => status === 200).length;
  let isLive = true;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (isLive && statuses.length < LIMIT / 2) statuses.push(await ask(old, busy.secret));
  });
  await until('there is traffic', () => admitted() > 20);
  const late = await makeKey(old, '--plan', 'free');
  const rotated = JSON.parse(
    await operate(old, 'keys', 'rotate', banned.id, '--overlap', '1h', '--json'),
  ) as {
    key: string;
  };
  await until('there was more traffic', () => admitted() > 60);
  isLive = false;
  await Promise.all(callers);
  const auditBefore = await auditOf(old);
  await old.close();
  const moved = Date.now();
  await copy();
  const { rows, since } = await reportIn(redis.url, old.folder);
  expect(rows).toMatchObject([{ account: 'acme', units: 60 + admitted() }]);
  expect(Date.parse(since!)).toBeLessThan(moved);

  const options = { settings: SETTINGS, backendUrl: backend.url };
  const env = { STOREGATE_ADMIN_TOKEN: ADMIN_TOKEN, REDIS_URL: redis.url };
  const grown = [
    await TestGateway.start({ ...options, env }),
    await TestGateway.start({ ...options, env }),
  ];
  try {
    const [first, second] = grown as [TestGateway, TestGateway];
    for (let refused = 0; refused < CALLERS; ) {
      const round = await Promise.all(grown.map((gateway) => ask(gateway, busy.secret)));
      statuses.push(...round);
      refused += round.filter((status) => status === 429).length;
    }
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(admitted()).toBe(LIMIT);
    for (const gateway of grown) {
      expect(await ask(gateway, late.secret)).toBe(200);
      for (const secret of [banned.secret, rotated.key])
        expect(await ask(gateway, secret)).toBe(403);
    }
    const listed = await second.admin.get('/keys').set('Authorization', `Bearer ${token}`);
    expect(listed.status).toBe(200);
    expect((listed.body as { keys: { id: string }[] }).keys.map(({ id }) => id)).toEqual(
      expect.arrayContaining([busy.id, banned.id, late.id]),
    );
    expect(await auditOf(first)).toEqual(auditBefore);
  } finally {
    await Promise.all(grown.map((gateway) => gateway.stop()));
  }
});
