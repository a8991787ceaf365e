import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { hashSecret } from '../../src/keys/secret.ts';
import { readJournal } from '../../src/state/journal/read.ts';
import { KeyCopyReader } from '../../src/state/shared/key-copy/reader.ts';
import { KEY_COPY } from '../../src/state/shared/key-copy/standing.ts';
import type { Kept } from '../../src/state/shared/standings/kept.ts';
import { unpackStandings } from '../../src/state/shared/standings/packing.ts';
import { freePort } from '../support/free-port.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeStore, fakeStore } from '../support/upstream.ts';
import { beside, GatewayWithWorkers, type WorkersOptions } from '../support/workers.ts';

let store: FakeStore;
let port: number;
let redis: RedisServer;
/** Where Redis keeps its data, for the next process on it. */
let disk: string;
const gateways: GatewayWithWorkers[] = [];

beforeAll(async () => {
  store = await fakeStore((_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'),
  );
});
afterAll(() => store.close());
beforeEach(async () => {
  disk = mkdtempSync(join(tmpdir(), 'redis-disk-'));
  port = await freePort();
  redis = await startAgain();
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  await redis.stop();
  rmSync(disk, { recursive: true, force: true });
});

async function startAgain(password?: string): Promise<RedisServer> {
  const args = ['--dir', disk, '--appendonly', 'yes', '--appendfsync', 'always'];
  return startRedis({ port, args, ...(password ? { password } : {}) });
}

async function start(
  options: Partial<WorkersOptions> & { readonly settings?: string } = {},
): Promise<GatewayWithWorkers> {
  const { settings = '', ...more } = options;
  const gateway = await GatewayWithWorkers.start({
    redisUrl: `redis://127.0.0.1:${port}`,
    storeUrl: store.url,
    workers: 1,
    files: { 'gateway.yaml': `redis: { deadline: 1s${settings} }\n` },
    ...more,
  });
  gateways.push(gateway);
  return gateway;
}

/** A key that the copy in the gateway's folder has. */
async function copiedKey(gateway: GatewayWithWorkers): Promise<{ id: string; key: string }> {
  const made = await gateway.key('100/day');
  await untilCopied(gateway, made.key, (record) => record !== null);
  return made;
}

type Copied = NonNullable<ReturnType<KeyCopyReader['find']>>['record'];

async function untilCopied(
  { folder }: GatewayWithWorkers,
  key: string,
  condition: (record: Copied | null) => boolean,
): Promise<void> {
  const reader = new KeyCopyReader(join(folder, 'data'), (error) => expect(error).toBeUndefined());
  const isThere = () => condition(reader.find(hashSecret(key))?.record ?? null);
  await until('the copy has it', () => (reader.standing?.swept ?? 0) > 0 && isThere());
  reader.close();
}

const get = (gateway: GatewayWithWorkers, key: string) => gateway.get('/categories', { 'X-API-Key': key });

describe.each([1, 2])('a gateway of %s workers that died while Redis was away', (workers) => {
  test('starts, serves the keys of its copy, and takes Redis up when that is back', async () => {
    const first = await start({ workers });
    const { key } = await copiedKey(first);
    const unseen = await copiedKey(first);
    const revoked = await copiedKey(first);
    expect((await get(first, key)).headers['x-ratelimit-remaining']).toBe('99');
    expect((await first.admin('DELETE', `/keys/${revoked.id}`)).status).toBe(200);
    await untilCopied(first, revoked.key, (record) => typeof record?.revokedAt === 'number');
    await redis.stop();
    await first.kill();

    const second = await start({ workers, folder: first.folder });
    expect(second.told('state.absent')).toEqual([
      expect.objectContaining({ level: 40, reason: expect.stringContaining('ECONNREFUSED') }),
    ]);
    for (const { status, headers } of await second.fromEveryWorker('/categories', { 'X-API-Key': unseen.key })) {
      expect(status).toBe(200);
      expect(Number(headers['x-ratelimit-limit'])).toBe(100);
    }
    expect((await get(second, revoked.key)).status).toBe(401);
    expect((await fetch(`${second.adminUrl}/health/ready`)).status).toBe(200);
    expect((await second.admin('GET', '/keys')).status).toBe(503);
    expect((await beside(second, 'keys', 'list')).code).not.toBe(0);
    expect(await second.metric('storegate_state_mode', { mode: 'local' })).toBeGreaterThan(0);
    expect(await second.metric('storegate_key_copy_age_seconds')).toBeLessThan(3_600);

    redis = await startAgain();
    await until('the outage is over', () => second.told('state.recovered').length === workers);
    // With workers the primary has a connection of its own, which may come back later than theirs.
    await until('operators are served', async () => (await second.admin('GET', '/keys')).status === 200);
    const made = await second.key('7/day');
    expect((await get(second, made.key)).headers['x-ratelimit-limit']).toBe('7');
    expect((await get(second, revoked.key)).status).toBe(401);
    await untilCopied(second, made.key, (record) => record !== null);
    expect(second.told('state.unfit')).toEqual([]);
  });
});

describe('under local, a gateway that is killed in an outage and started again', () => {
  type Window = { readonly remaining: number };
  const usage = async (gateway: GatewayWithWorkers, key: string) =>
    (JSON.parse((await gateway.get('/usage', { 'X-API-Key': key })).body) as { windows?: Window[] }).windows?.[0];

  /** What is left of the key in the files of the folder. */
  function keptOf({ folder }: GatewayWithWorkers, id: string): number | undefined {
    let kept: Kept | undefined;
    readJournal(join(folder, 'data'), 'standings.1', () => ({
      batch: (payload, file) =>
        unpackStandings(payload, file, (subject, one) => {
          if (subject === `key:${id}`) kept = one;
        }),
    }));
    return kept?.known?.admission.readings[0]?.remaining;
  }

  test('gives out nothing twice, and charges all of it once Redis is back', async () => {
    const first = await start();
    const made = await first.key('5/hour');
    await untilCopied(first, made.key, (record) => record !== null);
    for (let left = 4; left >= 3; left--) expect((await get(first, made.key)).status).toBe(200);
    await redis.stop();
    for (let left = 2; left >= 1; left--) expect((await get(first, made.key)).status).toBe(200);
    await until('it is written', () => keptOf(first, made.id) === 1);
    await first.kill();

    const second = await start({ folder: first.folder });
    expect((await get(second, made.key)).headers['x-ratelimit-remaining']).toBe('0');
    expect((await get(second, made.key)).status).toBe(429);
    await until('it is written', () => keptOf(second, made.id) === 0);
    await second.kill();

    const third = await start({ folder: first.folder });
    expect((await get(third, made.key)).status).toBe(429);
    redis = await startAgain();
    await until('the outage is over', () => third.told('state.recovered').length === 1);
    await until('Redis knows all of it', async () => (await usage(third, made.key))?.remaining === 0);
  });
});

test('a worker that is replaced while Redis is away serves the keys of the copy', async () => {
  const gateway = await start({ workers: 2 });
  const { key } = await copiedKey(gateway);
  await redis.stop();
  const [first, other] = gateway.pids;
  process.kill(first!, 'SIGKILL');
  await until('there is another one', () => gateway.told('worker.started').length === 3);
  expect(gateway.pids).not.toContain(first);
  expect(gateway.pids).toContain(other);
  for (const { status } of await gateway.fromEveryWorker('/categories', { 'X-API-Key': key })) expect(status).toBe(200);
});

test('a gateway that is added while Redis is away starts from a folder that was copied', async () => {
  const one = await start();
  const { key } = await copiedKey(one);
  await redis.stop();
  const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  await one.kill();
  cpSync(join(one.folder, 'data'), join(folder, 'data'), { recursive: true });
  const added = await start({ folder });
  expect((await get(added, key)).status).toBe(200);
});

test('only its owner may read the copy, which has no secret', async () => {
  const gateway = await start();
  const { key } = await copiedKey(gateway);
  for (const end of ['', '-wal', '-shm']) {
    const { mode } = statSync(join(gateway.folder, 'data', `${KEY_COPY}${end}`));
    expect(mode & 0o777).toBe(0o600);
  }
  await gateway.kill();
  const written = readFileSync(join(gateway.folder, 'data', `${KEY_COPY}-wal`));
  expect(written.includes('"plan"')).toBe(true);
  expect(written.includes(key)).toBe(false);
});

test('a gateway that is killed while Redis is well finds its counters and bans in Redis', async () => {
  const first = await start();
  const limited = await first.key('2/hour');
  const banned = await first.key('2/hour');
  for (const left of ['1', '0']) expect((await get(first, limited.key)).headers['x-ratelimit-remaining']).toBe(left);
  expect((await first.admin('PUT', `/bans/${banned.id}`, { length: '1h', reason: 'a test' })).status).toBe(200);
  await first.kill();

  const second = await start({ folder: first.folder });
  expect((await get(second, limited.key)).status).toBe(429);
  expect((await get(second, banned.key)).status).toBe(403);
});

describe('a start without Redis is refused', () => {
  async function refusal(options: Parameters<typeof start>[0]): Promise<string> {
    const error = await start(options).then(
      () => null,
      (reason: Error) => reason.message,
    );
    expect(error).not.toBeNull();
    return error!;
  }

  test('where there is no copy yet', async () => {
    await redis.stop();
    expect(await refusal({})).toMatch(
      /cannot use Redis at .*ECONNREFUSED.*; there is no copy of its keys in .*data yet/,
    );
  });

  test('where the copy is too old, or is switched off', async () => {
    const first = await start();
    await copiedKey(first);
    await redis.stop();
    await first.kill();
    const [folder, other] = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'storegate-')));
    for (const copy of [folder!, other!]) cpSync(join(first.folder, 'data'), join(copy, 'data'), { recursive: true });
    await until(
      'it is older than a second',
      () => Date.now() - statSync(join(folder!, 'data', KEY_COPY)).mtimeMs > 1_000,
    );
    const old = { files: { 'gateway.yaml': 'redis: { keyCopy: { maxAge: 1s } }\n' }, folder: folder! };
    expect(await refusal(old)).toMatch(/the copy of its keys in .*data is .* h old, and redis.keyCopy.maxAge is 0 h/);
    const off = { files: { 'gateway.yaml': 'redis: { keyCopy: { enabled: false } }\n' }, folder: other! };
    expect(await refusal(off)).not.toMatch(/copy/);
  });

  test('where Redis answers, and refuses the password', async () => {
    const first = await start();
    await copiedKey(first);
    await redis.stop();
    await first.kill();
    redis = await startAgain('secret');
    expect(await refusal({ folder: first.folder })).toMatch(/wants a password/);
  });
});

test('a Redis that comes back and refuses is told, and taken up once that is mended', async () => {
  const first = await start();
  const { key } = await copiedKey(first);
  await redis.stop();
  await first.kill();
  const second = await start({ folder: first.folder });
  redis = await startAgain('secret');
  await until('it is told', () => second.told('state.unfit').length > 0);
  expect(second.told('state.unfit')).toEqual([
    expect.objectContaining({ level: 50, reason: expect.stringContaining('wants a password') }),
  ]);
  expect((await get(second, key)).status).toBe(200);
  expect(second.told('state.recovered')).toEqual([]);
  await redis.admin.config('SET', 'requirepass', '');
  await until('the outage is over', () => second.told('state.recovered').length === 1);
  expect((await get(second, key)).status).toBe(200);
});
