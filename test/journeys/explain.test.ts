import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import type { Response } from '../support/client.ts';
import { commandLine } from '../support/command-line.ts';
import type { TestGateway } from '../support/gateway.ts';
import { gatewaysOfTests } from '../support/gateways.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { fakeBackend, rawBackend } from '../support/upstream.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 2, per: minute }, { limit: 100, per: day }] }
bans: { strikes: 2, workers: 1, window: 1m, durations: [1m, 5m], decay: 1d }
`;
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const HIDDEN = 'gr8hiddenvalue';

const temporary = temporaryFolders();
const { stops, gateway } = gatewaysOfTests();

async function explained(
  one: Pick<TestGateway, 'adminUrl'>,
  response: { headers: Record<string, string> },
) {
  const id = response.headers['x-request-id']!;
  const { status, body } = await adminOf(one.adminUrl)('GET', `/requests/${id}`);
  expect({ status, id: body.id }).toEqual({ status: 200, id });
  return body;
}

const listOf = (response: Response) => response.body.requests as Record<string, unknown>[];

describe('a successful request', () => {
  test('is shown with its key, its windows before and after, the backend and the times of its stages', async () => {
    const one = await gateway({ plans: PLANS });
    const { secret, id } = await one.key();
    const response = await one.client
      .get('/pets?limit=1')
      .set('X-API-Key', secret)
      .set('Traceparent', TRACEPARENT);
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
      reason: null,
      outage: null,
      key: { id, account: 'acme', plan: 'free', subject: `key:${id}` },
      address: '127.0.0.1',
      traceparent: TRACEPARENT,
      decision: {
        verdict: 'admitted',
        by: 'state',
        cost: 1,
        violated: null,
        retryAt: null,
        strikes: 0,
        strikesToBan: 2,
      },
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

  test('is shown with its path, without its query, and only with the size of its body', async () => {
    const one = await gateway();
    const { secret } = await one.key();
    const response = await one.client
      .put(`/pets/4711?x=${HIDDEN}`)
      .set('X-API-Key', secret)
      .send({ name: HIDDEN });
    const body = await explained(one, response);
    expect(body).toMatchObject({
      path: '/pets/{petId}',
      sentPath: '/pets/4711',
      body: { declared: 25, received: 25 },
    });
    expect(JSON.stringify(body)).not.toContain(HIDDEN);
  });

  test('may be a preflight, a page, or a usage request', async () => {
    const one = await gateway();
    const { secret, id } = await one.key();
    const preflight = await one.client
      .options('/pets')
      .set('Origin', 'https://pets.example')
      .set('Access-Control-Request-Method', 'GET');
    expect(await explained(one, preflight)).toMatchObject({
      status: 204,
      key: null,
      decision: null,
      backend: null,
    });
    expect(await explained(one, await one.client.get('/openapi.json'))).toMatchObject({
      operation: 'reference',
    });
    const usage = await one.client.get('/usage').set('X-API-Key', secret);
    expect(await explained(one, usage)).toMatchObject({
      operation: 'usage',
      key: { id },
      decision: null,
    });
  });
});

describe('a refused request', () => {
  test('because of its key: 401 with the window of its address, and 403 of an address', async () => {
    const one = await gateway();
    const { secret, id } = await one.key({ addresses: ['192.0.2.0/24'] });
    const wrong = `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`;
    const guess = await one.client.get('/pets').set('X-API-Key', wrong);
    expect(await explained(one, guess)).toMatchObject({
      status: 401,
      step: 'authenticate',
      code: 'invalid_api_key',
      key: null,
      decision: null,
      windows: [{ name: 'failures', limit: 60, after: 59 }],
    });
    const elsewhere = await one.client.get('/pets').set('X-API-Key', secret);
    const body = await explained(one, elsewhere);
    expect(body).toMatchObject({
      status: 403,
      step: 'authenticate',
      code: 'address_not_allowed',
      key: { id },
    });
    expect(JSON.stringify(await adminOf(one.adminUrl)('GET', '/requests'))).not.toContain(
      secret.slice(8, 20),
    );
  });

  test('because of a limit: 429 with windows, retry and strikes, and the resulting ban', async () => {
    const one = await gateway({ plans: PLANS });
    const { secret } = await one.key();
    const get = () => one.client.get('/pets').set('X-API-Key', secret);
    for (let i = 0; i < 2; i++) expect((await get()).status).toBe(200);
    const limited = await get();
    const first = await explained(one, limited);
    expect(first).toMatchObject({
      status: 429,
      step: 'admit',
      code: 'rate_limit_exceeded',
      message: limited.body.message,
      backend: null,
      decision: {
        verdict: 'limited',
        by: 'state',
        violated: 'minute',
        strikes: 0,
        strikesToBan: 2,
        banStarted: false,
        retryAfter: Number(limited.headers['retry-after']),
      },
      windows: [
        { name: 'minute', before: 0, after: 0 },
        { name: 'day', before: 98, after: 98 },
      ],
    });
    one.clock.now += 200;
    expect((await explained(one, await get())).decision).toMatchObject({
      verdict: 'limited',
      strikes: 1,
    });
    const banned = await get();
    expect(banned.status).toBe(403);
    const { message, decision } = await explained(one, banned);
    expect(decision).toMatchObject({
      verdict: 'banned',
      banStarted: true,
      level: 1,
      retryAfter: 60,
    });
    // Its response has whole seconds, so all that is said of the end has them.
    const [end] = /[-0-9]+T[:0-9]+Z/.exec(message)!;
    for (const said of [decision.bannedUntil, decision.retryAt])
      expect(said).toBe(end!.replace('Z', '.000Z'));
    expect(Date.parse(end!)).toBe(Math.ceil((one.clock.now + 60_000) / 1000) * 1000);
    expect((await explained(one, await get())).decision).toMatchObject({
      verdict: 'banned',
      banStarted: false,
      level: null,
    });
  });

  test('because of the contract: 404, 405, and 400 with places and rules of its faults, but no value', async () => {
    const one = await gateway();
    const { secret } = await one.key();
    const call = (method: 'get' | 'patch' | 'post', path: string) =>
      one.client[method](path).set('X-API-Key', secret);
    const lost = await explained(one, await call('get', `/${HIDDEN}`));
    expect(lost).toMatchObject({
      step: 'contract',
      code: 'not_found',
      operation: 'none',
      path: null,
    });
    expect(await explained(one, await call('patch', '/pets'))).toMatchObject({
      code: 'method_not_allowed',
    });
    const wrong = await call('post', `/pets?${HIDDEN}=1`)
      .set('traceparent', TRACEPARENT)
      .send({ name: 7, status: HIDDEN, [HIDDEN]: 1 });
    expect(wrong.status).toBe(400);
    const body = await explained(one, wrong);
    expect(body).toMatchObject({
      step: 'contract',
      code: 'invalid_request',
      decision: { verdict: 'admitted' },
    });
    const [{ side, reportOnly, count, faults }] = body.faults;
    expect({ side, reportOnly, count }).toEqual({
      side: 'request',
      reportOnly: false,
      count: wrong.body.details.length,
    });
    expect(faults).toEqual(
      expect.arrayContaining([
        { in: 'query', pointer: '/*', rule: 'unknown' },
        { in: 'body', pointer: '/name', rule: 'type' },
      ]),
    );
    const line = one.log.find(({ msg, id }) => msg === 'request' && id === body.id)!;
    expect(line).toMatchObject({ faults, faultCount: count, traceparent: TRACEPARENT });
    expect(lost.sentPath).toBe(`/${HIDDEN}`);
    const { sentPath: _sent, ...others } = lost;
    expect(JSON.stringify([body, others, line])).not.toContain(HIDDEN);
  });

  test('because of the backend: 502 with the kind of the error, 504, and a retry', async () => {
    let isFirst = true;
    const flaky = await rawBackend((socket, _request, count) => {
      if (count === 1 || !isFirst) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
      else {
        isFirst = false;
        socket.destroy();
      }
    });
    stops.push(() => flaky.close());
    const one = await gateway({ backendUrl: flaky.url });
    const { secret } = await one.key();
    const get = () => one.client.get('/pets').set('X-API-Key', secret);
    expect(await explained(one, await get())).toMatchObject({
      status: 200,
      backend: { attempts: 1 },
    });
    expect(await explained(one, await get())).toMatchObject({
      status: 200,
      backend: { attempts: 2, target: { upstream: 'default', backend: new URL(flaky.url).host } },
    });

    const silent = await rawBackend(() => {});
    stops.push(() => silent.close());
    const two = await gateway({
      backendUrl: silent.url,
      settings: 'upstream: { headersTimeout: 300ms }\n',
    });
    const other = await two.key();
    const late = await explained(two, await two.client.get('/pets').set('X-API-Key', other.secret));
    expect(late).toMatchObject({
      status: 504,
      step: 'backend',
      code: 'upstream_timeout',
      outage: 'upstream_timeout: too_slow',
      backend: { attempts: 1, head: null },
    });

    const three = await gateway({ backendUrl: 'http://127.0.0.1:1' });
    const third = await three.key();
    const gone = await explained(
      three,
      await three.client.get('/pets').set('X-API-Key', third.secret),
    );
    expect(gone).toMatchObject({ status: 502, code: 'upstream_unavailable' });
    expect(gone.backend).toMatchObject({ attempts: 1, target: { backend: '127.0.0.1:1' } });
    expect(gone.outage).toMatch(/^upstream_unavailable: unreachable: the connection is refused$/);
  });
});

const REPORT_ONLY = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Reports', version: '1' },
  paths: {
    '/notes': {
      post: {
        operationId: 'addNote',
        'x-report-only': true,
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', properties: { text: { type: 'string' } } },
            },
          },
        },
        responses: { 201: { description: 'Added.' } },
      },
    },
  },
});

test('faults that are only reported are shown with a successful request', async () => {
  const backend = await fakeBackend((_request, response) => void response.writeHead(201).end());
  stops.push(() => backend.close());
  const file = join(temporary(), 'notes.json');
  writeFileSync(file, REPORT_ONLY);
  const one = await gateway({
    backendUrl: backend.url,
    settings: `contract: { file: "${file}" }\n`,
  });
  const { secret } = await one.key();
  const response = await one.client.post('/notes').set('X-API-Key', secret).send({ text: 7 });
  expect(await explained(one, response)).toMatchObject({
    status: 201,
    code: 'report:invalid_request',
    step: null,
    faults: [
      {
        side: 'request',
        reportOnly: true,
        count: 1,
        faults: [{ in: 'body', pointer: '/text', rule: 'type' }],
      },
    ],
  });
});

test('faults of a response that is refused are not called report only', async () => {
  const backend = await fakeBackend(
    (_request, response) => void response.writeHead(201).end('wrong'),
  );
  stops.push(() => backend.close());
  const file = join(temporary(), 'notes.json');
  writeFileSync(file, REPORT_ONLY.replace('"x-report-only":true,', ''));
  const one = await gateway({
    backendUrl: backend.url,
    settings: `contract: { file: "${file}", responses: enforce }\n`,
  });
  const { secret } = await one.key();
  const response = await one.client.post('/notes').set('X-API-Key', secret).send({ text: 'a' });
  expect(await explained(one, response)).toMatchObject({
    status: 502,
    code: 'upstream_error',
    faults: [
      {
        side: 'response',
        reportOnly: false,
        count: 1,
        faults: [{ in: 'body', pointer: '', rule: 'unexpected' }],
      },
    ],
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
    const one = await gateway({ plans: PLANS });
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
    const gone = await run('explain', '0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e');
    expect(gone.code).toBe(1);
    expect(gone.err).toMatch(/keeps good ones since 20\S+, and refusals and failures since 20/);
    expect(await run('explain', 'nonsense')).toMatchObject({ code: 2 });
  });

  test('is unavailable to commands without a running gateway', async () => {
    const one = await gateway();
    await one.close();
    const { err } = await commandLine(one.folder)([
      'explain',
      '0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e',
    ]);
    expect(err).toContain(
      'No gateway runs, and the last requests are in the memory of gateways alone.',
    );
  });
});

describe('gateways that share a Redis', () => {
  let redis: RedisServer;
  const start = async () => {
    redis = await startRedis();
    stops.push(() => redis.stop());
  };
  const shared = () => gateway({ plans: PLANS, env: { REDIS_URL: redis.url } });

  test('are all queried, by each of them and by a command, and a silent one is named', async () => {
    await start();
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
    const none = await adminOf(one.adminUrl)(
      'GET',
      '/requests/0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e',
    );
    expect(none.body.message).toContain('Did not respond: gone:1.');
    expect((await adminOf(one.adminUrl)('GET', '/requests')).body.unresponsive).toEqual(['gone:1']);
  });

  test('report whether a refusal was cached, and whether the state was down', async () => {
    await start();
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
