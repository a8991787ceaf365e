import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { commandLine } from '../support/command-line.ts';
import { gatewaysOfTests } from '../support/gateways.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

/** The gateways share a busy machine with Redis: a delay is not an outage. */
const PLANS = 'plans:\n  free: { windows: [{ limit: 60, per: minute }] }\n';
const OTHER_PLANS = PLANS.replace('60', '61');

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
type Status = { gateways: any[]; unresponsive: string[]; isolated: string | null };
const statusAt = async (url: string): Promise<Status> =>
  (await adminOf(url)('GET', '/status')).body;

const { stops, gateway } = gatewaysOfTests();

describe('a single gateway', () => {
  test('returns its status and backends, over HTTP and by commands, and is missing once it has stopped', async () => {
    const one = await gateway({});
    const { gateways, unresponsive, isolated } = await statusAt(one.adminUrl);
    expect({ unresponsive, isolated }).toEqual({ unresponsive: [], isolated: null });
    expect(gateways).toEqual([
      expect.objectContaining({
        url: one.url,
        adminUrl: one.adminUrl,
        readiness: 'ready',
        state: 'embedded',
        workers: 0,
        inFlight: 0,
        processes: [
          expect.objectContaining({
            worker: null,
            pid: process.pid,
            localSince: null,
            stateMs: null,
          }),
        ],
        configuration: expect.objectContaining({
          differs: [],
          pendingRestart: [],
          lastReload: null,
        }),
      }),
    ]);
    const run = (...args: string[]) =>
      commandLine(one.folder)(args, { env: { STOREGATE_ADMIN_URL: one.adminUrl } });
    const { code, out } = await run('status');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^OK\.\ngateway +version +up +readiness +state +backend +workers +in flight +configuration\n\S+ .* ready +embedded +0 of \d+ +- +0 /,
    );
    expect((await run('backends')).out).toMatch(
      /^upstream +backend +state .*\ndefault +127\.0\.0\.1:\d+ +up .* 0 of 128\n$/,
    );
    await one.close();
    const alone = commandLine(one.folder);
    expect(await alone(['backends'])).toMatchObject({ code: 0, out: 'No gateway is running.\n' });
    expect(await alone(['status'])).toEqual({
      code: 2,
      out: 'Down: No gateway is running. Start one. Run "storegate serve".\n',
      err: 'Requests fail.\n',
    });
  });
});

describe('gateways that share a Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const shared = (plans: string) => gateway({ plans, env: { REDIS_URL: redis.url } });
  const all = (url: string, count: number) =>
    until(`${count} gateways are seen`, async () => {
      const { gateways, unresponsive } = await statusAt(url);
      return gateways.length === count && unresponsive.length === 0;
    });

  test('are all shown by each of them and by a command, and the one that differs is marked', async () => {
    const [one, two, three] = [await shared(PLANS), await shared(PLANS), await shared(OTHER_PLANS)];
    for (const { adminUrl } of [one, two, three]) await all(adminUrl, 3);
    const { gateways } = await statusAt(three.adminUrl);
    expect(gateways[0]).toMatchObject({
      adminUrl: three.adminUrl,
      configuration: { differs: ['plans'] },
    });
    for (const rest of gateways.slice(1))
      expect(rest).toMatchObject({ state: 'redis, single', configuration: { differs: [] } });
    expect(new Set(gateways.map(({ adminUrl }) => adminUrl))).toEqual(
      new Set([one, two, three].map((at) => at.adminUrl)),
    );

    const where = { env: { REDIS_URL: redis.url } };
    const { out, code } = await commandLine(one.folder)(['status'], where);
    expect(code).toBe(0);
    expect(out.match(/ ready /g)).toHaveLength(3);
    expect(out).toMatch(/^Degraded: A gateway differs from most gateways in plans\. /);
    const diff = await commandLine(one.folder)(['config', 'diff'], where);
    expect(diff).toMatchObject({
      out: 'The files match the running configuration.\n',
      err: expect.stringMatching(/^\S+ differs from most gateways in plans: compare .*\n$/),
    });

    await three.close();
    await all(one.adminUrl, 2);
  });

  test('name the silent one', async () => {
    const one = await shared(PLANS);
    // A client with access to Redis chooses names; they must not control the terminal.
    const name = 'gone:1\u001b[2J';
    await redis.admin.zadd('sg:fleet', Date.now(), name);
    try {
      const { gateways, unresponsive } = await statusAt(one.adminUrl);
      expect([gateways.length, unresponsive]).toEqual([1, [name]]);
      const { out, code, err } = await commandLine(one.folder)(['status'], {
        env: { STOREGATE_ADMIN_URL: one.adminUrl },
      });
      expect(out).toMatch(/^Degraded: gone:1\?\[2J did not respond\. /);
      expect([code, err]).toEqual([0, '']);
    } finally {
      await redis.admin.zrem('sg:fleet', name);
    }
  });

  test('ignore invalid messages on their channels', async () => {
    const one = await shared(PLANS);
    const two = await shared(PLANS);
    await all(one.adminUrl, 2);
    const from = '00000000-0000-4000-8000-000000000000';
    const hostile = [
      '',
      'null',
      '[]',
      '{',
      '"a"',
      '{"id":1}',
      JSON.stringify({ from, id: 'a', question: 'constructor' }),
    ];
    hostile.push(
      JSON.stringify({ from: 'sg:changes', id: 'a', question: 'status' }),
      `{"from":"${'x'.repeat(1_100_000)}"}`,
    );
    for (const text of hostile) await redis.admin.publish('sg:questions', text);
    await all(two.adminUrl, 2);
    expect([one, two].flatMap(({ log }) => log.filter(({ level }) => level === 'error'))).toEqual(
      [],
    );
  });

  test('return only themselves while Redis is down', async () => {
    const otherRedis = await startRedis();
    stops.push(() => otherRedis.stop());
    const one = await gateway({ plans: PLANS, env: { REDIS_URL: otherRedis.url } });
    await all(one.adminUrl, 1);
    await otherRedis.stop();
    const { gateways, unresponsive, isolated } = await statusAt(one.adminUrl);
    expect(gateways).toHaveLength(1);
    expect(unresponsive).toEqual([]);
    expect(isolated).not.toBeNull();
  });
});
