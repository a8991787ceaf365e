import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { remainingIn } from '../../src/limits/admission.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { hashSecret } from '../../src/records/keys/secret.ts';
import { modelIn } from '../../src/records/model/model.ts';
import { COPY_FILE } from '../../src/records/redis/copy.ts';
import { progressIn } from '../../src/records/redis/progress.ts';
import { readRowFile, rowsIn } from '../../src/state/rows/row-file.ts';
import { lastKnownIn } from '../../src/state/shared/last-known-counters.ts';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { bodyOf } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { GatewayWithWorkers, get, type Line, metricOf } from '../support/workers.ts';

const SETTINGS = 'redis: { deadline: 1m }\n';

let backend: FakeBackend;
let port: number;
let redis: RedisServer;
let disk: string;
const gateways: { stop(): Promise<void> }[] = [];
const folder = temporaryFolders({ keep: true });

beforeAll(async () => {
  backend = await fakeBackend((_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'),
  );
  disk = mkdtempSync(join(tmpdir(), 'redis-disk-'));
  port = await freePort();
  redis = await startAgain();
});
afterEach(() => Promise.all(gateways.splice(0).map((gateway) => gateway.stop())));
afterAll(async () => {
  await redis.stop();
  await backend.close();
  rmSync(disk, { recursive: true, force: true });
});

async function startAgain(password?: string): Promise<RedisServer> {
  const args = ['--dir', disk, '--appendonly', 'yes', '--appendfsync', 'no'];
  return startRedis({ port, args, ...(password ? { password } : {}) });
}

async function start(folder: string, workers: number): Promise<GatewayWithWorkers> {
  const files = { 'gateway.yaml': SETTINGS };
  const redisUrl = `redis://127.0.0.1:${port}`;
  const gateway = await GatewayWithWorkers.start({
    redisUrl,
    backendUrl: backend.url,
    workers,
    files,
    folder,
  });
  gateways.push(gateway);
  return gateway;
}

const environment = (data: string) => ({
  REDIS_URL: `redis://127.0.0.1:${port}`,
  BACKEND_URL: backend.url,
  STOREGATE_HOST: '127.0.0.1',
  STOREGATE_PORT: '0',
  STOREGATE_ADMIN_PORT: '0',
  STOREGATE_DATA: data,
});

async function startHere(data: string): Promise<TestGateway> {
  const gateway = await TestGateway.start({ settings: SETTINGS, env: environment(data) });
  gateways.push(gateway);
  return gateway;
}

function copyOf(folderOfGateway: string): string {
  const data = join(folder(), 'data');
  cpSync(join(folderOfGateway, 'data'), data, { recursive: true });
  return data;
}

interface Called {
  readonly url: string;
  readonly adminUrl: string;
}

const categories = ({ url }: Called, key: string) => get(`${url}/categories`, { 'X-API-Key': key });
const limitOf = async (gateway: Called, key: string) =>
  (await categories(gateway, key)).headers['x-ratelimit-limit'];
const remaining = async (gateway: Called, key: string) =>
  (await categories(gateway, key)).headers['x-ratelimit-remaining'];
const statusOf = async (gateway: Called, key: string) => (await categories(gateway, key)).status;

async function makeKey({ adminUrl }: Called, limits: string): Promise<{ id: string; key: string }> {
  const { status, body } = await adminOf(adminUrl)('POST', '/keys', {
    account: 'acme',
    plan: 'enterprise',
    limits,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

/** Waits until the copy in the folder is whole and has this key so. */
async function untilCopied(
  data: string,
  key: string,
  condition: (record: KeyRecord | null) => boolean = (record) => record !== null,
): Promise<void> {
  const db = new DatabaseSync(join(data, COPY_FILE), { readOnly: true });
  try {
    const [model, progress] = [modelIn(db), progressIn(db)];
    await until(
      'the copy has it',
      () => progress().isWhole && condition(model.keys.find(hashSecret(key))),
    );
  } finally {
    db.close();
  }
}

const logged = (log: readonly Line[], type: string) => log.filter(({ msg }) => msg === type);

test('a start without Redis is refused without a copy', async () => {
  await redis.stop();
  const ended = await commandLine(folder())(['serve'], { env: environment('data') });
  const message =
    /^cannot use Redis at .*the connection is refused; .*data has no copy of its keys yet/;
  expect(ended).toEqual({ code: 1, out: '', err: expect.stringMatching(message) });
  redis = await startAgain();
});

describe('a gateway that was killed', () => {
  let crashed: string;
  const keys = { served: '', unseen: '', revoked: '' };

  test('while Redis was up finds its counters and bans in Redis; its copy is private and has no secret', async () => {
    const data = join(folder(), 'data');
    const first = await startHere(data);
    const limited = await makeKey(first, '2/hour');
    const banned = await makeKey(first, '2/hour');
    for (const units of ['1', '0']) expect(await remaining(first, limited.key)).toBe(units);
    expect(
      (
        await adminOf(first.adminUrl)('PUT', `/bans/${banned.id}`, {
          duration: '1h',
          reason: 'a test',
        })
      ).status,
    ).toBe(200);
    await untilCopied(data, banned.key);
    for (const end of ['', '-wal', '-shm'])
      expect(statSync(join(data, `${COPY_FILE}${end}`)).mode & 0o777).toBe(0o600);
    const copy = copyOf(join(data, '..'));
    await first.stop();
    const written = readFileSync(join(copy, `${COPY_FILE}-wal`));
    expect(written.includes('"plan"')).toBe(true);
    for (const { key } of [limited, banned]) expect(written.includes(key)).toBe(false);

    const second = await startHere(copy);
    expect(await statusOf(second, limited.key)).toBe(429);
    expect(await statusOf(second, banned.key)).toBe(403);
  });

  test('while Redis was down starts with its workers, also a replaced one; it reports that Redis refuses it, and reconnects later', async () => {
    const workers = 2;
    const first = await start(folder(), workers);
    const data = join(first.folder, 'data');
    const made = await Promise.all([
      first.key('100/day'),
      first.key('100/day'),
      first.key('100/day'),
    ]);
    [keys.served, keys.unseen, keys.revoked] = made.map(({ key }) => key) as [
      string,
      string,
      string,
    ];
    expect(await remaining(first, keys.served)).toBe('99');
    expect((await first.admin('DELETE', `/keys/${made[2]!.id}`)).status).toBe(200);
    for (const key of [keys.served, keys.unseen]) await untilCopied(data, key);
    await untilCopied(data, keys.revoked, (record) => typeof record?.revokedAt === 'number');
    await redis.stop();
    const [killed, other] = first.pids;
    process.kill(killed!, 'SIGKILL');
    await until('there is another one', () => first.logged('worker.started').length === 3);
    expect(first.pids).not.toContain(killed);
    expect(first.pids).toContain(other);
    for (const { status } of await first.fromEveryWorker('/categories', {
      'X-API-Key': keys.served,
    }))
      expect(status).toBe(200);
    await first.kill();
    crashed = copyOf(first.folder);

    const second = await start(first.folder, workers);
    expect(second.logged('state.unavailable_at_start')).toEqual([
      expect.objectContaining({
        level: 40,
        reason: expect.stringContaining('the connection is refused'),
      }),
    ]);
    expect(await limitOf(second, keys.unseen)).toBe('100');
    expect(await statusOf(second, keys.unseen)).toBe(200);
    expect(await statusOf(second, keys.revoked)).toBe(401);
    expect((await fetch(`${second.adminUrl}/health/ready`)).status).toBe(200);
    const { status, body } = await adminOf(second.adminUrl)('GET', '/keys');
    expect([status, body]).toEqual([
      200,
      { keys: expect.any(Array), next: null, asOf: expect.any(String) },
    ]);
    const list = ['keys', 'list', '--url', second.adminUrl, '--json'];
    const listed = await commandLine(folder())(list);
    expect(listed.err).toBe(
      `Redis is down: this is the last state known to the gateway, of ${body.asOf}.\n`,
    );
    expect(JSON.parse(listed.out)).toEqual(body.keys);
    expect(
      await metricOf(second.adminUrl, 'storegate_state_mode', { mode: 'local' }),
    ).toBeGreaterThan(0);
    expect(await metricOf(second.adminUrl, 'storegate_key_cache_age_seconds')).toBeLessThan(3_600);
    for (const { status, headers } of await second.fromEveryWorker('/categories', {
      'X-API-Key': keys.unseen,
    }))
      expect([status, headers['x-ratelimit-limit']]).toEqual([200, '100']);

    redis = await startAgain('secret');
    await until('it is logged', () => second.logged('state.incompatible').length > 0);
    expect(second.logged('state.incompatible')).toEqual([
      expect.objectContaining({ level: 50, reason: expect.stringContaining('wants a password') }),
    ]);
    expect(await statusOf(second, keys.served)).toBe(200);
    expect(second.logged('state.recovered')).toEqual([]);
    await redis.admin.config('SET', 'requirepass', '');
    await until('the outage is over', () => second.logged('state.recovered').length === workers);
    expect(await statusOf(second, keys.served)).toBe(200);
    const admin = adminOf(second.adminUrl);
    // With workers the primary has a connection of its own, which may recover later.
    await until(
      'operators are served',
      async () => bodyOf(await admin('GET', '/keys')).asOf === undefined,
    );
    const { key } = await makeKey(second, '7/day');
    expect(await limitOf(second, key)).toBe('7');
    expect(await statusOf(second, keys.revoked)).toBe(401);
    await untilCopied(data, key);
  });

  test('does not start if Redis answers, and refuses the password', async () => {
    const cwd = folder();
    const env = environment(copyOf(join(crashed, '..')));
    await redis.stop();
    redis = await startAgain('secret');
    const refused = { code: 1, out: '', err: expect.stringMatching(/wants a password/) };
    expect(await commandLine(cwd)(['serve'], { env })).toEqual(refused);
    await redis.stop();
    redis = await startAgain();
  });
});

test('under local, a gateway that is killed and restarted in an outage grants nothing twice, and charges all of it once Redis is up', async () => {
  const usage = async ({ url }: Called, key: string) =>
    (
      JSON.parse((await get(`${url}/usage`, { 'X-API-Key': key })).body) as {
        windows?: { remaining: number }[];
      }
    ).windows?.[0];

  function keptOf(data: string, id: string): number | undefined {
    const file = readRowFile(data);
    const text = new Map(file ? rowsIn(file, 'last-known.1') : []).get(`key:${id}`);
    file?.close();
    const kept = text === undefined ? null : lastKnownIn(String(text));
    const reading = kept?.known?.admission.readings[0];
    return reading && remainingIn(reading);
  }

  // Otherwise killed gateways still count there for a while and hold shares.
  await redis.admin.flushall();
  const data = join(folder(), 'data');
  const first = await startHere(data);
  const made = await makeKey(first, '5/hour');
  await untilCopied(data, made.key);
  for (let units = 4; units >= 3; units--) expect(await statusOf(first, made.key)).toBe(200);
  await redis.stop();
  for (let units = 2; units >= 1; units--) expect(await statusOf(first, made.key)).toBe(200);
  await until('it is written', () => keptOf(data, made.id) === 1);
  const crashed = copyOf(join(data, '..'));
  await first.stop();

  const second = await startHere(crashed);
  expect(await remaining(second, made.key)).toBe('0');
  expect(await statusOf(second, made.key)).toBe(429);
  await until('it is written', () => keptOf(crashed, made.id) === 0);
  const copy = copyOf(join(crashed, '..'));
  await second.stop();

  const third = await startHere(copy);
  expect(await statusOf(third, made.key)).toBe(429);
  redis = await startAgain();
  await until('the outage is over', () => logged(third.log, 'state.recovered').length === 1);
  await until('Redis knows all of it', async () => (await usage(third, made.key))?.remaining === 0);
});
