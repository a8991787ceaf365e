import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { GatewayWithWorkers } from '../support/workers.ts';

const WORKERS = 2;
/** Refused requests are many here, and no attack. */
const SETTINGS = 'redis: { deadline: 1s }\nhttp: { authFailureLimit: { failures: 100000 } }\n';
const USER = 'other';

const folder = temporaryFolders({ keep: true });
let redis: RedisServer;
let backend: FakeBackend;
let proxy: TcpProxy;
let one: GatewayWithWorkers;
let other: GatewayWithWorkers;

beforeAll(async () => {
  redis = await startRedis();
  backend = await fakeBackend((_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'),
  );
  await redis.admin.acl('SETUSER', USER, 'on', '>secret', '~*', '+@all', 'allchannels');
  proxy = await startProxy(redis.port);
  const url = new URL(proxy.url);
  Object.assign(url, { username: USER, password: 'secret' });
  const start = (redisUrl: string) =>
    GatewayWithWorkers.start({
      redisUrl,
      backendUrl: backend.url,
      workers: WORKERS,
      files: { 'gateway.yaml': SETTINGS },
      folder: folder(),
    });
  [one, other] = await Promise.all([start(redis.url), start(url.href)]);
});
beforeEach(() => redis.admin.acl('SETUSER', USER, 'allchannels'));
afterAll(async () => {
  await Promise.all([one, other].map((gateway) => gateway.stop()));
  await Promise.all([proxy.stop(), redis.stop(), backend.close()]);
});

async function statusesOf(key: string): Promise<number[]> {
  const responses = await Promise.all(
    [one, other].map((gateway) => gateway.fromEveryWorker('/categories', { 'X-API-Key': key })),
  );
  return responses.flat().map(({ status }) => status);
}

/** What may keep the other gateway from learning of it, and its end after the revocation. */
const HINDRANCES: [name: string, begin: () => unknown, end: () => unknown][] = [
  ['', () => {}, () => {}],
  [
    ', also without messages',
    async () => {
      await redis.admin.acl('SETUSER', USER, 'resetchannels');
      await redis.admin.call('CLIENT', 'KILL', 'USER', USER);
    },
    () => {},
  ],
  [', also after an outage', () => proxy.shut(), () => proxy.admit()],
];

test.each(HINDRANCES)(
  'every worker of two gateways refuses a revoked key%s',
  async (_name, begin, end) => {
    const { id, key } = await one.key('1000/day');
    expect(new Set(await statusesOf(key))).toEqual(new Set([200]));
    await begin();
    expect((await one.admin('DELETE', `/keys/${id}`)).status).toBe(200);
    await end();
    await until('all refuse it', async () =>
      (await statusesOf(key)).every((status) => status === 401),
    );
    for (let i = 0; i < 5; i++) expect(new Set(await statusesOf(key))).toEqual(new Set([401]));
  },
);
