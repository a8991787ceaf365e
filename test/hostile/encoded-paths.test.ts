import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fixture } from './fixture.ts';

const responses = { 200: { description: 'Good.' } };
const operation = (operationId: string, more: object = {}) => ({ operationId, responses, ...more });
const parameter = (name: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'path',
  required: true,
  schema,
});
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Encoded literals', version: '1' },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
  security: [{ key: [] }],
  paths: {
    '/v1/keys:purge': {
      post: operation('purge', { 'x-required-scopes': ['admin'], 'x-ratelimit': '1/day' }),
    },
    '/v1/{collection}': {
      parameters: [parameter('collection')],
      post: operation('create'),
      get: operation('read', { security: [] }),
    },
    '/v1/a+b@c': { get: operation('literal', { 'x-required-scopes': ['admin'] }) },
    '/jobs/{job}:cancel': { parameters: [parameter('job')], post: operation('cancel') },
    '/points/{x},{y}': {
      parameters: [parameter('x'), parameter('y')],
      get: operation('point'),
    },
    '/lists/{list}': {
      parameters: [parameter('list', { type: 'array', items: { type: 'string' }, maxItems: 2 })],
      get: operation('list'),
    },
  },
};

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start({
    document: DOCUMENT,
    apis: () => 'apis: [{name: files, path: /files, contract: none, stripPath: false}]',
    plans:
      'plans: {free: {windows: [{per: minute, limit: 1000}]}}\npublic: {windows: [{per: minute, limit: 1000}]}\n',
  });
});
afterAll(() => fixture.stop());

async function ask(line: string, secret: string | null = fixture.secret) {
  const before = fixture.backend.requests.length;
  const key = secret === null ? '' : `X-API-Key: ${secret}\r\n`;
  const response = await fixture.ask(`${line} HTTP/1.1\r\nHost: a\r\n${key}\r\n`);
  const [forwarded] = fixture.backend.requests.slice(before);
  return { ...response, forwarded: forwarded?.line.replace(/ HTTP\/1\.1$/, '') };
}

describe('an encoded character of literal text chooses the operation of the decoded path', () => {
  const PURGE = ['POST /v1/keys:purge', 'POST /v1/keys%3Apurge', 'POST /v1/%6beys%3apurge'];

  test.each(PURGE)('%s needs the scope', async (line) => {
    const { secret } = await fixture.gateway.key();
    expect(await ask(line, secret)).toMatchObject({ status: 403, code: 'scope_missing' });
  });

  test.each(PURGE)('%s is charged to the limit', async (line) => {
    const { secret } = await fixture.gateway.key({ scopes: ['admin'] });
    expect((await ask('POST /v1/keys:purge', secret)).status).toBe(200);
    expect(await ask(line, secret)).toMatchObject({ status: 429, forwarded: undefined });
  });

  test('that is not public needs a key, although its undecoded path is public', async () => {
    expect((await ask('GET /v1/a', null)).status).toBe(200);
    for (const path of ['/v1/a+b@c', '/v1/a%2Bb%40c'])
      expect((await ask(`GET ${path}`, null)).status).toBe(401);
  });
});

test.each([
  ['POST /v1/keys%3Apurge', 'another operation'],
  ['GET /points/1%2C2,3', 'other values'],
])('%s is refused: a backend that decodes later finds %s', async (line) => {
  const { secret } = await fixture.gateway.key({ scopes: ['admin'] });
  expect(await ask(line, secret)).toMatchObject({
    status: 400,
    code: 'malformed_request',
    forwarded: undefined,
    body: expect.stringContaining('Send the character itself.'),
  });
});

test.each([
  'POST /v1/a%3Ab',
  'POST /jobs/a%40b%3Acancel',
  'GET /points/1%2C2',
  'GET /lists/a%2Cb,c',
  'GET /%66iles/a%3Ab',
])('%s passes, and is forwarded as it came', async (line) => {
  expect(await ask(line)).toMatchObject({ status: 200, forwarded: line });
});

test('an encoded comma is data, a plain one a separator', async () => {
  expect(await ask('GET /lists/a,b,c')).toMatchObject({ status: 400, code: 'invalid_request' });
});
