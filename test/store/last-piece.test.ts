import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { temporaryFolders } from '../support/temporary.ts';
import { closeStores, type RunningStore, startStore, startStoreWithPet } from './start-store.ts';

const folder = temporaryFolders();
afterEach(closeStores);

async function race(
  stores: readonly RunningStore[],
  times: number,
  order: unknown,
): Promise<number[]> {
  const sent = Array.from({ length: times }, (_, n) =>
    stores[n % stores.length]!.send('POST', '/store/orders', order),
  );
  return (await Promise.all(sent)).map(({ status }) => status).sort();
}

test('of many orders for the last piece exactly one wins', async () => {
  const store = await startStoreWithPet(1);
  expect(await race([store], 60, { petId: 1 })).toEqual([201, ...Array(59).fill(409)]);
  expect((await store.send('GET', '/store/inventory/1')).json.quantity).toBe(0);
  expect((await store.send('GET', '/store/orders')).json).toHaveLength(1);
});

test('two stores over one file sell the last pieces once', async () => {
  const file = join(folder(), 'shared.db');
  const stores = [await startStoreWithPet(3, { file }), await startStore(file)];
  expect(await race(stores, 40, { petId: 1 })).toEqual([
    ...Array(3).fill(201),
    ...Array(37).fill(409),
  ]);
  expect((await stores[1]!.send('GET', '/store/inventory/1')).json.quantity).toBe(0);
});

test('concurrent updates and orders never sell more than the stock', async () => {
  const { send } = await startStoreWithPet(10);
  for (let n = 0; n < 4; n++) await send('POST', '/store/orders', { petId: 1 });
  await Promise.all([
    ...[1, 2, 3, 4].map((id) => send('PUT', `/store/orders/${id}`, { quantity: 3 })),
    ...Array.from({ length: 10 }, () => send('POST', '/store/orders', { petId: 1 })),
  ]);
  const orders: { quantity: number }[] = (await send('GET', '/store/orders?limit=100')).json;
  const remaining = (await send('GET', '/store/inventory/1')).json.quantity;
  expect(orders.reduce((sum, { quantity }) => sum + quantity, remaining)).toBe(10);
  expect(remaining).toBe(0);
});
