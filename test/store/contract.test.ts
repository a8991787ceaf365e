import { afterEach, describe, expect, test } from '@jest/globals';
import type { Operation } from '@storegate/openapi';
import { contract, follow, lookUpOperation, type Part } from './document.ts';
import { closeStores, type RunningStore, startStore } from './start-store.ts';

afterEach(closeStores);

const gatewayStatuses = [400, 401, 403, 410, 413, 415, 429, 500, 502, 503, 504];
const gatewayHeaders = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

type Request = Parameters<RunningStore['send']>;
type Cases = Readonly<Record<number, Request>>;

/**
 * One request for each operation and each declared status, sent to the store of
 * `startFurnishedStore`.
 */
const cases: Readonly<Record<string, Cases>> = {
  listPets: { 200: ['GET', '/pets'], 405: ['PATCH', '/pets'] },
  createPet: {
    ...writing('POST', '/pets', 201, { name: 'Rex', categoryId: 1 }),
    422: ['POST', '/pets', { name: 'Rex', categoryId: 9 }],
  },
  getPet: reading('/pets'),
  replacePet: {
    ...writing('PUT', '/pets/1', 200, { name: 'Rex', categoryId: 1 }),
    404: ['PUT', '/pets/9', { name: 'Rex', categoryId: 1 }],
    422: ['PUT', '/pets/1', { name: 'Rex', categoryId: 9 }],
  },
  deletePet: {
    204: ['DELETE', '/pets/2'],
    404: ['DELETE', '/pets/9'],
    405: ['PATCH', '/pets/2'],
    409: ['DELETE', '/pets/1'],
  },
  listCategories: {
    200: ['GET', '/categories'],
    405: ['PATCH', '/categories'],
  },
  createCategory: writing('POST', '/categories', 201, { name: 'Dogs' }),
  getCategory: reading('/categories'),
  replaceCategory: {
    ...writing('PUT', '/categories/1', 200, { name: 'Dogs', description: 'Loyal.' }),
    404: ['PUT', '/categories/9', { name: 'Dogs' }],
  },
  deleteCategory: {
    204: ['DELETE', '/categories/2'],
    404: ['DELETE', '/categories/9'],
    405: ['PATCH', '/categories/2'],
    409: ['DELETE', '/categories/1'],
  },
  listOrders: {
    200: ['GET', '/store/orders'],
    405: ['PATCH', '/store/orders'],
  },
  createOrder: {
    ...writing('POST', '/store/orders', 201, { petId: 1, shipDate: '2026-12-01T09:00:00Z' }),
    409: ['POST', '/store/orders', { petId: 1, quantity: 99 }],
    422: ['POST', '/store/orders', { petId: 9 }],
  },
  getOrder: reading('/store/orders'),
  updateOrder: {
    ...writing('PUT', '/store/orders/1', 200, { quantity: 2, complete: true }),
    404: ['PUT', '/store/orders/9', { quantity: 2 }],
    409: ['PUT', '/store/orders/1', { quantity: 99 }],
    422: ['PUT', '/store/orders/1', { petId: 9 }],
  },
  listInventory: {
    200: ['GET', '/store/inventory'],
    405: ['PATCH', '/store/inventory'],
  },
  getInventory: reading('/store/inventory'),
  setInventory: {
    ...writing('PUT', '/store/inventory/1', 200, { quantity: 5 }),
    404: ['PUT', '/store/inventory/9', { quantity: 5 }],
  },
};

function reading(path: string): Cases {
  return {
    200: ['GET', `${path}/1`],
    404: ['GET', `${path}/9`],
    405: ['PATCH', `${path}/1`],
  };
}

function writing(method: string, path: string, good: number, body: unknown): Cases {
  return {
    [good]: [method, path, body],
    405: ['PATCH', path],
  };
}

async function startFurnishedStore(): Promise<RunningStore> {
  const running = await startStore();
  running.store.db.exec(`
    INSERT INTO categories (name, description)
    VALUES ('Cats', 'A kind of animal.'), ('Birds', 'A kind of animal.');
    INSERT INTO pets (name, categoryId, status, quantity)
    VALUES ('Minka', 1, 'available', 5), ('Tiger', 1, 'available', 0);
    INSERT INTO orders (petId, quantity, shipDate, complete)
    VALUES (1, 1, '2026-12-01T09:00:00Z', FALSE)`);
  return running;
}

function declaredStatuses(operation: Operation): number[] {
  return Object.keys(lookUpOperation(operation, 'responses')).map(Number);
}

function requiredHeaders(operation: Operation, status: number): string[] {
  const headers = lookUpOperation(operation, 'responses', String(status), 'headers');
  const required = Object.keys(headers).filter(
    (name) => follow(headers[name] as Part).required === true,
  );
  return required.filter((name) => !gatewayHeaders.includes(name));
}

test('every operation of the contract has cases, and no others', () => {
  expect(Object.keys(cases).sort()).toEqual(contract.operations.map(({ id }) => id).sort());
});

describe.each(contract.operations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (id, operation) => {
    test('has a case for every declared status of the store', () => {
      const own = declaredStatuses(operation).filter((status) => !gatewayStatuses.includes(status));
      expect(Object.keys(cases[id] ?? {}).map(Number)).toEqual(own);
    });

    test.each(Object.entries(cases[id] ?? {}))(
      'answers %s as documented',
      async (declared, request) => {
        const status = Number(declared);
        const { send } = await startFurnishedStore();
        const response = await send(...request);
        expect(response.status).toBe(status);
        const type = response.headers.get('Content-Type') ?? undefined;
        expect(
          operation.checkResponse(status, type, new TextEncoder().encode(response.text)),
        ).toEqual([]);
        const missing = requiredHeaders(operation, status).filter(
          (name) => !response.headers.has(name),
        );
        expect(missing).toEqual([]);
      },
    );
  },
);
