import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

/** Returns everything until the store closes the connection. */
async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return readText(socket);
}

describe('an unknown path or method', () => {
  test.each(['/', '/pet', '/pets/', '/pets/1/name', '//pets', '/store', '/PETS'])(
    '%s answers 404',
    async (path) => {
      const { send } = await startStore();
      expect((await send('GET', path)).json).toEqual({
        code: 'not_found',
        message: 'There is nothing at this path.',
        status: 404,
      });
    },
  );

  test.each([
    ['/pets', 'DELETE', 'GET, HEAD, POST'],
    ['/pets/1', 'POST', 'GET, HEAD, PUT, DELETE'],
    ['/categories', 'PUT', 'GET, HEAD, POST'],
    ['/categories/1', 'PATCH', 'GET, HEAD, PUT, DELETE'],
    ['/store/orders', 'OPTIONS', 'GET, HEAD, POST'],
    ['/store/orders/1', 'DELETE', 'GET, HEAD, PUT'],
    ['/store/inventory', 'POST', 'GET, HEAD'],
    ['/store/inventory/1', 'DELETE', 'GET, HEAD, PUT'],
  ])('%s does not answer %s, but %s', async (path, method, allow) => {
    const { send } = await startStore();
    const { json, headers } = await send(method, path);
    expect(json).toMatchObject({ code: 'method_not_allowed', status: 405 });
    expect(headers.get('Allow')).toBe(allow);
  });

  test.each(['x', '+1', '01', '1.0', '1e3', '0x1', '-0', '%20', '%', '%C3', '1%2F2'])(
    'the identifier %j in a path answers 400 and names it',
    async (segment) => {
      const { send } = await startStoreWithPet();
      const { status, json } = await send('GET', `/pets/${segment}`);
      expect([status, json.details]).toMatchObject([400, [{ in: 'path', pointer: '/petId' }]]);
    },
  );

  test('an identifier may be percent-encoded', async () => {
    const { send } = await startStoreWithPet();
    expect((await send('GET', '/pets/%31')).status).toBe(200);
  });
});

describe('a body', () => {
  test.each([
    ['nothing', ''],
    ['half of it', '{"name":"Rex"'],
    ['two of it', '{} {}'],
    ['a byte order mark before it', '\ufeff{}'],
    ['null', 'null'],
    ['an array', '[]'],
    ['a string', '"pet"'],
    ['a nesting without end', '['.repeat(500_000)],
    ['a nesting too deep to walk', '['.repeat(500_000) + ']'.repeat(500_000)],
  ])('that is %s answers 400', async (_, body) => {
    const { send } = await startStoreWithPet();
    const { status, json } = await send('POST', '/pets', body);
    expect([status, json.code, json.details]).toMatchObject([
      400,
      'invalid_request',
      [{ in: 'body', pointer: '' }],
    ]);
  });

  test('that is not UTF-8 answers 400', async () => {
    const { url } = await startStoreWithPet();
    const headers = { 'Content-Type': 'application/json' };
    const body = Buffer.from('{"name":"\xff","categoryId":1}', 'latin1');
    expect((await fetch(`${url}/pets`, { method: 'POST', headers, body })).status).toBe(400);
  });

  test('with several faults is refused with all of them', async () => {
    const { send } = await startStoreWithPet();
    const { json } = await send('POST', '/pets', { name: 7, status: 'gone' });
    expect(json.details).toEqual([
      { in: 'body', pointer: '/name', message: 'must be a string' },
      { in: 'body', pointer: '/categoryId', message: 'is required' },
      { in: 'body', pointer: '/status', message: 'must be one of available, pending, sold' },
    ]);
  });

  test('has only its own fields', async () => {
    const { send } = await startStoreWithPet();
    const { json } = await send('POST', '/pets', '{"__proto__":{"name":"Rex"},"categoryId":1}');
    expect(json.details).toMatchObject([{ pointer: '/name', message: 'is required' }]);
  });

  test.each([
    ['', 400],
    ['x', 201],
    ['🐈'.repeat(100), 201],
    ['x'.repeat(101), 400],
    ['\ud800', 400],
    ['a\0b', 201],
    ["'; DROP TABLE pets; --", 201],
  ])('with the name %j answers %i and keeps the name as it is', async (name, status) => {
    const { send } = await startStoreWithPet();
    const answer = await send('POST', '/pets', { name, categoryId: 1 });
    expect(answer.status).toBe(status);
    if (status === 201) expect((await send('GET', '/pets/2')).json.name).toBe(name);
  });

  test.each([
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/jsonx' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    { 'Content-Encoding': 'gzip' },
  ])('sent with %j answers 415', async (headers) => {
    const { send } = await startStoreWithPet();
    const answer = await send('POST', '/categories', '{"name":"Dogs"}', headers);
    expect(answer.json).toMatchObject({ code: 'unsupported_media_type', status: 415 });
  });

  test('may name its charset', async () => {
    const { send } = await startStore();
    const headers = { 'Content-Type': 'Application/JSON; charset=utf-8' };
    expect((await send('POST', '/categories', '{"name":"Dogs"}', headers)).status).toBe(201);
  });
});

describe('a body that is too large', () => {
  const json = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`;

  test('answers 413 from one byte over a mebibyte on', async () => {
    const { send } = await startStore();
    expect((await send('POST', '/categories', json(2 ** 20))).json.code).toBe('invalid_request');
    expect((await send('POST', '/categories', json(2 ** 20 + 1))).json.code).toBe(
      'payload_too_large',
    );
  });

  test('is 413 without a declared length', async () => {
    const { url } = await startStore();
    const body = new Blob([json(2 ** 21)]).stream();
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${url}/categories`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit);
    expect([answer.status, await answer.json()]).toMatchObject([
      413,
      { code: 'payload_too_large', status: 413 },
    ]);
  });
});

test('HEAD answers as GET does, without the body', async () => {
  const { send } = await startStoreWithPet();
  const [get, head] = [await send('GET', '/pets/1'), await send('HEAD', '/pets/1')];
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.get('Content-Length')).toBe(get.headers.get('Content-Length'));
  expect((await send('HEAD', '/pets/2')).status).toBe(404);
});

test('the target of a request may be a whole URL', async () => {
  const { url } = await startStoreWithPet();
  const answer = await sendRaw(
    url,
    'GET http://store.test/pets/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ['what is not HTTP', 'HELO store\r\n\r\n'],
  ['a target that is not a path', 'GET pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ['the target of no resource', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
])('%s is answered with an Error object', async (_, bytes) => {
  const { url } = await startStore();
  const [head, body] = (await sendRaw(url, bytes)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(JSON.parse(body!)).toMatchObject({ code: 'malformed_request', status: 400 });
});

test('headers about the client are not returned', async () => {
  const { send } = await startStoreWithPet();
  const secret = crypto.randomUUID();
  const { headers, text } = await send('GET', '/pets/1', undefined, {
    'X-Client': secret,
    Authorization: secret,
  });
  expect(JSON.stringify([...headers]) + text).not.toContain(secret);
});
