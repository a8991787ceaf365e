import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { DAY } from '../support/limits.ts';
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
  test('without a key', async () => {
    const response = await gateway.client.get('/pets');
    isTheError(response, 401, 'missing_api_key');
    expect(response.headers['www-authenticate']).toBe('Bearer realm="storegate"');
  });

  test('for two keys, and for two headers that differ', async () => {
    const other = await gateway.key();
    isTheError(
      await gateway.client.get('/pets').set('X-API-Key', `${secret}, ${other.secret}`),
      401,
      'invalid_api_key',
    );
    const both = gateway.client
      .get('/pets')
      .set('X-API-Key', secret)
      .set('Authorization', `Bearer ${other.secret}`);
    isTheError(await both, 401, 'invalid_api_key');
    const same = gateway.client
      .get('/pets')
      .set('X-API-Key', secret)
      .set('Authorization', `Bearer ${secret}`);
    expect((await same).status).toBe(200);
  });

  test('for a key in the query', async () => {
    isTheError(await gateway.client.get(`/pets?api_key=${secret}`), 401, 'missing_api_key');
  });

  test('for an expired key', async () => {
    const expiring = await gateway.key({ expiresAt: gateway.clock.now + DAY });
    const get = () => gateway.client.get('/pets').set('X-API-Key', expiring.secret);
    expect((await get()).status).toBe(200);
    gateway.clock.pass(DAY);
    isTheError(await get(), 401, 'key_expired');
  });
});

describe('400', () => {
  test('names every fault with its place', async () => {
    const response = await gateway.client
      .post('/pets?colour=red')
      .set('X-API-Key', secret)
      .send({ name: 7, status: 'lost' });
    isTheError(response, 400, 'invalid_request');
    const places = response.body.details.map(
      (fault: { in: string; pointer: string }) => `${fault.in} ${fault.pointer}`,
    );
    expect(places.sort()).toEqual(
      expect.arrayContaining(['body /name', 'body /status', 'query /colour']),
    );
    expect(
      places.some((place: string) => place.startsWith('body') && /categoryId|^body $/.test(place)),
    ).toBe(true);
  });

  test('never repeats what was sent', async () => {
    const value = 'very-private-value';
    const response = await gateway.client
      .post('/pets')
      .set('X-API-Key', secret)
      .send({ name: value, categoryId: value, status: value });
    isTheError(response, 400, 'invalid_request');
    expect(response.text).not.toContain(value);
    expect(JSON.stringify(gateway.log)).not.toContain(value);
  });

  test.each([
    '{',
    '{"name":"a","name":"b","categoryId":1}',
    '\ufeff{}',
    'null',
    '',
    '{"name":"a","categoryId":9223372036854775808}',
  ])('for the body %j', async (body) => {
    const request = gateway.client
      .post('/pets')
      .set('X-API-Key', secret)
      .set('Content-Type', 'application/json');
    isTheError(await request.send(body), 400, 'invalid_request');
  });

  test('for a body of an operation without one', async () => {
    const request = gateway.client
      .get('/pets')
      .set('X-API-Key', secret)
      .set('Content-Type', 'application/json');
    isTheError(await request.send('{}'), 400, 'invalid_request');
  });
});

describe('the other refusals', () => {
  test('404 for a path outside the contract, and for a missing resource', async () => {
    isTheError(await gateway.client.get('/nowhere').set('X-API-Key', secret), 404, 'not_found');
    isTheError(await gateway.client.get('/Pets').set('X-API-Key', secret), 404, 'not_found');
    isTheError(await gateway.client.get('/pets/').set('X-API-Key', secret), 404, 'not_found');
    const missing = await gateway.client.get('/pets/987654321').set('X-API-Key', secret);
    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({
      status: 404,
      code: expect.any(String),
      message: expect.any(String),
    });
  });

  test('405 names the allowed methods', async () => {
    const response = await gateway.client.patch('/pets').set('X-API-Key', secret);
    isTheError(response, 405, 'method_not_allowed');
    expect(response.headers.allow!.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
  });

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
    const answers = [await get('/files/empty'), await get('/files/other')].map(
      ({ status, body }) => [status, body.code],
    );
    await other.stop();
    expect(answers).toEqual([
      [404, 'not_found'],
      [502, 'upstream_unavailable'],
    ]);
  });

  test.each(['text/plain', 'application/xml', 'application/json; charset=latin1'])(
    '415 for %s',
    async (type) => {
      const request = gateway.client
        .post('/pets')
        .set('X-API-Key', secret)
        .set('Content-Type', type);
      isTheError(
        await request.send('{"name":"Rex","categoryId":1}'),
        415,
        'unsupported_media_type',
      );
    },
  );

  test('415 for an encoded body', async () => {
    const request = gateway.client
      .post('/pets')
      .set('X-API-Key', secret)
      .set('Content-Type', 'application/json');
    isTheError(
      await request.set('Content-Encoding', 'gzip').send('{}'),
      415,
      'unsupported_media_type',
    );
  });

  test('417 for an unknown expectation', async () => {
    const headers = { 'X-API-Key': secret, Expect: 'miracles' };
    isTheError(
      await plainRequest(gateway.url, { path: '/pets', headers }),
      417,
      'expectation_failed',
    );
  });

  test('429 for an address that keeps failing, while its valid key still works', async () => {
    const strict = await TestGateway.start({
      settings: 'http:\n  authFailureLimit: {failures: 3, window: 1m}',
    });
    const key = await strict.key();
    const left: string[] = [];
    for (let i = 0; i < 3; i++) {
      const response = await strict.client.get('/pets');
      isTheError(response, 401, 'missing_api_key');
      left.push(response.headers['x-ratelimit-remaining']!);
    }
    expect(left).toEqual(['2', '1', '0']);
    const refused = await strict.client.get('/pets').set('X-API-Key', 'guess');
    isTheError(refused, 429, 'too_many_failed_attempts');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await strict.client.get('/pets').set('X-API-Key', key.secret)).status).toBe(200);
    await strict.stop();
  });

  test('410 after the sunset, if the operator chose so', async () => {
    const strict = await TestGateway.start({ settings: 'contract: {afterSunset: refuse}' });
    const key = await strict.key();
    const get = () => strict.client.get('/pets/1').set('X-API-Key', key.secret);
    const before = await get();
    expect(before.status).toBe(200);
    strict.clock.now = Date.parse(before.headers.sunset!);
    isTheError(await get(), 410, 'operation_sunset');
    await strict.stop();
  });
});
