import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { writeUnnoticed } from '../support/unnoticed.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const OPERATION = '{ security: [], responses: { default: { description: Done. } } }';
const CONTRACT = `openapi: 3.0.3
info: { title: Test, version: '1' }
paths:
  /usage: { get: ${OPERATION}, post: ${OPERATION} }
  /openapi.json: { get: ${OPERATION} }
  /docs/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get: ${OPERATION}
`;
const REQUESTS = [
  ['GET', '/usage'],
  ['POST', '/usage'],
  ['GET', '/openapi.json'],
  ['GET', '/docs/1'],
] as const;

const FREE = 'usage: { enabled: false }\nreference: { enabled: false }\n';

let backend: FakeBackend;
let gateway: TestGateway;
beforeAll(async () => {
  backend = await fakeBackend((_request, response) => response.end('of the backend'));
  gateway = await TestGateway.start({ backendUrl: backend.url });
  writeFileSync(join(gateway.folder, 'contract.yaml'), CONTRACT);
});
afterAll(async () => {
  await gateway?.stop();
  await backend?.close();
});

async function reload(more: string) {
  const settings = `contract: { file: contract.yaml }\n${more}`;
  writeUnnoticed(join(gateway.folder, 'gateway.yaml'), settings);
  return await adminOf(gateway.adminUrl)('POST', '/reload');
}

const statuses = (headers = {}) =>
  Promise.all(
    REQUESTS.map(async ([method, path]) => {
      const response = await fetch(`${gateway.url}${path}`, { method, headers });
      return response.status;
    }),
  );

describe('paths of the gateway that the contract has too', () => {
  test('are named by a reload in the log, once', async () => {
    const hidden = () => gateway.log.filter(({ msg }) => msg === 'contract.hidden');
    expect((await reload('')).status).toBe(200);
    expect(hidden()).toMatchObject([{ count: 4, operations: expect.anything() }]);
    expect(String(hidden()[0]!.operations)).toContain(
      '(POST /usage): the gateway serves /usage itself; set usage.enabled: false',
    );
    await reload('cors: { maxAge: 9m }');
    expect(hidden()).toHaveLength(1);
  });

  test('are served by the gateway', async () => {
    const { secret } = await gateway.key();
    const before = backend.seen.length;
    expect(await statuses({ 'X-API-Key': secret })).toEqual([200, 405, 200, 404]);
    expect(backend.seen).toHaveLength(before);
  });

  test('reach the backend once their settings are false, also without a key', async () => {
    expect((await reload(FREE)).status).toBe(200);
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    const seen = backend.seen.slice(-4).map(({ method, url }) => `${method} ${url}`);
    expect(seen.sort()).toEqual(REQUESTS.map((request) => request.join(' ')).sort());
  });
});
