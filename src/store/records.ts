import type { DatabaseSync } from 'node:sqlite';
import {
  dateTime,
  ids,
  int64,
  int64Range,
  integer,
  oneOf,
  optional,
  text,
  type Values,
  written,
} from './checks.ts';
import { openSequence, openTable } from './database.ts';
import { StoreError } from './errors.ts';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

const pet = {
  name: text(1, 100),
  categoryId: int64,
  status: optional(oneOf(...PET_STATUSES)),
};
const petFilters = {
  status: pet.status,
  categoryId: optional(written(int64)),
  ids: optional(ids),
};
const category = { name: text(1, 100), description: optional(text(0, 1000)) };
const stock = { quantity: integer(0n, 2147483647n) };
const order = {
  id: optional(int64),
  petId: optional(int64),
  quantity: optional(integer(1n, 2147483647n)),
  shipDate: optional(dateTime),
  complete: optional(oneOf(true, false)),
};
const FIRST = { from: int64Range.least, size: 1n };

type Pet = Required<Values<typeof pet>> & { readonly id: bigint };
type Category = Values<typeof category> & Pick<Pet, 'id'>;
type Item = Pick<Pet, 'status'> & {
  readonly petId: bigint;
  readonly quantity: bigint;
};
type Order = {
  readonly id: bigint;
  petId: bigint;
  quantity: bigint;
  shipDate?: string | undefined;
  complete: boolean;
};

/**
 * `firstId` applies to a new database only. Changes run in transactions, so that the last piece is
 * sold once.
 */
export function createRecords(db: DatabaseSync, firstId: bigint) {
  const categories = openTable<Category>(
    db,
    'categories',
    'category',
    'id, name, description',
  );
  const pets = openTable<Pet>(
    db,
    'pets',
    'pet',
    'id, name, category_id AS categoryId, status',
  );
  const items = openTable<Item>(
    db,
    'pets',
    'pet',
    'id AS petId, stock AS quantity, status',
  );
  const orderColumns =
    'id, pet_id AS petId, quantity, ship_date AS shipDate, complete';
  const orders = openTable<Order>(
    db,
    'orders',
    'order',
    orderColumns,
    'complete',
  );
  const nextCategory = openSequence(db, 'categories', firstId);
  const nextPet = openSequence(db, 'pets', firstId);
  const nextOrder = openSequence(db, 'orders', firstId);
  const change = db.prepare(
    'UPDATE pets SET stock = stock + :units WHERE id = :petId AND stock + :units >= 0',
  );

  /** @throws StoreError `unknown_pet` or `insufficient_stock`; the stock then stays unchanged. */
  function take(petId: bigint, quantity: bigint): void {
    if (change.run({ petId, units: -quantity }).changes === 1n) return;
    refuse(
      !items.has(petId),
      422,
      'unknown_pet',
      `The pet ${petId} does not exist.`,
    );
    throw new StoreError(
      409,
      'insufficient_stock',
      `Only ${items.get(petId).quantity} left of pet ${petId}.`,
    );
  }

  /** Clients may choose identifiers of orders. */
  function nextFreeOrder(): bigint {
    let id = nextOrder();
    while (orders.has(id)) id = nextOrder();
    return id;
  }

  function refuse(
    isRefused: boolean,
    status: number,
    code: string,
    message: string,
  ): void {
    if (isRefused) throw new StoreError(status, code, message);
  }

  /** @throws StoreError `unknown_category` */
  function known({
    status = 'available',
    ...fields
  }: Values<typeof pet>): Omit<Pet, 'id'> {
    const message = `The category ${fields.categoryId} does not exist.`;
    refuse(
      !categories.has(fields.categoryId),
      422,
      'unknown_category',
      message,
    );
    return { ...fields, status };
  }

  return {
    categories: {
      path: '/categories',
      idName: 'categoryId',
      body: category,
      list: categories.list,
      get: categories.get,
      add: (fields: Values<typeof category>) =>
        categories.insert({ ...fields, id: nextCategory() }),
      replace: (id: bigint, fields: Values<typeof category>) =>
        categories.update(id, { ...fields, id }),
      remove(id: bigint) {
        const isUsed = pets.list(FIRST, { categoryId: id }).length > 0;
        refuse(
          isUsed,
          409,
          'category_in_use',
          `Category ${id} still has pets.`,
        );
        return categories.remove(id);
      },
    },
    pets: {
      path: '/pets',
      idName: 'petId',
      body: pet,
      filters: petFilters,
      list: pets.list,
      get: pets.get,
      add: (fields: Values<typeof pet>) =>
        pets.insert({ ...known(fields), id: nextPet() }),
      replace: (id: bigint, fields: Values<typeof pet>) =>
        pets.update(id, { ...pets.get(id), ...known(fields) }),
      remove(id: bigint) {
        refuse(
          orders.list(FIRST, { petId: id }).length > 0,
          409,
          'pet_has_orders',
          `There are orders for pet ${id}.`,
        );
        return pets.remove(id);
      },
    },
    inventory: {
      path: '/store/inventory',
      idName: 'petId',
      body: stock,
      list: items.list,
      get: items.get,
      replace: (id: bigint, { quantity }: Values<typeof stock>) =>
        items.update(id, { ...items.get(id), quantity }),
    },
    orders: {
      path: '/store/orders',
      idName: 'orderId',
      body: order,
      list: orders.list,
      get: orders.get,
      add({
        id,
        petId,
        quantity = 1n,
        shipDate,
        complete = false,
      }: Values<typeof order>): Order {
        refuse(
          id !== undefined && orders.has(id),
          409,
          'order_exists',
          `There already is an order ${id}.`,
        );
        if (petId === undefined)
          throw new StoreError(
            422,
            'pet_required',
            'An order must say which pet it is for (petId).',
          );
        take(petId, quantity);
        return orders.insert({
          id: id ?? nextFreeOrder(),
          petId,
          quantity,
          shipDate,
          complete,
        });
      },
      /** The order returns its stock first, so a larger quantity needs only the difference. */
      replace(
        id: bigint,
        { id: inBody = id, ...fields }: Values<typeof order>,
      ): Order {
        refuse(
          inBody !== id,
          422,
          'id_mismatch',
          `The body says order ${inBody}, the path says order ${id}.`,
        );
        const before = orders.get(id);
        const given = Object.entries(fields).filter(
          ([, value]) => value !== undefined,
        );
        const after: Order = { ...before, ...Object.fromEntries(given) };
        change.run({ petId: before.petId, units: before.quantity });
        take(after.petId, after.quantity);
        return orders.update(id, after);
      },
    },
  };
}
