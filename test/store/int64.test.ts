import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { int64Range } from '../../src/store/checks.ts';
import { parseJson, toJson } from '../../src/store/errors.ts';
import { closeStores, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

const ends = [int64Range.least, -(2n ** 53n) - 1n, 2n ** 53n + 1n, int64Range.greatest];

describe.each(ends)('the identifier %s', (id) => {
  test('of a category and its pet is assigned, written and read back exactly', async () => {
    const { send } = await startStore({ firstId: id });
    const category = await send('POST', '/categories', '{"name":"Cats"}');
    expect(category.text).toBe(`{"id":${id},"name":"Cats"}`);
    const pet = await send('POST', '/pets', `{"name":"Minka","categoryId":${id}}`);
    const text = `{"id":${id},"name":"Minka","categoryId":${id},"status":"available"}`;
    expect(pet.text).toBe(text);
    expect(pet.headers.get('Location')).toBe(`/pets/${id}`);
    expect((await send('GET', `/pets/${id}`)).text).toBe(text);
    expect((await send('GET', `/pets?ids=${id}&categoryId=${id}`)).text).toBe(`[${text}]`);
    const item = `{"petId":${id},"quantity":1,"status":"available"}`;
    expect((await send('PUT', `/store/inventory/${id}`, '{"quantity":1}')).text).toBe(item);
    expect((await send('DELETE', `/categories/${id}`)).status).toBe(409);
    expect((await send('DELETE', `/pets/${id}`)).status).toBe(204);
    expect((await send('DELETE', `/categories/${id}`)).status).toBe(204);
  });

  test('of an order may be chosen and is kept exactly', async () => {
    const { send } = await startStoreWithPet(2, { firstId: id });
    const text = `{"id":${id},"petId":${id},"quantity":2,"complete":false}`;
    expect((await send('POST', '/store/orders', text)).text).toBe(text);
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

describe.each(['9223372036854775808', '-9223372036854775809', '1'.repeat(5000)])(
  'the number %s',
  (number) => {
    test('is not a valid identifier, in a path, a query or a body', async () => {
      const { send } = await startStoreWithPet();
      expect((await send('GET', `/pets/${number}`)).json.details).toMatchObject([
        { in: 'path', pointer: '/petId' },
      ]);
      expect((await send('GET', `/pets?ids=${number}`)).json.details).toMatchObject([
        { in: 'query', pointer: '/ids' },
      ]);
      const body = await send('POST', '/pets', `{"name":"Minka","categoryId":${number}}`);
      expect(body.json.details).toMatchObject([{ in: 'body', pointer: '/categoryId' }]);
    });
  },
);

test('an identifier may be written as any integer of JSON Schema: 1.0 and 1e0 are 1', async () => {
  const { send } = await startStoreWithPet();
  for (const one of ['1.0', '1e0', '10e-1'])
    expect(
      (await send('POST', '/pets', `{"name":"Rex","categoryId":${one}}`)).json.categoryId,
    ).toBe(1);
});

test('an identifier beyond 2^53 is not guessed from a rounded number', async () => {
  const { send } = await startStoreWithPet();
  expect(
    (await send('POST', '/pets', '{"name":"Rex","categoryId":9.223372036854775807e18}')).status,
  ).toBe(400);
});

test('after the greatest identifier the store reports that none is left', async () => {
  const { send } = await startStoreWithPet(0, { firstId: int64Range.greatest });
  const refused = await send('POST', '/categories', { name: 'Dogs' });
  expect([refused.status, refused.json.code]).toEqual([500, 'ids_exhausted']);
});

test('JSON with integers of any int64 survives reading and writing byte for byte', () => {
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.bigInt({ min: int64Range.least, max: int64Range.greatest }),
      fc.string(),
      fc.boolean(),
      fc.array(tie('any')),
      fc.dictionary(fc.string(), tie('any')),
    ),
  })).any;
  fc.assert(
    fc.property(value, (any) => {
      const text = toJson(any);
      expect(toJson(parseJson(new TextEncoder().encode(text)))).toBe(text);
    }),
  );
});
