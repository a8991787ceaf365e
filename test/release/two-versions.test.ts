import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isDeep } from '../runner/fast-check.ts';
import { checkOut, earlierVersion, mainOf } from '../support/checkout.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { GatewayWithWorkers, get } from '../support/workers.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 60, per: day }] }
  enterprise: { custom: true }
bans: { strikes: 3, workers: 1, window: 1m, grace: 0s, durations: [1h], decay: 1d }
`;

const earlier = isDeep ? earlierVersion() : null;
if (isDeep && earlier === null && process.env.CI === 'true')
  throw new Error(
    'CI needs the git history for this suite: fetch at least the commit before this one.',
  );

const temporary = temporaryFolders({ keep: true });
const mains: Record<string, string> = {};
let backend: FakeBackend;
let redis: RedisServer;
let before: GatewayWithWorkers;
let after: GatewayWithWorkers;

const describeIfPossible = earlier === null ? describe.skip : describe;
describeIfPossible.each([
  ['the earlier version', 'this version'],
  ['this version', 'the earlier version'],
])('on one Redis, with changes at %s', (one, other) => {
  beforeAll(async () => {
    mains['this version'] ??= mainOf(resolve(import.meta.dirname, '../..'));
    mains['the earlier version'] ??= mainOf(checkOut(earlier!, temporary()).folder);
    backend = await fakeBackend((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
    });
    redis = await startRedis();
    const plans = join(temporary(), 'plans.yaml');
    writeFileSync(plans, PLANS);
    const options = {
      redisUrl: redis.url,
      backendUrl: backend.url,
      workers: 1,
      isDescribed: true,
      env: { STOREGATE_PLANS: plans },
    };
    before = await GatewayWithWorkers.start({ ...options, main: mains[one]! });
    after = await GatewayWithWorkers.start({ ...options, main: mains[other]! });
  });
  afterAll(async () => {
    await Promise.all([before, after].map((gateway) => gateway.stop()));
    await redis.stop();
    await backend.close();
  });

  test('limits are charged together, exactly', async () => {
    const { id, key } = await createKey(before, { plan: 'enterprise', limits: '40/day' });
    const gateways = Array.from({ length: 80 }, (_, i) => (i % 2 === 0 ? before : after));
    const responses = await Promise.all(gateways.map((gateway) => use(gateway, key)));
    const admitted = responses.filter(({ status }) => status === 200);
    const remaining = admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    expect(remaining.sort((a, b) => a - b)).toEqual([...new Array(40).keys()]);
    expect(
      new Set(responses.map(({ status }) => status)).isSubsetOf(new Set([200, 429, 403])),
    ).toBe(true);
    for (const gateway of [before, after]) expect(await usedBy(gateway, id)).toBe(40);
  });

  test('a key of one works at the other until it is revoked', async () => {
    const { id, key } = await createKey(before);
    expect((await use(after, key)).status).toBe(200);
    const rotated = await call(before, 'POST', `/keys/${id}/rotate`, { overlap: '1h' });
    for (const secret of [key, rotated.key]) expect((await use(after, secret)).status).toBe(200);
    await call(before, 'DELETE', `/keys/${id}`);
    await until('the key is refused', async () => (await use(after, key)).status === 401);
  });

  test('a ban of one is in force at the other until it is lifted', async () => {
    const { id, key } = await createKey(before);
    await use(after, key);
    await call(before, 'PUT', `/bans/${id}`, { duration: '1h', reason: 'a test' });
    await until('the key is banned', async () => (await use(after, key)).status === 403);
    await call(before, 'DELETE', `/bans/${id}`);
    await until('the key is admitted', async () => (await use(after, key)).status === 200);
  });

  test('strikes at both become a ban at both', async () => {
    const { key } = await createKey(before, { plan: 'enterprise', limits: '1/day' });
    const gateways = [before, after];
    await until('the key is banned', async () => {
      const responses = await Promise.all(gateways.map((gateway) => use(gateway, key)));
      return responses.every(({ status }) => status === 403);
    });
  });

  test('a plan set at one holds at the other', async () => {
    const { key } = await createKey(after);
    await call(before, 'PUT', '/plans/free', { limits: '50/day' });
    await until('the other limit is in force', async () => (await limitOf(after, key)) === '50');
    expect(await limitOf(before, key)).toBe('50');
  });

  test('the state is readable after the other has ended', async () => {
    const limited = await createKey(before, {
      plan: 'enterprise',
      limits: '9/day',
      label: 'limited',
    });
    for (let i = 0; i < 5; i++) await use(before, limited.key);
    await call(before, 'PUT', `/bans/${limited.id}`, { duration: '1h', reason: 'a test' });
    const record = await call(before, 'GET', `/keys/${limited.id}`);
    before.running.child.kill('SIGTERM');
    expect(await before.running.exit).toBe(0);

    expect(await call(after, 'GET', `/keys/${limited.id}`)).toMatchObject(record);
    expect(await usedBy(after, limited.id)).toBe(5);
    const { bans } = await call(after, 'GET', '/bans');
    expect(bans.map(({ key }: { key: string }) => key)).toContain(limited.id);
    const { entries } = await call(after, 'GET', `/audit?target=${limited.id}`);
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'bans.add',
      'keys.create',
    ]);
    expect((await use(after, limited.key)).status).toBe(403);
  });
});

async function call(
  gateway: GatewayWithWorkers,
  method: string,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: the tests read whatever the gateway returned.
): Promise<any> {
  const response = await fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers: {
      Connection: 'close',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

const createKey = (
  gateway: GatewayWithWorkers,
  fields: object = { plan: 'free' },
): Promise<{ id: string; key: string }> =>
  call(gateway, 'POST', '/keys', { account: 'acme', ...fields });

const use = ({ url }: GatewayWithWorkers, key: string) =>
  get(`${url}/categories`, { 'X-API-Key': key });

const limitOf = async (gateway: GatewayWithWorkers, key: string) =>
  (await use(gateway, key)).headers['x-ratelimit-limit'];

const usedBy = async (gateway: GatewayWithWorkers, id: string): Promise<number> =>
  (await call(gateway, 'GET', `/usage/${id}`)).usage[0].windows[0].used;
