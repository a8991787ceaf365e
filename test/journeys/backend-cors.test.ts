import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const ORIGIN = 'https://shop.example';
const OWN_FIELDS = {
  'access-control-allow-origin': ORIGIN,
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'PUT',
  'access-control-allow-headers': 'x-backend',
  'access-control-max-age': '7',
  'access-control-expose-headers': 'X-Backend',
};
const PREFLIGHT = {
  Origin: ORIGIN,
  'Access-Control-Request-Method': 'GET',
  'Access-Control-Request-Headers': 'x-api-key',
};

let backend: FakeBackend;
const gateways: TestGateway[] = [];
beforeAll(async () => {
  backend = await fakeBackend((request, response) => {
    request.resume();
    const status = request.method === 'OPTIONS' ? 204 : 200;
    response.writeHead(status, {
      ...OWN_FIELDS,
      Vary: 'Origin',
      ...(status === 200 && { 'Content-Type': 'application/json' }),
    });
    response.end(status === 200 ? '[]' : undefined);
  });
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await backend.close();
});

async function start(origins: string, env: Record<string, string> = {}): Promise<TestGateway> {
  const apis = [
    `{ name: target, path: /target, contract: none, stripPath: false, target: "${backend.url}" }`,
    `{ name: upstream, path: /upstream, contract: none, upstream: { url: "${backend.url}/v2" } }`,
    `{ name: denied, path: /denied, contract: none, stripPath: false, addresses: { deny: [127.0.0.0/8] } }`,
    `{ name: own-key, path: /own-key, contract: none, stripPath: false, target: "${backend.url}", keys: { headers: [X-File-Key] } }`,
  ];
  const gateway = await TestGateway.start({
    backendUrl: backend.url,
    settings: `cors: { origins: ${origins} }\ncontract: { responses: enforce }\napis: [${apis.join(', ')}]`,
    env,
  });
  gateways.push(gateway);
  return gateway;
}

const corsFields = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

describe.each<
  [name: string, env: Record<string, string>, paths: readonly (readonly [string, string])[]]
>([
  [
    'with a contract',
    {},
    [
      ['/pets', '/pets'],
      ['/pets/1?x=1', '/pets/1?x=1'],
      ['/target/a', '/target/a'],
      ['/upstream/a', '/v2/a'],
      ['/own-key/a', '/own-key/a'],
    ],
  ],
  ['without a contract', { STOREGATE_CONTRACT: 'none' }, [['/any', '/any']]],
])('cors.origins: [] %s', (_, env, paths) => {
  let gateway: TestGateway;
  let secret: string;
  beforeAll(async () => {
    gateway = await start('[]', env);
    ({ secret } = await gateway.key());
  });

  test.each(paths)(
    'passes a preflight of %s to the backend, and its response back',
    async (path, reached) => {
      const response = await fetch(gateway.url + path, { method: 'OPTIONS', headers: PREFLIGHT });
      expect([response.status, corsFields(response.headers)]).toEqual([204, OWN_FIELDS]);
      expect(response.headers.get('x-ratelimit-limit')).toBe('6000');
      const { method, url, headers } = backend.seen.at(-1)!;
      expect([method, url]).toEqual(['OPTIONS', reached]);
      expect(headers).toMatchObject({
        origin: ORIGIN,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key',
      });
    },
  );

  test('returns the CORS fields of the backend with a response, and has none of its own', async () => {
    const ask = (key: string) =>
      fetch(gateway.url + paths[0]![0], { headers: { Origin: ORIGIN, 'X-API-Key': key } });
    const response = await ask(secret);
    expect([response.status, corsFields(response.headers)]).toEqual([200, OWN_FIELDS]);
    expect(corsFields((await ask('wrong')).headers)).toEqual({});
  });
});

describe('a preflight that does not reach the backend', () => {
  test.each([
    ['of an address that the API denies', '/denied/a', PREFLIGHT, 403],
    ['of an unknown path', '/nowhere', PREFLIGHT, 404],
    ['of /usage', '/usage', PREFLIGHT, 401],
    ['of a page', '/docs/', PREFLIGHT, 405],
    ['with a wrong key', '/pets', { ...PREFLIGHT, 'X-API-Key': 'wrong' }, 401],
    ['without Origin', '/target/a', { 'Access-Control-Request-Method': 'GET' }, 401],
  ])('%s', async (_, path, headers, status) => {
    const before = backend.seen.length;
    const response = await fetch(gateways[0]!.url + path, { method: 'OPTIONS', headers });
    expect([response.status, backend.seen.length - before]).toEqual([status, 0]);
  });

  test('because cors.origins has origins: the gateway responds, and removes the fields of the backend', async () => {
    const gateway = await start('["*"]');
    const { secret } = await gateway.key();
    for (const path of ['/pets', '/target/a', '/upstream/a']) {
      const before = backend.seen.length;
      const preflight = await fetch(gateway.url + path, { method: 'OPTIONS', headers: PREFLIGHT });
      expect([preflight.status, backend.seen.length - before]).toEqual([204, 0]);
      const response = await fetch(gateway.url + path, {
        headers: { Origin: ORIGIN, 'X-API-Key': secret },
      });
      // Pages read the headers of the backend too.
      expect(corsFields(response.headers)).toEqual({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': '*',
      });
    }
  });
});
