import { afterEach, describe, expect, test } from '@jest/globals';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

const ends = [-(2n ** 63n), -(2n ** 53n) - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];

describe.each(ends)('the identifier %s', (id) => {
  test('of a category and its pet is written and read back exactly', async () => {
    const { send } = await startStoreWithPet(0, { id });
    const text = `{"id":${id},"name":"Minka","categoryId":${id},"status":"available"}`;
    expect((await send('PUT', `/pets/${id}`, `{"name":"Minka","categoryId":${id}}`)).text).toBe(
      text,
    );
    expect((await send('GET', `/categories/${id}`)).text).toBe(`{"id":${id},"name":"Cats"}`);
    expect((await send('GET', `/pets/${id}`)).text).toBe(text);
    expect((await send('GET', `/pets?ids=${id}&categoryId=${id}`)).text).toBe(`[${text}]`);
    const item = `{"petId":${id},"quantity":1,"status":"available"}`;
    expect((await send('PUT', `/store/inventory/${id}`, '{"quantity":1}')).text).toBe(item);
    expect((await send('DELETE', `/categories/${id}`)).status).toBe(409);
    expect((await send('DELETE', `/pets/${id}`)).status).toBe(204);
    expect((await send('DELETE', `/categories/${id}`)).status).toBe(204);
  });

  test('of an order may be chosen and is kept exactly', async () => {
    const { send } = await startStoreWithPet(2, { id });
    const text = `{"id":${id},"petId":${id},"quantity":2,"complete":false}`;
    const created = await send('POST', '/store/orders', text);
    expect(created.headers.get('Location')).toBe(`/store/orders/${id}`);
    expect(created.text).toBe(text);
    expect((await send('GET', `/store/orders/${id}`)).text).toBe(text);
    expect((await send('PUT', `/store/orders/${id}`, text)).text).toBe(text);
  });

  test.each(['/pets', '/categories', '/store/orders', '/store/inventory'])(
    'is sought under %s',
    async (path) => {
      const { send } = await startStore();
      const missing = await send('GET', `${path}/${id}`);
      expect([missing.status, missing.json.code]).toEqual([404, 'not_found']);
      expect(missing.json.message).toContain(` ${id} `);
    },
  );
});

test('an identifier may be written as any integer of JSON Schema: 1.0 and 1e0 are 1', async () => {
  const { send } = await startStoreWithPet();
  for (const one of ['1.0', '1e0', '10e-1'])
    expect(
      (await send('POST', '/pets', `{"name":"Rex","categoryId":${one}}`)).json.categoryId,
    ).toBe(1);
});
