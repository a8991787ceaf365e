import { afterEach, describe, expect, test } from '@jest/globals';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

describe('an unknown path or method', () => {
  test.each(['/', '/pet', '/pets/', '/pets/1/name', '/PETS'])('%s answers 404', async (path) => {
    const { send } = await startStore();
    expect((await send('GET', path)).json).toEqual({
      code: 'not_found',
      message: 'There is nothing at this path.',
      status: 404,
    });
  });

  test.each([
    ['/pets', 'DELETE', 'GET, HEAD, POST'],
    ['/pets/1', 'POST', 'GET, HEAD, PUT, DELETE'],
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

  test('an identifier may be percent-encoded', async () => {
    const { send } = await startStoreWithPet();
    expect((await send('GET', '/pets/%31')).status).toBe(200);
  });
});

test.each(['x', '🐈'.repeat(100), 'a\0b', "'; DROP TABLE pets; --", '"\\', '\u2028'])(
  'the name %j is kept as it is',
  async (name) => {
    const { send } = await startStoreWithPet();
    expect((await send('POST', '/pets', { name, categoryId: 1 })).status).toBe(201);
    expect((await send('GET', '/pets/2')).json.name).toBe(name);
  },
);

test('HEAD answers as GET does, without the body', async () => {
  const { send } = await startStoreWithPet();
  const [get, head] = [await send('GET', '/pets/1'), await send('HEAD', '/pets/1')];
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.get('Content-Length')).toBe(get.headers.get('Content-Length'));
  expect((await send('HEAD', '/pets/2')).status).toBe(404);
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
