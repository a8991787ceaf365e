import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { ESCALATION, HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const STRICT = limits([window(1, HOUR)], { ...ESCALATION, strikes: 2, grace: 0 });

let server: RedisServer;
let proxy: TcpProxy;
let gateway: SharedGateway;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.admin.flushall();
  proxy = await startProxy(server.port);
  gateway = await openShared({ url: proxy.url });
});
afterEach(async () => {
  await gateway.close();
  await proxy.stop();
});

const banned = async () => (await gateway.state.bans()).map(({ subject }) => subject).sort();
const scans = async () =>
  Number(/cmdstat_scan:calls=(\d+)/.exec(await server.admin.info('commandstats'))?.[1] ?? 0);

async function untilBanned(subject: string): Promise<void> {
  await until(
    'the ban has begun',
    async () => (await gateway.state.admit(subject, STRICT, 1)).verdict === 'banned',
  );
}

test('banned subjects are listed without a walk through all counters, however the ban began', async () => {
  expect(await banned()).toEqual([]);
  const before = await scans();
  expect(before).toBeGreaterThan(0);

  await gateway.state.ban('key:operator', STRICT, HOUR);
  expect(await banned()).toEqual(['key:operator']);

  await untilBanned('key:strikes');
  await until('the strikes are sent and noted', async () => (await banned()).length === 2);

  // A gateway that asks Redis each time.
  const other = await openShared({ url: server.url, refusalCacheTtl: 0 });
  await until(
    'the ban has begun',
    async () => (await other.state.admit('key:new', STRICT, 1)).verdict === 'banned',
  );
  await other.close();

  proxy.shut();
  await until('the outage is reported', async () => {
    await gateway.state.admit('key:other', limits([window(1e6, HOUR)], null), 1);
    return gateway.eventCount('state.outage') === 1;
  });
  await untilBanned('key:outage');
  proxy.admit();
  await until('what was counted here is noted', async () =>
    (await banned().catch((): string[] => [])).includes('key:outage'),
  );

  expect(await banned()).toEqual(['key:new', 'key:operator', 'key:outage', 'key:strikes']);
  await gateway.state.liftBan('key:strikes');
  expect(await banned()).toEqual(['key:new', 'key:operator', 'key:outage']);
  expect(await scans()).toBe(before);
});

test('a ban has its limit, also if it began during an outage of Redis', async () => {
  const limit = { kind: 'fixed', limit: 1, span: HOUR };
  await untilBanned('key:strikes');
  proxy.shut();
  await untilBanned('key:outage');
  const began = Date.now();
  proxy.admit();
  await until(
    'both are noted',
    async () => (await banned().catch((): string[] => [])).length === 2,
  );
  for (const { until, since, ...ban } of await gateway.state.bans()) {
    expect(ban).toEqual({ subject: expect.any(String), limit, level: 1 });
    expect(since).toBeLessThanOrEqual(began);
    expect(until - since!).toBe(MINUTE);
  }
});

test('the first list on a new Redis takes no walk, however much was counted since the start', async () => {
  await until(
    'the index is marked as whole',
    async () => (await server.admin.exists(keyOf.bansWhole)) === 1,
  );
  const before = await scans();
  await untilBanned('key:1');
  await until('it is listed', async () => (await banned()).length === 1);
  expect(await scans()).toBe(before);
});

test('bans from before there was an index are found by one walk', async () => {
  for (const subject of ['key:1', 'key:2']) await gateway.state.ban(subject, STRICT, HOUR);
  await server.admin.del(keyOf.bans, keyOf.bansWhole);
  expect(await banned()).toEqual(['key:1', 'key:2']);
  const before = await scans();
  expect(await banned()).toEqual(['key:1', 'key:2']);
  expect(await scans()).toBe(before);
});

test('a ban that could not be noted is noted when its subject is refused again', async () => {
  await banned();
  await gateway.state.ban('key:1', STRICT, HOUR);
  await server.admin.del(keyOf.bans);
  expect((await gateway.state.admit('key:1', STRICT, 1)).verdict).toBe('banned');
  await until('it is noted', async () => (await banned()).length === 1);
});

test('a ban that could not be noted is noted, also if its subject is never heard of again', async () => {
  await banned();
  // What holds the place of the index refuses the note.
  await server.admin.set(keyOf.bans, 'no index');
  await untilBanned('key:1');
  await until('the note was refused', async () =>
    /^cmdstat_z\w+:.*failed_calls=[1-9]/m.test(await server.admin.info('commandstats')),
  );
  await server.admin.del(keyOf.bans);
  await until('it is noted', async () => (await banned()).length === 1);
});

test('the index forgets bans that ended when the next one begins, and expires with the longest ban', async () => {
  await server.admin.zadd(keyOf.bans, 1_000, 'key:long-ago');
  await gateway.state.ban('key:1', STRICT, HOUR);
  await gateway.state.ban('key:2', STRICT, HOUR / 2);
  expect(await server.admin.zrange(keyOf.bans, '0', '-1')).toEqual(['key:2', 'key:1']);
  const life = await server.admin.pttl(keyOf.bans);
  expect(life).toBeGreaterThan(HOUR / 2);
  expect(life).toBeLessThanOrEqual(HOUR);
});
