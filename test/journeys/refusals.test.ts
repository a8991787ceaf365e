import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { plainRequest } from '../support/plain-request.ts';
import { temporaryFolders } from '../support/temporary.ts';

const folderOf = temporaryFolders();

let gateway: TestGateway;
let secret: string;
beforeAll(async () => {
  gateway = await TestGateway.start({
    settings: 'http:\n  authFailureLimit: {failures: 1000, window: 1m}\n  maxBodyBytes: 2KiB',
  });
  ({ secret } = await gateway.key({ plan: 'business' }));
});
afterAll(() => gateway.stop());

describe('401', () => {
  test('for a key in the query', async () => {
    isTheError(await gateway.client.get(`/pets?api_key=${secret}`), 401, 'missing_api_key');
  });
});

describe('the other refusals', () => {
  test('405 for TRACE names the methods that the gateway forwards', async () => {
    const response = await plainRequest(gateway.url, {
      method: 'TRACE',
      path: '/pets',
      headers: { 'X-API-Key': secret },
    });
    isTheError(response, 405, 'method_not_allowed');
    expect(response.headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  });

  test('404 for a path whose only operation is omitted, also under a mount', async () => {
    const contract = `openapi: 3.1.0
info: { title: t, version: '1' }
paths:
  /files/empty:
    get:
      operationId: omitted
      parameters: [{ name: q, in: query, schema: { $ref: '#/components/schemas/Missing' } }]
      responses: { '200': { description: d } }
  /pets: { get: { operationId: listPets, responses: { '200': { description: d } } } }
`;
    const file = join(folderOf(), 'openapi.yaml');
    writeFileSync(file, contract);
    const other = await TestGateway.start({
      settings:
        "contract: { onUnsupported: omit }\nmounts: [{ path: /files, target: 'http://127.0.0.1:9' }]",
      env: { STOREGATE_CONTRACT: file },
    });
    const { secret } = await other.key();
    const get = (path: string) => other.client.get(path).set('X-API-Key', secret);
    const responses = [await get('/files/empty'), await get('/files/other')].map(
      ({ status, body }) => [status, body.code],
    );
    await other.stop();
    expect(responses).toEqual([
      [404, 'not_found'],
      [502, 'upstream_unavailable'],
    ]);
  });
});
