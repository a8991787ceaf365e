import { afterEach, describe, expect, test } from '@jest/globals';
import { addPets, closeStores, type RunningStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

async function stockOf({ send }: RunningStore, petId = 1): Promise<number> {
  return (await send('GET', `/store/inventory/${petId}`)).json.quantity;
}

describe('placing an order', () => {
  test('takes its quantity out of stock and returns the order', async () => {
    const store = await startStoreWithPet(5);
    const placed = await store.send('POST', '/store/orders', {
      petId: 1,
      quantity: 2,
      shipDate: '2026-12-24T12:00:00.5+01:00',
    });
    expect(placed.status).toBe(201);
    expect(placed.json).toEqual({
      id: 1,
      petId: 1,
      quantity: 2,
      shipDate: '2026-12-24T12:00:00.5+01:00',
      complete: false,
    });
    expect((await store.send('GET', placed.headers.get('Location')!)).json).toEqual(placed.json);
    expect(await stockOf(store)).toBe(3);
  });

  test('orders one, not complete, by default', async () => {
    const store = await startStoreWithPet(5);
    expect((await store.send('POST', '/store/orders', { petId: 1 })).json).toEqual({
      id: 1,
      petId: 1,
      quantity: 1,
      complete: false,
    });
  });

  test.each([
    [{ petId: 1, quantity: 3 }, 'insufficient_stock', 409],
    [{ petId: 99 }, 'unknown_pet', 422],
    [{}, 'pet_required', 422],
  ])('%j is refused with %s and takes nothing', async (order, code, status) => {
    const store = await startStoreWithPet(2);
    expect((await store.send('POST', '/store/orders', order)).json).toMatchObject({ code, status });
    expect(await stockOf(store)).toBe(2);
    expect((await store.send('GET', '/store/orders')).json).toEqual([]);
  });

  test('twice with the same identifier is one order', async () => {
    const store = await startStoreWithPet(1);
    const order = { id: 500, petId: 1 };
    expect((await store.send('POST', '/store/orders', order)).json.id).toBe(500);
    expect((await store.send('POST', '/store/orders', order)).json).toMatchObject({
      code: 'order_exists',
      status: 409,
    });
    expect(await stockOf(store)).toBe(0);
  });

  test('assigns no identifier that a client has chosen', async () => {
    const { send } = await startStoreWithPet(9);
    for (const id of [1, 2, 4]) await send('POST', '/store/orders', { id, petId: 1 });
    const assigned = [];
    for (let n = 0; n < 3; n++)
      assigned.push((await send('POST', '/store/orders', { petId: 1 })).json.id);
    expect(assigned).toEqual([5, 6, 7]);
  });
});

describe('updating an order', () => {
  test('changes the fields that are sent and keeps the others', async () => {
    const { send } = await startStoreWithPet(5);
    await send('POST', '/store/orders', {
      petId: 1,
      quantity: 2,
      shipDate: '2026-12-01T09:00:00Z',
    });
    const updated = await send('PUT', '/store/orders/1', { complete: true });
    expect(updated.status).toBe(200);
    expect(updated.json).toEqual({
      id: 1,
      petId: 1,
      quantity: 2,
      shipDate: '2026-12-01T09:00:00Z',
      complete: true,
    });
    expect((await send('GET', '/store/orders/1')).json).toEqual(updated.json);
  });

  test.each([
    [5, 0],
    [3, 2],
    [1, 4],
  ])('to a quantity of %d leaves %d of five in stock', async (quantity, remaining) => {
    const store = await startStoreWithPet(5);
    await store.send('POST', '/store/orders', { petId: 1, quantity: 3 });
    expect((await store.send('PUT', '/store/orders/1', { quantity })).json.quantity).toBe(quantity);
    expect(await stockOf(store)).toBe(remaining);
  });

  test('to another pet returns the old one to stock and takes the other', async () => {
    const store = await startStoreWithPet(5);
    addPets(store.store, 1, 'Rex');
    await store.send('POST', '/store/orders', { petId: 1, quantity: 3 });
    expect(
      (await store.send('PUT', '/store/orders/1', { petId: 2, quantity: 4 })).json,
    ).toMatchObject({ petId: 2 });
    expect([await stockOf(store, 1), await stockOf(store, 2)]).toEqual([5, 1]);
  });

  test.each([
    [{ quantity: 6 }, 'insufficient_stock', 409],
    [{ petId: 99, complete: true }, 'unknown_pet', 422],
    [{ id: 2, complete: true }, 'id_mismatch', 422],
  ])('with %j is refused with %s and changes nothing', async (change, code, status) => {
    const store = await startStoreWithPet(5);
    const placed = await store.send('POST', '/store/orders', { petId: 1, quantity: 2 });
    expect((await store.send('PUT', '/store/orders/1', change)).json).toMatchObject({
      code,
      status,
    });
    expect((await store.send('GET', '/store/orders/1')).json).toEqual(placed.json);
    expect(await stockOf(store)).toBe(3);
  });

  test('accepts the order as it was read', async () => {
    const { send } = await startStoreWithPet(2);
    const placed = await send('POST', '/store/orders', { petId: 1, quantity: 2 });
    expect((await send('PUT', '/store/orders/1', placed.text)).json).toEqual(placed.json);
  });
});
