import { afterEach, describe, expect, test } from '@jest/globals';
import { addPets, closeStores, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

describe('the inventory', () => {
  test('has an entry for a pet from the moment the pet exists', async () => {
    const { send } = await startStoreWithPet();
    const created = await send('POST', '/pets', { name: 'Rex', categoryId: 1, status: 'pending' });
    expect((await send('GET', `/store/inventory/${created.json.id}`)).json).toEqual({
      petId: 2,
      quantity: 0,
      status: 'pending',
    });
  });

  test('is set to the sent value, whatever it was', async () => {
    const { send } = await startStoreWithPet(5);
    const set = await send('PUT', '/store/inventory/1', { quantity: 2 });
    expect([set.status, set.json]).toEqual([200, { petId: 1, quantity: 2, status: 'available' }]);
    expect((await send('GET', '/store/inventory/1')).json).toEqual(set.json);
  });

  test('shows the status the pet has now', async () => {
    const { send } = await startStoreWithPet();
    await send('PUT', '/pets/1', { name: 'Minka', categoryId: 1, status: 'sold' });
    expect((await send('GET', '/store/inventory/1')).json.status).toBe('sold');
  });

  test('lists every pet', async () => {
    const { send, store } = await startStoreWithPet(7);
    addPets(store, 1, 'Rex');
    expect((await send('GET', '/store/inventory')).json).toEqual([
      { petId: 1, quantity: 7, status: 'available' },
      { petId: 2, quantity: 5, status: 'available' },
    ]);
  });
});
