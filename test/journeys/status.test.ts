import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  test('returns its status, over HTTP and by the command line', async () => {
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
    const { code, out } = await commandLine(one.folder)(['status'], {
      env: { STOREGATE_ADMIN_URL: one.adminUrl },
    });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^OK\.\ngateway +version +up +readiness +state +backend +workers +in flight +configuration\n\S+ .* ready +embedded +0 of \d+ +- +0 /,
    );
  });

  test('returns its backends, over HTTP and by the command line', async () => {
    const one = await gateway({});
    const { secret } = await one.key();
    expect((await one.client.get('/pets').set('X-API-Key', secret)).status).toBe(200);
    const { body } = await adminOf(one.adminUrl)('GET', '/backends');
    const how = { state: 'up', reason: null, inFlight: 0, failures: 0, retries: 0 };
    const connections = { open: 1, idle: 1, waiting: 0, limit: 128 };
    expect(body).toEqual({
      backends: [
        {
          upstream: 'default',
          backend: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
          weight: 1,
          total: 1,
          down: 0,
          ...how,
          since: expect.any(String),
          requests: expect.any(Number),
          connections,
          processes: [
            expect.objectContaining({
              gateway: expect.any(String),
              worker: null,
              ...how,
              connections,
            }),
          ],
        },
      ],
      unresponsive: [],
      isolated: null,
    });
    const { code, out } = await commandLine(one.folder)(['backends'], {
      env: { STOREGATE_ADMIN_URL: one.adminUrl },
    });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^upstream +backend +state .*\ndefault +127\.0\.0\.1:\d+ +up .* 0 of 128\n$/,
    );
  });

  test('returns settings that need a restart, and why its files were refused', async () => {
    const one = await gateway({ plans: PLANS });
    writeFileSync(join(one.folder, 'gateway.yaml'), 'audit: { maxEntries: 7000 }\n');
    await until(
      'it has read them',
      async () => (await statusAt(one.adminUrl)).gateways[0].configuration.lastReload !== null,
    );
    expect((await statusAt(one.adminUrl)).gateways[0].configuration).toMatchObject({
      pendingRestart: ['audit.maxEntries'],
      lastReload: { reason: 'a file has changed', problems: [] },
    });
    writeFileSync(join(one.folder, 'plans.yaml'), 'plans: 1\n');
    await until('it has refused them', async () => {
      const { lastReload } = (await statusAt(one.adminUrl)).gateways[0].configuration;
      return lastReload.problems.length > 0;
    });
    const { out } = await commandLine(one.folder)(['status'], {
      env: { STOREGATE_ADMIN_URL: one.adminUrl },
    });
    expect(out).toMatch(/^Degraded since 20\S+: A reload was refused: plans\.yaml:1:8 .*\n/);
    expect(out).toContain('\nNote: A change in the files needs a restart: audit.maxEntries. (');
  });

  test('is missing if none runs', async () => {
    const one = await gateway({});
    await one.close();
    const run = commandLine(one.folder);
    expect(await run(['backends'])).toMatchObject({ code: 0, out: 'No gateway is running.\n' });
    expect(await run(['status'])).toEqual({
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

    await three.close();
    await all(one.adminUrl, 2);
  });

  test('return the latency of the state', async () => {
    const one = await shared(PLANS);
    const { secret } = await one.key();
    expect((await one.client.get('/pets').set('X-API-Key', secret)).status).toBe(200);
    const [{ processes }] = (await statusAt(one.adminUrl)).gateways;
    expect(processes[0].stateMs).toBeGreaterThan(0);
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
      await redis.admin.zadd('sg:fleet', Date.now() - 3_600_000, name);
      const later = await commandLine(one.folder)(['status'], {
        env: { STOREGATE_ADMIN_URL: one.adminUrl },
      });
      expect([later.code, later.out]).toEqual([
        0,
        expect.stringMatching(/^OK: gone:1\?\[2J did not shut down, and another gateway has/),
      ]);
      await redis.admin.zadd('sg:fleet', Date.now(), name);
      const backends = await commandLine(one.folder)(['backends'], {
        env: { STOREGATE_ADMIN_URL: one.adminUrl },
      });
      expect(backends.out).toContain('gone:1?[2J did not respond');
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
