import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { int64Range } from '../../src/store/checks.ts';
import { PET_STATUSES } from '../../src/store/records.ts';
import { closeStores, type RunningStore, startStore, startStoreWithPet } from './start-store.ts';

afterEach(closeStores);

const total = 130;

async function walk({ send }: RunningStore, first: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let path: string | undefined = first; path !== undefined; ) {
    const { status, headers, json } = await send('GET', path);
    expect(status).toBe(200);
    pages.push(json.map((entry: { id?: number; petId: number }) => entry.id ?? entry.petId));
    path = /^<(.+)>; rel="next"$/.exec(headers.get('Link') ?? '')?.[1];
    const cursor = path && new URL(path, 'http://store').searchParams.get('cursor');
    expect(headers.get('X-Next-Cursor')).toBe(cursor ?? null);
  }
  return pages;
}

async function startFullStore(): Promise<RunningStore> {
  const running = await startStore();
  const { records } = running.store;
  running.store.transaction(() => {
    for (const name of ['Cats', 'Dogs', 'Birds']) records.categories.add({ name });
    for (let n = 0; n < total; n++) {
      const status = PET_STATUSES[n % PET_STATUSES.length];
      const pet = records.pets.add({ name: `Pet ${n}`, categoryId: BigInt((n % 2) + 1), status });
      records.inventory.replace(pet.id, { quantity: 1n });
      records.orders.add({ petId: pet.id });
    }
    for (let id = 7n; id <= BigInt(total); id += 7n)
      records.inventory.replace(id, { quantity: 2n });
  });
  return running;
}

const query = fc.record(
  {
    limit: fc.integer({ min: 1, max: 100 }),
    status: fc.constantFrom(...PET_STATUSES),
    categoryId: fc.integer({ min: 1, max: 4 }),
    ids: fc.array(fc.integer({ min: 1, max: total + 20 }), { minLength: 1, maxLength: 100 }),
  },
  { requiredKeys: [] },
);

describe('turning pages', () => {
  test('returns every matching pet once and in order, for any limit and any filter', async () => {
    const running = await startFullStore();
    const every = Array.from({ length: total }, (_, n) => n + 1);
    await fc.assert(
      fc.asyncProperty(query, async ({ limit, status, categoryId, ids }) => {
        const given = Object.entries({ limit, status, categoryId, ids }).filter(
          ([, value]) => value !== undefined,
        );
        const pages = await walk(
          running,
          `/pets?${given.map(([name, value]) => `${name}=${value}`).join('&')}`,
        );
        const fitting = every.filter(
          (id) =>
            (status === undefined || PET_STATUSES[(id - 1) % 3] === status) &&
            (categoryId === undefined || ((id - 1) % 2) + 1 === categoryId) &&
            (ids === undefined || ids.includes(id)),
        );
        expect(pages.flat()).toEqual(fitting);
        expect(pages.slice(0, -1).every((page) => page.length === (limit ?? 20))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  test.each(['/store/orders', '/store/inventory'])('returns all of %s', async (path) => {
    const pages = await walk(await startFullStore(), `${path}?limit=50`);
    expect(pages.map((page) => page.length)).toEqual([50, 50, 30]);
    expect(pages.flat()).toEqual(Array.from({ length: total }, (_, n) => n + 1));
  });

  test('works from the least identifier to the greatest', async () => {
    const running = await startStoreWithPet(9);
    const ids = [int64Range.least, -1n, 0n, 5n, int64Range.greatest];
    for (const id of ids) running.store.records.orders.add({ id, petId: 1n });
    const seen: string[] = [];
    for (let path: string | undefined = '/store/orders?limit=1'; path !== undefined; ) {
      const { text, headers } = await running.send('GET', path);
      seen.push(/"id":(-?\d+)/.exec(text)![1]!);
      path = /<(.+)>/.exec(headers.get('Link') ?? '')?.[1];
    }
    expect(seen).toEqual(ids.map(String));
  });

  test('continues at its place when the next entry has been deleted', async () => {
    const { send, store } = await startStoreWithPet();
    for (const name of ['Tiger', 'Luna']) store.records.pets.add({ name, categoryId: 1n });
    const first = await send('GET', '/pets?limit=1');
    store.records.pets.remove(2n);
    const second = await send('GET', `/pets?limit=1&cursor=${first.headers.get('X-Next-Cursor')}`);
    expect(second.json).toMatchObject([{ id: 3 }]);
  });
});

test.each([
  ['limit', ['0', '101', '-1', '1.5', 'ten', '', '01', '2&limit=3']],
  [
    'cursor',
    [
      '',
      '!',
      'MQ==',
      'bm9wZQ',
      'OTIyMzM3MjAzNjg1NDc3NTgwOA',
      'MDE',
      'a'.repeat(65),
      'MQ&cursor=MQ',
    ],
  ],
  ['status', ['gone', '', 'SOLD', 'sold&status=sold']],
  ['categoryId', ['x', '', '1,2', '0x1', '1&categoryId=1']],
  ['ids', ['', 'x', '1,,2', '1,', Array(101).fill(1).join(','), '1&ids=2']],
])('an invalid %s is refused, naming it', async (name, values) => {
  const { send } = await startStore();
  for (const value of values) {
    const { status, json } = await send('GET', `/pets?${name}=${value}`);
    expect([value, status, json.details]).toMatchObject([
      value,
      400,
      [{ in: 'query', pointer: `/${name}` }],
    ]);
  }
});
