import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const CONTRACT = `
openapi: 3.1.0
info: { title: Shop, version: 1.0.0 }
security: [{ token: [] }]
paths:
  /health: { get: { operationId: health, security: [], responses: { default: { description: Any. } } } }
  /login:
    post:
      operationId: login
      security: []
      requestBody: { required: true, content: { application/json: { schema: { type: object, required: [user] } } } }
      responses: { default: { description: Any. } }
  /me: { get: { operationId: me, security: [{}, { token: [] }], responses: { default: { description: Any. } } } }
  /orders: { get: { operationId: orders, responses: { default: { description: Any. } } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`;

const PLANS = `
plans: { free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] } }
public: { concurrency: 5, windows: [{ limit: 4, per: minute }, { limit: 100, per: day }] }
`;

const temporary = temporaryFolders();
let gateway: TestGateway;
let backend: FakeBackend;
let secret: string;
let id: string;

beforeAll(async () => {
  backend = await fakeBackend((request, response) => {
    request.resume();
    const knows = request.headers.authorization === 'Bearer own-token' || request.url !== '/orders';
    response.writeHead(knows ? 200 : 401, { 'Content-Type': 'application/json' }).end('{}');
  });
  const contract = join(temporary(), 'openapi.yaml');
  writeFileSync(contract, CONTRACT);
  gateway = await TestGateway.start({
    backendUrl: backend.url,
    settings: `
keys: { headers: [X-API-Key], identity: { account: X-Tenant, plan: null } }
apis: [{ name: files, path: /files, contract: none, stripPath: false, target: "${backend.url}", keys: { headers: [X-File-Key] } }]`,
    plans: PLANS,
    env: { STOREGATE_CONTRACT: contract },
  });
  ({ secret, id } = await gateway.key({ account: 'zoo', scopes: ['a:read', 'b:write'] }));
});
afterAll(async () => {
  await gateway.stop();
  await backend.close();
});

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers });
const own = { Authorization: 'Bearer own-token' };

describe('a backend with tokens of its own', () => {
  test('gets its Authorization, and the identity of the client in place of the key', async () => {
    const response = await ask('/orders', {
      'X-API-Key': secret,
      ...own,
      'X-Tenant': 'other-client',
      x_tenant: 'other-client',
    });
    expect(response.status).toBe(200);
    const { headers, rawHeaders } = backend.seen.at(-1)!;
    expect(headers).toMatchObject({
      authorization: 'Bearer own-token',
      'x-storegate-key-id': id,
      'x-tenant': 'zoo',
      'x-storegate-scopes': 'a:read b:write',
    });
    expect(headers['x-storegate-plan']).toBeUndefined();
    expect(rawHeaders.join()).not.toMatch(/sg_test_|other-client|x-api-key/i);
  });

  test('is not asked without a key, and the message names the header', async () => {
    const before = backend.seen.length;
    const response = await ask('/orders', { Authorization: `Bearer ${secret}` });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(
      'ApiKey realm="storegate", header="X-API-Key"',
    );
    expect(await response.json()).toMatchObject({
      message: 'The API key is missing. Send it in the header X-API-Key.',
    });
    expect(backend.seen.length).toBe(before);
  });

  test('may be behind an API without a contract with another key header', async () => {
    expect((await ask('/files/a', { 'X-API-Key': secret })).status).toBe(401);
    expect((await ask('/files/a', { 'X-File-Key': secret, 'X-API-Key': 'own' })).status).toBe(200);
    expect(backend.seen.at(-1)!.headers).toMatchObject({
      'x-api-key': 'own',
      'x-storegate-key-id': id,
    });
    expect(backend.seen.at(-1)!.headers['x-file-key']).toBeUndefined();
  });
});

describe('a public operation', () => {
  const limits = ({ headers }: Response) =>
    ['limit', 'remaining'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

  test('needs no key; requests are checked, counted per address, and then refused', async () => {
    const first = await ask('/health');
    expect([first.status, ...limits(first)]).toEqual([200, 4, 3]);
    expect(backend.seen.at(-1)!.headers['x-storegate-key-id']).toBeUndefined();
    expect(backend.seen.at(-1)!.headers['x-tenant']).toBeUndefined();
    const body = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
    expect(await (await fetch(`${gateway.url}/login`, body)).json()).toMatchObject({
      code: 'invalid_request',
    });
    expect(limits(await ask('/me', own))).toEqual([4, 1]);
    expect(limits(await ask('/health'))).toEqual([4, 0]);
    const refused = await ask('/health');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'rate_limit_exceeded' });
  });

  test('counts a request with a key for the key, and refuses one with a wrong key', async () => {
    expect(limits(await ask('/me', { 'X-API-Key': secret }))[0]).toBe(60);
    expect((await ask('/me', { 'X-API-Key': 'sg_test_wrong' })).status).toBe(401);
  });

  test('does not open the usage of keys, nor other APIs', async () => {
    expect((await ask('/usage')).status).toBe(401);
    expect((await ask('/files/health')).status).toBe(401);
  });
});
