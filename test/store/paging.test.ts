import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addPets,
  closeStores,
  type RunningStore,
  startStore,
  startStoreWithPet,
} from './start-store.ts';

afterEach(closeStores);

const total = 130;
const PET_STATUSES = ['available', 'pending', 'sold'] as const;

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
  const { db } = running.store;
  db.exec("BEGIN; INSERT INTO categories (name) VALUES ('Cats'), ('Dogs'), ('Birds')");
  const addPet = db.prepare(
    'INSERT INTO pets (name, categoryId, status, quantity) VALUES (?, ?, ?, 1)',
  );
  for (let n = 0; n < total; n++) addPet.run(`Pet ${n}`, (n % 2) + 1, PET_STATUSES[n % 3]!);
  db.exec(`INSERT INTO orders (petId, quantity, complete) SELECT id, 1, FALSE FROM pets;
    UPDATE pets SET quantity = 2 WHERE id % 7 = 0; COMMIT`);
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
    const ids = [-(2n ** 63n), -1n, 0n, 5n, 2n ** 63n - 1n];
    for (const id of ids) await running.send('POST', '/store/orders', `{"id":${id},"petId":1}`);
    const seen: string[] = [];
    for (let path: string | undefined = '/store/orders?limit=1'; path !== undefined; ) {
      const { text, headers } = await running.send('GET', path);
      seen.push(/"id":(-?\d+)/.exec(text)![1]!);
      path = /<(.+)>/.exec(headers.get('Link') ?? '')?.[1];
    }
    expect(seen).toEqual(ids.map(String));
  });

  test.each(['!', 'MQ', '1.5', '1'.repeat(20)])('refuses the cursor %j', async (cursor) => {
    const { send } = await startStore();
    const { status, json } = await send('GET', `/pets?cursor=${cursor}`);
    expect([status, json.code]).toEqual([400, 'invalid_request']);
  });

  test('continues at its place when the next entry has been deleted', async () => {
    const { send, store } = await startStoreWithPet();
    addPets(store, 1, 'Tiger', 'Luna');
    const first = await send('GET', '/pets?limit=1');
    await send('DELETE', '/pets/2');
    const second = await send('GET', `/pets?limit=1&cursor=${first.headers.get('X-Next-Cursor')}`);
    expect(second.json).toMatchObject([{ id: 3 }]);
  });
});
