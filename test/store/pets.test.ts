import { afterEach, describe, expect, test } from '@jest/globals';
import { addPets, closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

describe('a pet', () => {
  test('is created with an identifier, is available, and is found at its Location', async () => {
    const { send } = await startStoreWithPet();
    const created = await send('POST', '/pets', { name: 'Tiger', categoryId: 1 });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({ id: 2, name: 'Tiger', categoryId: 1, status: 'available' });
    expect((await send('GET', created.headers.get('Location')!)).json).toEqual(created.json);
  });

  test.each(['available', 'pending', 'sold'])('may be %s from the start', async (status) => {
    const { send } = await startStoreWithPet();
    expect(
      (await send('POST', '/pets', { name: 'Tiger', categoryId: 1, status })).json.status,
    ).toBe(status);
  });

  test('is replaced as a whole: a status left out is available again', async () => {
    const { send } = await startStoreWithPet();
    await send('PUT', '/pets/1', { name: 'Minka', categoryId: 1, status: 'sold' });
    const replaced = await send('PUT', '/pets/1', { name: 'Mia', categoryId: 1 });
    expect(replaced.status).toBe(200);
    expect(replaced.json).toEqual({ id: 1, name: 'Mia', categoryId: 1, status: 'available' });
    expect((await send('GET', '/pets/1')).json).toEqual(replaced.json);
  });

  test('keeps its stock when it is replaced', async () => {
    const { send } = await startStoreWithPet(4);
    await send('PUT', '/pets/1', { name: 'Mia', categoryId: 1 });
    expect((await send('GET', '/store/inventory/1')).json.quantity).toBe(4);
  });

  test.each([
    ['POST', '/pets'],
    ['PUT', '/pets/1'],
  ])('of an unknown category is refused (%s), and nothing changes', async (method, path) => {
    const { send } = await startStoreWithPet();
    const refused = await send(method, path, { name: 'Rex', categoryId: 99 });
    expect(refused.json).toEqual({
      code: 'unknown_category',
      message: 'The category 99 does not exist.',
      status: 422,
    });
    expect((await send('GET', '/pets')).json).toEqual([
      { id: 1, name: 'Minka', categoryId: 1, status: 'available' },
    ]);
  });

  test('that was refused uses no identifier', async () => {
    const { send } = await startStoreWithPet();
    await send('POST', '/pets', { name: 'Rex', categoryId: 99 });
    expect((await send('POST', '/pets', { name: 'Rex', categoryId: 1 })).json.id).toBe(2);
  });

  test('is deleted with its inventory', async () => {
    const { send } = await startStoreWithPet(3);
    expect((await send('DELETE', '/pets/1')).status).toBe(204);
    expect((await send('GET', '/pets/1')).status).toBe(404);
    expect((await send('GET', '/store/inventory/1')).status).toBe(404);
  });

  test('cannot be deleted once it was ordered', async () => {
    const { send } = await startStoreWithPet(3);
    await send('POST', '/store/orders', { petId: 1 });
    expect((await send('DELETE', '/pets/1')).json).toMatchObject({
      code: 'pet_has_orders',
      status: 409,
    });
    expect((await send('GET', '/pets/1')).status).toBe(200);
  });
});

describe('the list of pets', () => {
  test('is an empty array in an empty store', async () => {
    const { send } = await startStore();
    const { status, text, headers } = await send('GET', '/pets');
    expect([status, text, headers.get('Link'), headers.get('X-Next-Cursor')]).toEqual([
      200,
      '[]',
      null,
      null,
    ]);
  });

  test.each([
    ['', [1, 2, 3]],
    ['?status=sold', [2]],
    ['?categoryId=2', [2, 3]],
    ['?ids=3,1,77,3', [1, 3]],
    ['?ids=1%2C3', [1, 3]],
    ['?ids=1,2,3&status=available&categoryId=2', [3]],
  ])('with %j has the pets that match every filter', async (query, ids) => {
    const { send, store } = await startStoreWithPet();
    store.db.exec("INSERT INTO categories (name) VALUES ('Dogs')");
    await send('POST', '/pets', { name: 'Rex', categoryId: 2, status: 'sold' });
    addPets(store, 2, 'Bella');
    expect((await send('GET', `/pets${query}`)).json.map((pet: { id: number }) => pet.id)).toEqual(
      ids,
    );
  });

  test('has the next page in Link and X-Next-Cursor, with the same filters', async () => {
    const { send, store } = await startStoreWithPet();
    addPets(store, 1, 'Tiger', 'Luna');
    const { headers } = await send('GET', '/pets?limit=1&ids=1,2,3&status=available');
    const cursor = headers.get('X-Next-Cursor');
    expect(headers.get('Link')).toBe(
      `</pets?limit=1&ids=1,2,3&status=available&cursor=${cursor}>; rel="next"`,
    );
  });
});
