import { once } from 'node:events';
import { Agent, type RequestListener, request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { KIND_NAMES } from '../../src/limits/kinds.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 20, per: minute }, { limit: 1000, per: day }] }
  fixed: { windows: [{ limit: 10, per: day }] }
  sliding: { windows: [{ limit: 10, per: day, kind: sliding }] }
  calendar: { windows: [{ limit: 10, per: day, kind: calendar }] }
  small-fixed: { windows: [{ limit: 2, per: day }] }
  small-sliding: { windows: [{ limit: 2, per: day, kind: sliding }] }
  small-calendar: { windows: [{ limit: 2, per: day, kind: calendar }] }
  billed: { windows: [{ limit: 10, per: day, overage: true }] }
`;
const SETTINGS = `contract: { file: none }
cost: { header: X-Usage-Units, refund: [500-599] }
redis: { deadline: 5s }
upstream: { retries: { on: [] } }
`;

let redis: RedisServer;
let backend: FakeBackend;
let respond: RequestListener;
beforeAll(async () => {
  redis = await startRedis();
  backend = await fakeBackend((request, response) => respond(request, response));
});
afterAll(async () => {
  await backend.close();
  await redis.stop();
});

const answering =
  (status: number, headers: Record<string, string | string[]> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end('{}');

const costs = (units: number) => answering(200, { 'X-Usage-Units': `${units}` });

let gateway: TestGateway;
let secret: string;
let id: string;

/** One gateway for the tests of a block, and a key for each. */
function gatewayOf(settings: () => string, env: () => Record<string, string> = () => ({})): void {
  beforeAll(async () => {
    const options = { plans: PLANS, settings: settings(), env: env(), backendUrl: backend.url };
    gateway = await TestGateway.start(options);
  });
  beforeEach(async () => {
    ({ secret, id } = await gateway.key());
  });
  afterAll(() => gateway.stop());
}

const get = () => gateway.client.get('/any').set('X-API-Key', secret);
/** Of the minute. */
async function used(): Promise<number> {
  const { body } = await gateway.client.get('/usage').set('X-API-Key', secret);
  return body.windows.find(({ name }: { name: string }) => name === 'minute').used;
}

describe.each([
  ['embedded', () => ({})],
  ['Redis', () => ({ REDIS_URL: redis.url })],
])('with counters in %s', (_name, env: () => Record<string, string>) => {
  gatewayOf(() => SETTINGS, env);

  test('the cost that a response reports is charged, shown, and removed from it', async () => {
    respond = costs(7);
    const { status, headers } = await get();
    expect([status, headers['x-usage-units']]).toEqual([200, undefined]);
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '13',
      ratelimit: expect.stringMatching(/^"minute";r=13;t=\d+, "day";r=993;t=\d+$/),
    });
    await until('it is charged', async () => (await used()) === 7);
    respond = costs(0);
    expect((await get()).headers['x-ratelimit-remaining']).toBe('13');
    await until('the declared unit is returned', async () => (await used()) === 7);
  });

  test('a cost above what is left is charged, and the next request refused', async () => {
    respond = costs(500);
    const { status, headers } = await get();
    expect([status, headers['x-ratelimit-remaining']]).toEqual([200, '0']);
    await until('it is charged', async () => (await used()) === 500);
    expect((await get()).status).toBe(429);
  });

  test('units above the limit of a window with overage are reported', async () => {
    const { secret } = await gateway.key({ plan: 'billed' });
    respond = costs(50);
    await gateway.client.get('/any').set('X-API-Key', secret);
    const admin = adminOf(gateway.adminUrl);
    await until('they are counted', async () => {
      const { excess } = bodyOf(await admin('GET', '/plans/billed'));
      return excess[0]?.units === 40;
    });
  });

  test('reports, metrics and explain have the cost of the response', async () => {
    respond = costs(9);
    const { headers } = await get();
    const admin = adminOf(gateway.adminUrl);
    await until('it is counted', async () => {
      const { rows } = bodyOf(await admin('GET', `/usage/report?by=key&key=${id}`));
      return rows[0]?.units === 9;
    });
    const request = bodyOf(await admin('GET', `/requests/${headers['x-request-id']}`));
    expect(request.decision).toMatchObject({ verdict: 'admitted', cost: 9 });
    expect(request.windows[0]).toMatchObject({ before: 20, after: 11 });
    expect((await gateway.admin.get('/metrics')).text).toMatch(
      /storegate_cost_settlements_total\{result="charged"\} [1-9]/,
    );
  });
});

/** Some whose host is that of an upstream, and some that are not. */
function apis(): string {
  const elsewhere = backend.url.replace('127.0.0.1', 'localhost');
  const all = [
    `{ name: own, path: /own, contract: none, stripPath: false, target: "${backend.url}" }`,
    `{ name: other, path: /other, contract: none, stripPath: false, target: "${elsewhere}" }`,
    `{ name: trusted, path: /trusted, contract: none, stripPath: false, target: "${elsewhere}", cost: { header: X-Usage-Units } }`,
    '{ name: upstream, path: /upstream, contract: none, stripPath: false }',
    '{ name: doubted, path: /doubted, contract: none, stripPath: false, cost: { header: null } }',
  ];
  return `apis: [${all.join(', ')}]\n`;
}

describe('units are returned', () => {
  gatewayOf(() => SETTINGS + apis());

  test('or charged as the response of an API without a contract says, if its host is that of an upstream, or by setting', async () => {
    respond = costs(5);
    const charged: Record<string, number> = {};
    let before = 20;
    for (const path of ['/own', '/other', '/trusted', '/upstream', '/doubted']) {
      const { status, headers } = await gateway.client.get(path).set('X-API-Key', secret);
      expect([status, headers['x-usage-units']]).toEqual([
        200,
        path === '/doubted' ? '5' : undefined,
      ]);
      const remaining = Number(headers['x-ratelimit-remaining']);
      charged[path] = before - remaining;
      before = remaining;
      await until('it is charged', async () => (await used()) === 20 - remaining);
    }
    expect(charged).toEqual({
      '/own': 5,
      '/other': 1,
      '/trusted': 5,
      '/upstream': 5,
      '/doubted': 1,
    });
    respond = answering(503, { 'X-Usage-Units': '5' });
    await gateway.client.get('/other').set('X-API-Key', secret);
    await until('a failure is still refunded', async () => (await used()) === 20 - before);
  });

  test.each<[what: string, status: number, respond: RequestListener, used: number]>([
    ['a failure of the backend', 503, answering(503), 0],
    ['a backend that breaks the connection', 502, (request) => void request.socket.destroy(), 0],
    [
      'a failure that reports a cost: that is charged',
      500,
      answering(500, { 'X-Usage-Units': '4' }),
      4,
    ],
    ['a success: not', 200, answering(200), 1],
    ['an error of the client: not', 404, answering(404), 1],
  ])('for %s', async (_what, status, given, expected) => {
    respond = given;
    const response = await get();
    expect([response.status, response.headers['x-ratelimit-remaining']]).toEqual([
      status,
      `${20 - expected}`,
    ]);
    expect(await used()).toBe(expected);
  });
});

describe('the declared cost is charged', () => {
  gatewayOf(() => SETTINGS);

  test.each(KIND_NAMES)(
    'what exceeds a %s window is shown until it is given back',
    async (kind) => {
      const admin = adminOf(gateway.adminUrl);
      const { secret, id } = await gateway.key({ plan: kind });
      const send = () => gateway.client.get('/any').set('X-API-Key', secret);
      const own = async () =>
        (await gateway.client.get('/usage').set('X-API-Key', secret)).body.windows[0];
      const grant = async (units: number) =>
        bodyOf(await admin('POST', `/usage/${id}/grant`, { units })).usage[0].windows[0];
      respond = costs(50);
      expect((await send()).headers['x-ratelimit-remaining']).toBe('0');
      await until('it is charged', async () => (await own()).used === 50);
      expect(await own()).toMatchObject({ limit: 10, used: 50, remaining: 0 });
      expect(await grant(5)).toMatchObject({ limit: 10, used: 45, remaining: 0 });
      expect((await send()).status).toBe(429);
      expect((await admin('PATCH', `/keys/${id}`, { plan: `small-${kind}` })).status).toBe(200);
      await until('it is moved', async () => (await own()).limit === 2);
      expect(await own()).toMatchObject({ used: 45, remaining: 0 });
      expect(await grant(44)).toMatchObject({ limit: 2, used: 1, remaining: 1 });
      respond = costs(1);
      expect([(await send()).status, (await send()).status]).toEqual([200, 429]);
    },
  );

  test.each(['-1', '1.5', '1e3', 'many', '', '9999999999999', ['2', '3']])(
    'if a response reports %j, which is logged, but not each time',
    async (value) => {
      respond = answering(200, { 'X-Usage-Units': value });
      const { headers } = await get();
      expect(headers).not.toHaveProperty('x-usage-units');
      expect(headers['x-ratelimit-remaining']).toBe('19');
      expect(await used()).toBe(1);
      await until('it is logged', () => gateway.log.some(({ msg }) => msg === 'cost.invalid'));
    },
  );

  test('of a client that leaves before the response', async () => {
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    respond = () => resolve();
    const leaving = new AbortController();
    const headers = { 'X-API-Key': secret };
    const requested = fetch(`${gateway.url}/any`, { headers, signal: leaving.signal });
    await arrived;
    leaving.abort();
    await expect(requested).rejects.toThrow('aborted');
    const admin = adminOf(gateway.adminUrl);
    await until('it has ended', async () => {
      const { rows } = bodyOf(await admin('GET', `/usage/report?by=key,status&key=${id}`));
      return rows.some(
        (row: { status: number; units: number }) => row.status === 499 && row.units === 1,
      );
    });
    expect(await used()).toBe(1);
  });

  test('and what was reported to a client that leaves during the response', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    respond = (_request, response) => {
      response.writeHead(200, { 'X-Usage-Units': '6' });
      const writing = setInterval(() => response.write('part'), 5);
      response.on('close', () => {
        clearInterval(writing);
        resolve();
      });
    };
    const requested = request(`${gateway.url}/any`, { headers: { 'X-API-Key': secret } });
    requested.on('response', (response) => response.destroy()).end();
    await ended;
    expect(await used()).toBe(6);
  });
});

describe.each([
  ['with', SETTINGS],
  ['without', SETTINGS.replace(/^cost: .*$/m, '')],
])('%s a cost of the response', (_name, settings) => {
  gatewayOf(
    () => settings,
    () => ({ REDIS_URL: redis.url }),
  );

  test('requests of clients that leave while Redis decides are reported as charged', async () => {
    respond = answering(200);
    await get();
    const REQUESTS = 5;
    const options = { headers: { 'X-API-Key': secret }, agent: new Agent({ keepAlive: false }) };
    /** What comes after is noticed after. It does not ask Redis. */
    async function untilNoticed() {
      for (let i = 0; i < 3; i++) await gateway.admin.get('/health/live');
    }
    for (let remaining = 1; remaining <= REQUESTS; remaining++) {
      await redis.admin.call('CLIENT', 'PAUSE', '60000', 'WRITE');
      const requested = request(`${gateway.url}/any`, options).on('error', () => {});
      requested.end();
      // Redis also blocks what the gateway writes by itself.
      await once(requested, 'finish');
      await untilNoticed();
      await until('Redis has to decide', async () =>
        /blocked_clients:[1-9]/.test(await redis.admin.info('clients')),
      );
      requested.destroy();
      await untilNoticed();
      await redis.admin.call('CLIENT', 'UNPAUSE');
      await until('it is charged', async () => (await used()) === 1 + remaining);
    }
    const admin = adminOf(gateway.adminUrl);
    await until('all have ended', async () => {
      const { rows } = bodyOf(await admin('GET', `/usage/report?by=key,status&key=${id}`));
      const counted = rows.find(({ status }: { status: number }) => status === 499);
      return counted?.requests === REQUESTS && counted.units === REQUESTS;
    });
  });
});

describe('without the setting', () => {
  gatewayOf(() => 'contract: { file: none }\n');

  test('the header is one of the backend', async () => {
    respond = costs(7);
    const { headers } = await get();
    expect([headers['x-usage-units'], headers['x-ratelimit-remaining']]).toEqual(['7', '19']);
  });
});
