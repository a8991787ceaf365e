import { afterAll, describe, expect, test } from '@jest/globals';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { Fixture } from './fixture.ts';

const LIMIT = 40;
const fixtures = new Map<string, Fixture>();
afterAll(() => Promise.all([...fixtures.values()].map((one) => one.stop())));
let fixture: Fixture;

async function limited(settings = ''): Promise<string> {
  fixture = fixtures.get(settings) ?? (await Fixture.start({ settings }));
  fixtures.set(settings, fixture);
  const windows = [{ name: 'hour', kind: 'fixed', limit: LIMIT, span: 3_600_000 }] as const;
  return (await fixture.gateway.key({ windows })).secret;
}

const request = (line: string, ...headers: string[]) =>
  `${line} HTTP/1.1\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`;

describe('all requests of a key count on one counter', () => {
  test('whatever they look like and wherever they come from', async () => {
    const key = await limited();
    const disguises = [
      request('GET /pets', 'Host: a', `X-API-Key: ${key}`),
      request('HEAD /pets', 'Host: b', `x-api-key: ${key}`),
      request('GET /%70ets', 'Host: a', `X-API-KEY:${key}`),
      request('GET /pets?limit=1', 'Host: a', `X-API-Key: ${key}`, 'X-Forwarded-For: 1.2.3.4'),
      request('GET /pets?limit=2', 'Host: a', `X-API-Key: ${key}`, 'Forwarded: for=1.2.3.4'),
      request('GET http://elsewhere/pets', 'Host: elsewhere', `X-API-Key: ${key}`),
      request('GET /PETS', 'Host: a', `X-API-Key: ${key}`),
      request('DELETE /nowhere', 'Host: a', `X-API-Key: ${key}`),
      request('GET /pets', 'Host: a', `Authorization: Bearer ${key}`),
      request('GET /pets', 'Host: a', `authorization: bEARER   ${key}`),
      request('GET /pets', 'Host: a', `X-API-Key: ${key}`, `Authorization: Bearer ${key}`),
      request('GET /pets', 'Host: a', `X-API-Key: ${key}`, 'X-HTTP-Method-Override: POST'),
      request('GET /pets', 'Host: a', `X-API-Key: ${key}`, 'Connection: X-API-Key'),
      request('GET /pets', `X-API-Key: ${key}`).replace('HTTP/1.1', 'HTTP/1.0'),
    ];
    const remaining: number[] = [];
    for (const [i, disguise] of disguises.entries()) {
      const wire = await fixture.connect(`127.0.0.${1 + i}`);
      const { headers } = await wire.send(disguise).answer({ head: disguise.startsWith('HEAD') });
      remaining.push(Number(headers['x-ratelimit-remaining']));
      wire.close();
    }
    expect(remaining).toEqual(disguises.map((_, i) => LIMIT - 1 - i));
  });

  test('over a hundred connections at once, and pipelined, exactly the limit is admitted and no client is banned', async () => {
    const key = await limited();
    const before = fixture.backend.requests.length;
    const one = request('GET /pets', 'Host: a', `X-API-Key: ${key}`);
    const wires = await Promise.all(
      Array.from({ length: 100 }, (_, i) => fixture.connect(`127.0.1.${1 + i}`)),
    );
    const statuses = await Promise.all(
      wires.map(async (wire) => {
        wire.send(one.repeat(3));
        const mine = [await wire.answer(), await wire.answer(), await wire.answer()].map(
          ({ status }) => status,
        );
        wire.close();
        return mine;
      }),
    );
    const counts = Object.groupBy(statuses.flat(), (status) => status);
    expect(counts[200]?.length).toBe(LIMIT);
    expect(counts[429]?.length).toBe(300 - LIMIT);
    expect(fixture.backend.requests.length - before).toBe(LIMIT);
  });
});

test('a ban needs requests after a refusal could be seen', async () => {
  const key = await limited();
  const ask = async () =>
    (await fixture.ask(request('GET /pets', 'Host: a', `X-API-Key: ${key}`))).status;
  for (let i = 0; i < LIMIT; i++) expect(await ask()).toBe(200);
  for (let i = 0; i < 30; i++) expect(await ask()).toBe(429);
  fixture.gateway.clock.pass(100);
  // The first refusal counts, too.
  const { minWorkers, strikes } = fixture.gateway.config.plans.escalation!;
  const free = Math.max(LIMIT, minWorkers) + strikes - 2;
  const seen: number[] = [];
  for (let i = 0; i <= free; i++) seen.push(await ask());
  expect(seen).toEqual([...Array(free).fill(429), 403]);
});

test('a client cannot have the key of another limited or banned', async () => {
  const key = await limited('http: {authFailureLimit: {failures: 5, window: 1m}}');
  const near = [
    key.slice(0, -1),
    `${key}x`,
    key.toLowerCase(),
    `${key},`,
    `"${key}"`,
    makeSecret('test'),
  ];
  for (let round = 0; round < 10; round++) {
    for (const guess of near) {
      const { status } = await fixture.ask(request('GET /pets', 'Host: a', `X-API-Key: ${guess}`));
      expect([401, 429]).toContain(status);
    }
    fixture.gateway.clock.pass(100);
  }
  const { status, headers } = await fixture.ask(
    request('GET /pets', 'Host: a', `X-API-Key: ${key}`),
  );
  expect({ status, left: headers['x-ratelimit-remaining'] }).toEqual({
    status: 200,
    left: `${LIMIT - 1}`,
  });
});

test('usage requests are limited too, in any form, and affect no other client', async () => {
  const key = await limited();
  const wire = await fixture.connect();
  const disguises = ['GET /usage', 'HEAD /usage', 'GET /%75sage', 'DELETE /usage', 'GET /usage?a'];
  const statuses: number[] = [];
  for (let i = 0; i < 130; i++) {
    const line = disguises[i % disguises.length]!;
    const requested = wire.send(request(line, 'Host: a', `X-API-Key: ${key}`));
    statuses.push((await requested.answer({ head: line.startsWith('HEAD') })).status);
  }
  wire.close();
  expect(statuses.slice(0, 120)).not.toContain(429);
  expect(statuses.slice(120)).toEqual(Array(10).fill(429));
  const response = await fixture.ask(request('GET /pets', 'Host: a', `X-API-Key: ${key}`));
  expect(response).toMatchObject({
    status: 200,
    headers: { 'x-ratelimit-remaining': `${LIMIT - 1}` },
  });
});

describe('a flood of pages, which need no key,', () => {
  const pageAsked = (line: string, ...headers: string[]) => request(line, 'Host: a', ...headers);

  test('is limited in any form, and affects no other client', async () => {
    const key = await limited('http: { maxRequestsPerConnection: 10000 }');
    const wire = await fixture.connect('127.0.0.11');
    const disguises = [
      pageAsked('HEAD /docs/'),
      pageAsked('GET /openapi.json', 'If-None-Match: *'),
      pageAsked('HEAD /%64ocs/'),
      pageAsked('GET /docs/nothing', `X-API-Key: ${key}`),
      pageAsked('POST /docs/'),
    ];
    const statuses = new Set<number>();
    let last = {
      status: 0,
      headers: {} as Readonly<Record<string, string>>,
      code: undefined as string | undefined,
    };
    for (let requested = 0; last.status !== 429 && requested < 10_000; requested += 50) {
      wire.send(disguises.join('').repeat(10));
      for (let i = 0; i < 50; i++) {
        last = await wire.answer({ head: i % 5 === 0 || i % 5 === 2 });
        statuses.add(last.status);
      }
    }
    expect([...statuses].sort()).toEqual([200, 304, 404, 405, 429]);
    expect(last).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(last.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(last.headers).toMatchObject({
      'x-ratelimit-limit': '6000',
      'x-ratelimit-remaining': '0',
    });
    wire.send(pageAsked('GET /pets', `X-API-Key: ${key}`));
    expect(await wire.answer()).toMatchObject({
      status: 200,
      headers: { 'x-ratelimit-remaining': `${LIMIT - 1}` },
    });
    wire.send(pageAsked('GET /pets'));
    expect(await wire.answer()).toMatchObject({ status: 401 });
    wire.close();
    expect(await fixture.ask(pageAsked('GET /openapi.json'))).toMatchObject({ status: 200 });
  });

  test('is limited the sooner the longer they are', async () => {
    await limited();
    let wire = await fixture.connect('127.0.0.12');
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 5_000) {
      if (statuses.length % 500 === 499) {
        wire.close();
        wire = await fixture.connect('127.0.0.12');
      }
      statuses.push((await wire.send(pageAsked('GET /openapi.yaml')).answer()).status);
    }
    wire.close();
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.length).toBeLessThan(3_100);
  });
});

test('guessing is throttled per address only', async () => {
  await limited('http: {authFailureLimit: {failures: 3, window: 1m}}');
  const guess = async (from: string) => {
    const wire = await fixture.connect(from);
    const { status } = await wire
      .send(request('GET /pets', 'Host: a', `X-API-Key: ${makeSecret('test')}`))
      .answer();
    wire.close();
    return status;
  };
  for (const expected of [401, 401, 401, 429, 429]) expect(await guess('127.0.0.9')).toBe(expected);
  expect(await guess('127.0.0.10')).toBe(401);
});

test('behind a trusted proxy, a client cannot choose its address by prepending one', async () => {
  await limited(
    'http: {trustedProxies: [127.0.0.0/8], authFailureLimit: {failures: 3, window: 1m}}',
  );
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    const forged = `X-Forwarded-For: 10.0.0.${i}, 198.51.100.7`;
    statuses.push((await fixture.ask(request('GET /pets', 'Host: a', forged))).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});
