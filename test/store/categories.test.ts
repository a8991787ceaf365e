import { afterEach, describe, expect, test } from '@jest/globals';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

describe('a category', () => {
  test('is created with an identifier and found at its Location', async () => {
    const { send } = await startStore();
    const created = await send('POST', '/categories', { name: 'Cats', description: 'Small.' });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({ id: 1, name: 'Cats', description: 'Small.' });
    const found = await send('GET', created.headers.get('Location')!);
    expect(found.status).toBe(200);
    expect(found.json).toEqual(created.json);
  });

  test('without a description has no such field', async () => {
    const { send } = await startStore();
    expect((await send('POST', '/categories', { name: 'Cats' })).text).toBe(
      '{"id":1,"name":"Cats"}',
    );
  });

  test('loses its description when the one that replaces it has none', async () => {
    const { send } = await startStore();
    await send('POST', '/categories', { name: 'Cats', description: 'Small.' });
    const replaced = await send('PUT', '/categories/1', { name: 'Felines' });
    expect(replaced.status).toBe(200);
    expect(replaced.json).toEqual({ id: 1, name: 'Felines' });
    expect((await send('GET', '/categories/1')).json).toEqual({ id: 1, name: 'Felines' });
  });

  test('cannot choose its identifier', async () => {
    const { send } = await startStore();
    expect((await send('POST', '/categories', { id: 77, name: 'Cats' })).json.id).toBe(1);
  });

  test('is deleted, and its identifier is not used again', async () => {
    const { send } = await startStore();
    await send('POST', '/categories', { name: 'Cats' });
    const deleted = await send('DELETE', '/categories/1');
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await send('GET', '/categories/1')).json).toEqual({
      code: 'not_found',
      message: 'The category 1 does not exist.',
      status: 404,
    });
    expect((await send('POST', '/categories', { name: 'Dogs' })).json.id).toBe(2);
  });

  test('stays while pets belong to it', async () => {
    const { send } = await startStoreWithPet();
    const refused = await send('DELETE', '/categories/1');
    expect(refused.json).toMatchObject({ code: 'category_in_use', status: 409 });
    expect((await send('GET', '/categories/1')).status).toBe(200);
  });
});
