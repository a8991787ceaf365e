import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RedisSettings } from '../../src/config/config.ts';
import { remainingIn } from '../../src/limits/admission.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { changed, keyRecord, note } from '../support/records.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { until } from '../support/until.ts';

const TEN = limits([window(10, HOUR)]);
const LENIENT = limits([window(10, HOUR)], null);

let server: RedisServer;
let proxy: TcpProxy;
let gateway: SharedGateway;
const opened: SharedGateway[] = [];
let subjects = 0;
const fresh = () => `key:${subjects++}`;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await startProxy(server.port);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  await proxy.stop();
  await server.admin.flushall();
});

async function open(settings: Partial<RedisSettings> = {}, workers = 1): Promise<SharedGateway> {
  gateway = await openShared({ url: proxy.url, ...settings }, { workers });
  opened.push(gateway);
  return gateway;
}

async function times(count: number, subject: string, given = LENIENT): Promise<string[]> {
  const verdicts: string[] = [];
  for (let i = 0; i < count; i++)
    verdicts.push((await gateway.state.admit(subject, given, 1)).verdict);
  return verdicts;
}

const admitted = (count: number) => new Array(count).fill('admitted');
const untilDown = () =>
  until('the outage is reported', async () => {
    await times(1, 'key:probe', limits([window(1e6, HOUR)], null));
    return gateway.eventCount('state.outage') === 1;
  });
const untilUp = () => until('Redis is back', () => gateway.eventCount('state.recovered') === 1);

/** The units left in Redis, or `null` if the subject has no record there. */
async function remaining(subject: string, given = LENIENT): Promise<number | null> {
  return remainingIn((await gateway.state.look(subject, given)).readings[0]!);
}

test('a Redis without memory refuses a new key, and takes a revocation', async () => {
  await open();
  const record = keyRecord();
  await gateway.keys.add(record, note());
  await server.admin.config('SET', 'maxmemory', '1');
  try {
    const add = async () => gateway.keys.add(keyRecord(), note());
    await expect(add()).rejects.toMatchObject({ code: 'state_unavailable' });
    const revoked = changed(record, { revokedAt: 5 });
    await gateway.keys.replace(revoked, note());
    expect(await gateway.keys.find(record.hash)).toEqual(revoked);
  } finally {
    await server.admin.config('SET', 'maxmemory', '0');
  }
});

test('a Redis that was killed comes back empty, and what this gateway charged alone is there', async () => {
  const own = await startRedis();
  await open({ url: own.url });
  const subject = fresh();
  await times(3, subject);
  await own.kill();
  await untilDown();
  expect(await times(9, subject)).toEqual([...admitted(7), 'limited', 'limited']);
  const again = await startRedis({ port: own.port });
  await untilUp();
  await until('the reconciliation has arrived', async () => (await remaining(subject)) === 3);
  await own.stop();
  await again.stop();
});

test('a key of the copy is found without Redis; another one waits for a late Redis, also behind a circuit breaker', async () => {
  const withoutCopy = await open({ deadline: 1 }, 2);
  await open({ deadline: 1 });
  const record = keyRecord();
  await gateway.keys.add(record, note());
  for (const isDown of [false, true]) {
    proxy.replies = 'hold';
    if (isDown) await untilDown();
    expect(gateway.keys.find(record.hash)).toEqual(record);
    const late = withoutCopy.keys.find(record.hash);
    proxy.replies = 'pass';
    await expect(await late).toEqual(record);
  }
});

test('a lost answer is not sent again: the request is counted once in Redis and once here', async () => {
  await open({ failureThreshold: 100 });
  const subject = fresh();
  await times(1, subject);
  proxy.replies = 'cut';
  expect(await times(1, subject)).toEqual(['admitted']);
  proxy.replies = 'pass';
  await until('the connection is back', async () => {
    await times(1, 'key:other');
    return (
      gateway.events.filter((e) => e.type === 'state.local_mode').length < 3 ||
      (await remaining(subject).catch(() => null)) !== null
    );
  });
  await until('it is settled', async () => {
    await gateway.state.admit(subject, LENIENT, 0);
    return (await remaining(subject).catch(() => null)) === 7;
  });
});

test('while Redis hangs no request waits longer than the first few', async () => {
  await open({ deadline: 50 });
  proxy.replies = 'hold';
  await untilDown();
  const begun = gateway.eventCount('state.local_mode');
  const requested: unknown[] = [];
  for (let i = 0; i < 5_000; i++) requested.push(gateway.state.admit(fresh(), TEN, 1));
  // The answers come at once, without a promise.
  expect(requested.every((response) => !(response instanceof Promise))).toBe(true);
  expect(gateway.eventCount('state.local_mode') - begun).toBe(5_000);
  expect(gateway.eventCount('state.outage')).toBe(1);
});

describe('under the policy', () => {
  test('local, the workers of one gateway together admit what is left', async () => {
    const workers = await Promise.all([1, 2, 3].map(() => open({}, 3)));
    const subject = fresh();
    await workers[0]!.state.admit(subject, LENIENT, 1);
    for (const { state } of workers) await state.admit(subject, LENIENT, 0);
    proxy.shut();
    let admitted = 0;
    for (let i = 0; i < 15; i++)
      if ((await workers[i % 3]!.state.admit(subject, LENIENT, 1)).verdict === 'admitted')
        admitted++;
    // Nine are left of ten.
    expect(admitted).toBe(9);
  });

  test('local with a share, gateways together admit what is left', async () => {
    await open({ shareRemaining: true });
    const second = await openShared({ url: proxy.url, shareRemaining: true });
    const subject = fresh();
    await until('both know of each other', async () => {
      await times(1, 'key:other', limits([window(1e6, MINUTE)], null));
      return (await server.admin.zcard(keyOf.gateways)) === 2;
    });
    // The first gateway learns of the second with the next announcement; a gateway that opens now
    // knows both.
    const third = await open({ shareRemaining: true });
    await second.close();
    await times(2, subject);
    await third.state.admit(subject, LENIENT, 0);
    proxy.shut();
    await until('both are on their own', async () => {
      await third.state.admit('key:other', LENIENT, 1);
      return third.eventCount('state.outage') === 1;
    });
    const verdicts = [];
    for (let i = 0; i < 6; i++)
      verdicts.push((await third.state.admit(subject, LENIENT, 1)).verdict);
    // Eight are left for three known gateways.
    expect(verdicts).toEqual(['admitted', 'admitted', 'limited', 'limited', 'limited', 'limited']);
    expect((await third.state.admit(subject, LENIENT, 1)).readings[0]).toMatchObject({
      window: { limit: 10 },
      used: 10,
    });
  });
});

describe('a hiccup of Redis', () => {
  const SIXTY = limits([window(60, HOUR)], null);
  let gateways: SharedGateway[];

  beforeEach(async () => {
    gateways = [];
    for (let i = 0; i < 4; i++)
      gateways.push(await open({ url: server.url, deadline: DEFAULTS.deadline }));
    const announced = async () =>
      await server.admin.zrange(keyOf.gateways, '0', '-1', 'WITHSCORES');
    const opened = new Set(await announced());
    await until(
      'each has heard of all',
      async () => (await announced()).filter((one) => !opened.has(one)).length === 4,
    );
  });

  /**
   * Eighty callers of a limit of 60 while Redis does nothing for `pause` milliseconds. Answers how
   * many were admitted.
   */
  async function admittedWithin(pause: number): Promise<number> {
    const subject = fresh();
    const verdicts: string[] = [];
    async function call({ state }: SharedGateway): Promise<void> {
      for (let i = 0; i < 5; i++) verdicts.push((await state.admit(subject, SIXTY, 1)).verdict);
    }
    await Promise.all(gateways.map(call));
    await server.admin.client('PAUSE', pause, 'ALL');
    await Promise.all(gateways.flatMap((one) => new Array<SharedGateway>(20).fill(one)).map(call));
    expect(verdicts).toHaveLength(420);
    return verdicts.filter((verdict) => verdict === 'admitted').length;
  }

  test('is waited for: four gateways together admit no more than the limit', async () => {
    // Exactly 60, unless the test machine itself stands still. Redis ends a pause up to 100 ms after
    // its time.
    for (let i = 0; i < 5; i++) expect(await admittedWithin(50)).toBeLessThanOrEqual(78);
  });

  test('that is too long to be waited for makes each gateway give out its share, and Redis nothing beside', async () => {
    for (let i = 0; i < 5; i++) expect(await admittedWithin(200)).toBeLessThanOrEqual(78);
  });
});
