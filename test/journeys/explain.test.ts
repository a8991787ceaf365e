import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import type { Response } from '../support/client.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { gatewaysOfTests } from '../support/gateways.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 2, per: minute }, { limit: 100, per: day }] }
  pro: { windows: [{ limit: 1000, per: minute }] }
bans: { strikes: 2, workers: 1, window: 1m, durations: [1m, 5m], decay: 1d }
`;
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const HIDDEN = 'gr8hiddenvalue';
const UNKNOWN = '0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e';

const { gateway } = gatewaysOfTests({ plans: PLANS });

interface Answer {
  readonly headers: Record<string, string>;
}

async function explained({ adminUrl }: Pick<TestGateway, 'adminUrl'>, { headers }: Answer) {
  const id = headers['x-request-id']!;
  const { status, body } = await adminOf(adminUrl)('GET', `/requests/${id}`);
  expect({ status, id: body.id }).toEqual({ status: 200, id });
  return body;
}

const listOf = (response: Response) => response.body.requests as Record<string, unknown>[];

describe('of one gateway', () => {
  let backend: FakeBackend;
  let one: TestGateway;
  let secret: string;
  let id: string;
  beforeAll(async () => {
    let failures = 0;
    backend = await fakeBackend((request, response) => {
      if (request.url === '/late/a') return;
      const fails = request.url === '/pets/2' && failures++ === 0;
      if (fails || request.url === '/pets/3') request.socket.destroy();
      else response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
    });
    one = await TestGateway.start({
      plans: PLANS,
      backendUrl: backend.url,
      settings: `upstream: { ejection: { enabled: false } }
upstreams: { late: { url: '${backend.url}', headersTimeout: 500ms } }
apis: [{ name: lately, path: /late, contract: none, stripPath: false, upstream: late}, { name: gone, path: /gone, contract: none, stripPath: false, target: 'http://127.0.0.1:1'}]
`,
    });
    ({ secret, id } = await one.key({ plan: 'pro', addresses: ['127.0.0.1/32'] }));
  });
  afterAll(async () => {
    await one.stop();
    await backend.close();
  });

  const get = (path: string, key = secret) => one.client.get(path).set('X-API-Key', key);

  test('a successful request has its key, its windows before and after, the backend and the times of its stages', async () => {
    const { secret, id } = await one.key();
    const response = await get('/pets?limit=1', secret).set('Traceparent', TRACEPARENT);
    const body = await explained(one, response);
    expect(body).toMatchObject({
      worker: null,
      method: 'GET',
      operation: 'listPets',
      path: '/pets',
      status: 200,
      complete: true,
      step: null,
      code: null,
      message: null,
      outage: null,
      key: { id, account: 'acme', plan: 'free', subject: `key:${id}` },
      address: '127.0.0.1',
      traceparent: TRACEPARENT,
      decision: { verdict: 'admitted', by: 'state', cost: 1, strikes: 0, strikesToBan: 2 },
      windows: [
        { name: 'minute', kind: 'fixed', limit: 2, before: 2, after: 1 },
        { name: 'day', kind: 'fixed', limit: 100, before: 100, after: 99 },
      ],
      faults: [],
      body: { declared: 0, received: 0 },
      backend: { attempts: 1 },
      repeated: 0,
    });
    const { authenticated, admitted, forwarded, answered, total } = body.times;
    const times = [0, authenticated, admitted, forwarded, answered, total];
    expect([...times].sort((a, b) => a - b)).toEqual(times);
  });

  const limits = { decision: { verdict: 'admitted' } };
  const asked = (attempts: number) => ({ ...limits, backend: { attempts } });
  test.each<[what: string, send: () => PromiseLike<Answer>, expected: object]>([
    [
      'a wrong key',
      () => get('/pets', `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`),
      {
        status: 401,
        step: 'authenticate',
        code: 'invalid_api_key',
        key: null,
        decision: null,
        windows: [{ name: 'failures', limit: 60, after: 59 }],
      },
    ],
    [
      'an unknown path',
      () => get(`/${HIDDEN}`),
      { step: 'contract', code: 'not_found', operation: 'none', path: null, ...limits },
    ],
    [
      'a method',
      () => one.client.patch('/pets').set('X-API-Key', secret),
      { code: 'method_not_allowed' },
    ],
    [
      'a body: its size alone',
      () => one.client.put('/pets/4711?x=1').set('X-API-Key', secret).send({ name: HIDDEN }),
      { path: '/pets/{petId}', sentPath: '/pets/4711', body: { declared: 25, received: 25 } },
    ],
    [
      'a late backend',
      () => get('/late/a'),
      { status: 504, step: 'backend', outage: 'upstream_timeout: too_slow', ...asked(1) },
    ],
    [
      'a retry',
      async () => {
        // Only a used connection may have been about to end.
        await get('/pets');
        return await get('/pets/2');
      },
      { status: 200, code: null, ...asked(2) },
    ],
    [
      'an absent target',
      () => get('/gone/a'),
      {
        status: 502,
        code: 'upstream_unavailable',
        outage: 'upstream_unavailable: the connection is refused',
        backend: { attempts: 1 },
      },
    ],
    [
      'a preflight',
      () =>
        one.client
          .options('/pets')
          .set({ Origin: 'https://a.example', 'Access-Control-Request-Method': 'GET' }),
      { status: 204, key: null, decision: null, backend: null },
    ],
    ['a page', () => one.client.get('/openapi.json'), { operation: 'reference' }],
    ['the usage of a key', () => get('/usage'), { operation: 'usage', decision: null }],
  ])('a request with %s', async (_what, send, expected) => {
    const body = await explained(one, await send());
    expect(body).toMatchObject(expected);
    const { sentPath: _sent, ...others } = body;
    const output = JSON.stringify([others, one.log]);
    for (const hidden of [HIDDEN, secret.slice(8, 20)]) expect(output).not.toContain(hidden);
  });

  test('places and rules of faults are shown, but no value', async () => {
    const wrong = await one.client
      .post(`/pets?${HIDDEN}=1`)
      .set('X-API-Key', secret)
      .send({ name: 7, status: HIDDEN, [HIDDEN]: 1 });
    const body = await explained(one, wrong);
    expect(body).toMatchObject({ step: 'contract', code: 'invalid_request', key: { id } });
    const [{ side, reportOnly, count, faults }] = body.faults;
    expect([side, reportOnly, count]).toEqual(['request', false, wrong.body.details.length]);
    expect(faults).toEqual(
      expect.arrayContaining([
        { in: 'query', pointer: '/*', rule: 'unknown' },
        { in: 'body', pointer: '/name', rule: 'type' },
      ]),
    );
    const line = one.log.find(({ msg, id }) => msg === 'request' && id === body.id)!;
    expect(line).toMatchObject({ faults, faultCount: count });
    expect(JSON.stringify([body, line])).not.toContain(HIDDEN);
  });

  test('a limit has its windows, retry and strikes, and the resulting ban', async () => {
    const { secret } = await one.key();
    for (let i = 0; i < 2; i++) expect((await get('/pets', secret)).status).toBe(200);
    const limited = await get('/pets', secret);
    expect(await explained(one, limited)).toMatchObject({
      status: 429,
      step: 'admit',
      code: 'rate_limit_exceeded',
      message: limited.body.message,
      backend: null,
      decision: {
        verdict: 'limited',
        violated: 'minute',
        strikes: 0,
        banStarted: false,
        retryAfter: Number(limited.headers['retry-after']),
      },
      windows: [
        { name: 'minute', before: 0, after: 0 },
        { name: 'day', before: 98, after: 98 },
      ],
    });
    one.clock.now += 200;
    expect((await explained(one, await get('/pets', secret))).decision).toMatchObject({
      verdict: 'limited',
      strikes: 1,
    });
    const { message, decision } = await explained(one, await get('/pets', secret));
    const begun = { verdict: 'banned', banStarted: true, level: 1, retryAfter: 60 };
    expect(decision).toMatchObject(begun);
    // Its response has whole seconds, so all that is said of the end has them.
    const [end] = /[-0-9]+T[:0-9]+Z/.exec(message)!;
    for (const said of [decision.bannedUntil, decision.retryAt])
      expect(said).toBe(end!.replace('Z', '.000Z'));
    expect(Date.parse(end!)).toBe(Math.ceil((one.clock.now + 60_000) / 1000) * 1000);
    expect((await explained(one, await get('/pets', secret))).decision).toMatchObject({
      verdict: 'banned',
      banStarted: false,
      level: null,
    });
  });
});

describe('the buffer', () => {
  test('follows the settings, from the next request after a reload', async () => {
    const one = await gateway({ settings: 'explain: { bufferSize: 0 }\n' });
    const { secret } = await one.key();
    const get = () => one.client.get('/pets').set('X-API-Key', secret);
    const none = await adminOf(one.adminUrl)(
      'GET',
      `/requests/${(await get()).headers['x-request-id']}`,
    );
    expect(none.status).toBe(404);
    expect(none.body.message).toMatch(
      /^No gateway has the request \S+\. \S+ keeps none, because explain\.bufferSize is 0\. /,
    );
    writeFileSync(join(one.folder, 'gateway.yaml'), 'explain: { bufferSize: 4, sampleRate: 0 }\n');
    await until('it keeps refusals', async () => {
      await one.client.get('/pets');
      return listOf(await adminOf(one.adminUrl)('GET', '/requests')).length > 0;
    });
    const good = await adminOf(one.adminUrl)(
      'GET',
      `/requests/${(await get()).headers['x-request-id']}`,
    );
    expect(good.body.message).toMatch(/ keeps no good ones, and refusals and failures since 20/);
  });

  test('is listed by key, account and code, newest first, and explained by commands step by step', async () => {
    const one = await gateway();
    const [{ secret, id }, other] = [await one.key(), await one.key({ account: 'umbrella' })];
    for (let i = 0; i < 3; i++) await one.client.get('/pets').set('X-API-Key', secret);
    // By the clock of the gateway, each begins later than the one before.
    one.clock.pass(1_000);
    for (let i = 0; i < 2; i++) await one.client.get('/nowhere').set('X-API-Key', other.secret);
    one.clock.pass(1_000);
    await one.client.get('/pets');
    const codes = async (query: string) =>
      listOf(await adminOf(one.adminUrl)('GET', `/requests${query}`)).map(({ code }) => code);
    expect(await codes('')).toEqual([
      'missing_api_key',
      'not_found',
      'not_found',
      'rate_limit_exceeded',
    ]);
    expect(await codes(`?key=${id}`)).toEqual(['rate_limit_exceeded']);
    expect(await codes('?account=umbrella&limit=1')).toEqual(['not_found']);
    expect(await codes('?code=missing_api_key')).toEqual(['missing_api_key']);
    expect((await adminOf(one.adminUrl)('GET', '/requests?limit=201')).status).toBe(400);

    const run = (...args: string[]) =>
      commandLine(one.folder)(args, { env: { STOREGATE_ADMIN_URL: one.adminUrl } });
    const list = await run('requests', '--account', 'acme');
    expect(list).toMatchObject({ code: 0 });
    expect(list.out).toMatch(
      /^time +status +code .*\n\w+ ago +429 +rate_limit_exceeded +listPets +key_\w+ +acme +127\.0\.0\.1 +- +\S{36}\n/,
    );
    const since = await run('requests', '--since', '1h', '--limit', '1');
    const [, after] = /For earlier ones, add --after (\S+)\.\n/.exec(since.out + since.err)!;
    const earlier = await run('requests', '--after', after!, '--json');
    expect(since.out).not.toContain(JSON.parse(earlier.out).requests[0].id);
    expect((await run('requests', '--until', '1h')).out).toContain(
      'No refused or failed requests.',
    );
    const [request] = /\S{36}(?=\n)/.exec(list.out)!;
    const { out } = await run('explain', request);
    expect(out).toMatch(
      /^id +\S{36}\ntime +.* from 127\.0\.0\.1\nrequest +GET \/pets \(listPets\)\nresponse +429 rate_limit_exceeded in /,
    );
    expect(out).toMatch(
      /\nhttp +accepted\nauthenticate +key_\w+ of acme, plan free .*\nadmit +REFUSED: limited; minute has less than 1 unit left; 0 of 2 strikes; retry at \S+, in \d+ s.*\ncontract +not reached\nbackend +not reached\n/,
    );
    expect(out).toMatch(/\nname +kind +limit +before +after +resets\nminute +fixed +2 +0 +0 +in /);
    expect(JSON.parse((await run('explain', request, '--json')).out)).toMatchObject({
      id: request,
    });
    const gone = await run('explain', UNKNOWN);
    expect(gone.code).toBe(1);
    expect(gone.err).toMatch(/keeps good ones since 20\S+, and refusals and failures since 20/);
    expect(await run('explain', 'nonsense')).toMatchObject({ code: 2 });
  });
});

describe('gateways that share a Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  const shared = () => gateway({ env: { REDIS_URL: redis.url } });

  test('are all queried, by each of them and by a command, and a silent one is named', async () => {
    const [one, two] = [await shared(), await shared()];
    const { secret } = await one.key();
    const response = await two.client.get('/pets').set('X-API-Key', secret);
    const id = response.headers['x-request-id']!;
    await until(
      'each knows the other',
      async () => (await adminOf(one.adminUrl)('GET', `/requests/${id}`)).status === 200,
    );
    expect((await explained(one, response)).gateway).toBe((await explained(two, response)).gateway);
    const lost = [await one.client.get('/pets'), await two.client.get('/pets')].map(
      ({ headers }) => headers['x-request-id'],
    );
    expect(listOf(await adminOf(one.adminUrl)('GET', '/requests')).map((row) => row.id)).toEqual(
      lost.reverse(),
    );
    const where = { env: { REDIS_URL: redis.url } };
    expect((await commandLine(one.folder)(['explain', id], where)).out).toContain(
      `id        ${id}\n`,
    );

    await redis.admin.zadd('sg:fleet', Date.now(), 'gone:1');
    const none = await adminOf(one.adminUrl)('GET', `/requests/${UNKNOWN}`);
    expect(none.body.message).toContain('Did not respond: gone:1.');
    expect((await adminOf(one.adminUrl)('GET', '/requests')).body.unresponsive).toEqual(['gone:1']);
  });

  test('report whether a refusal was cached, and whether the state was down', async () => {
    const one = await shared();
    const { secret } = await one.key();
    const get = () => one.client.get('/pets').set('X-API-Key', secret);
    for (let i = 0; i < 3; i++) await get();
    expect((await explained(one, await get())).decision).toMatchObject({
      verdict: 'limited',
      by: 'memory',
    });
    const other = await one.key();
    expect((await one.client.get('/pets').set('X-API-Key', other.secret)).status).toBe(200);
    await redis.stop();
    const alone = await one.client.get('/pets').set('X-API-Key', other.secret);
    expect((await explained(one, alone)).decision).toMatchObject({
      verdict: 'admitted',
      by: 'local',
    });
  });
});
