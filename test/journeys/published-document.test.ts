import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { DocumentClient } from '../support/document-client.ts';
import { TestGateway } from '../support/gateway.ts';
import { writeUnnoticed } from '../support/unnoticed.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const DONE = 'responses: { default: { description: Done. } }';
const CONTRACT = `openapi: 3.1.0
info: { title: Shop, version: '1' }
servers: [{ url: 'https://api.example.com/v1' }]
security: [{ token: [] }]
paths:
  /orders: { get: { operationId: orders, ${DONE} } }
  /health: { get: { operationId: health, security: [], ${DONE} } }
  /far: { servers: [{ url: 'https://far.example' }], get: { operationId: far, ${DONE} } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`;
const PLANS = `
plans: { free: { windows: [{ limit: 60, per: minute }] } }
public: { windows: [{ limit: 60, per: minute }] }
`;
const OWN_TOKENS = 'keys: { headers: [X-Shop-Key] }';

let backend: FakeBackend;
let gateway: TestGateway;
let secret: string;

beforeAll(async () => {
  backend = await fakeBackend((_request, response) => response.end('of the backend'));
  gateway = await TestGateway.start({ backendUrl: backend.url, plans: PLANS });
  writeFileSync(join(gateway.folder, 'contract.yaml'), CONTRACT);
  ({ secret } = await gateway.key());
});
afterAll(async () => {
  await gateway?.stop();
  await backend?.close();
});

async function clientAfter(
  settings: string,
  credentials: Record<string, string>,
): Promise<DocumentClient> {
  writeUnnoticed(
    join(gateway.folder, 'gateway.yaml'),
    `contract: { file: contract.yaml }\n${settings}`,
  );
  expect((await adminOf(gateway.adminUrl)('POST', '/reload')).status).toBe(200);
  return await DocumentClient.from(`${gateway.url}/openapi.json`, credentials);
}

const statuses = (client: DocumentClient, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await client.call(id)).status));

describe('a client made from the published document', () => {
  test('gets 200 from every operation and from /usage with the key as a bearer token', async () => {
    const client = await clientAfter('', { bearer: secret, 'x-api-key': secret });
    expect(await statuses(client, ['orders', 'health', 'far', 'getUsage'])).toEqual([
      200, 200, 200, 200,
    ]);
    expect(client.document.paths['/usage'].servers).toBeUndefined();
    for (const path of ['/usage', '/v1/usage'])
      expect((await fetch(`${gateway.url}${path}`)).status).toBe(401);
    expect(backend.seen.map(({ url }) => url).sort()).toEqual([
      '/v1/far',
      '/v1/health',
      '/v1/orders',
    ]);
  });

  test('sends the key in the header of the settings, beside the token of the API', async () => {
    const client = await clientAfter(OWN_TOKENS, { bearer: 'of-the-api', 'x-shop-key': secret });
    expect(await statuses(client, ['orders', 'far', 'getUsage'])).toEqual([200, 200, 200]);
    expect(backend.seen.at(-1)!.headers.authorization).toBe('Bearer of-the-api');
  });

  test('meets the refusals that the document describes', async () => {
    const client = await clientAfter('', { bearer: 'wrong', 'x-api-key': 'wrong' });
    const response = await client.call('orders');
    expect(response.status).toBe(401);
    const { responses, schemas } = client.document.components;
    const [described] = client.document.paths['/orders'].get.responses[401].$ref
      .split('/')
      .slice(-1);
    for (const name of Object.keys(responses[described].headers))
      expect(response.headers.has(name)).toBe(true);
    expect(await response.json()).toMatchObject(
      Object.fromEntries(
        schemas.GatewayError.required.map((name: string) => [name, expect.anything()]),
      ),
    );
  });

  test('follows a change of the public plan', async () => {
    writeUnnoticed(join(gateway.folder, 'plans.yaml'), PLANS.replace(/public:.*/, 'public: off'));
    const client = await clientAfter('', { bearer: secret, 'x-api-key': secret });
    expect(client.document.paths['/health'].get.security).toContainEqual({ gatewayKey: [] });
    expect((await fetch(`${gateway.url}/v1/health`)).status).toBe(401);
    expect(await statuses(client, ['health'])).toEqual([200]);
  });
});
