import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '../database.ts';
import { notFound, StoreError } from '../errors.ts';
import type { Sequence } from '../sequence.ts';
import type { Inventory } from './inventory.ts';
import type { Page } from './page.ts';

export interface Order {
  readonly id: bigint;
  readonly petId: bigint;
  readonly quantity: bigint;
  /** As the client wrote it. */
  readonly shipDate?: string | undefined;
  readonly complete: boolean;
}

/** The fields of an order as a client sends them; any field may be missing. */
export type OrderFields = { readonly [Name in keyof Order]?: Order[Name] | undefined };

export type Orders = ReturnType<typeof createOrders>;

const columns = 'id, pet_id AS petId, quantity, ship_date AS shipDate, complete';

/** An order and its stock change in one transaction, so that the last piece is sold once. */
export function createOrders(db: DatabaseSync, nextId: Sequence, inventory: Inventory) {
  const select = db.prepare(`SELECT ${columns} FROM orders WHERE id = ?`);
  const selectPage = db.prepare(`SELECT ${columns} FROM orders WHERE id >= ? ORDER BY id LIMIT ?`);
  const insert = db.prepare(
    `INSERT INTO orders (id, pet_id, quantity, ship_date, complete)
     VALUES (:id, :petId, :quantity, :shipDate, :complete) RETURNING ${columns}`,
  );
  const update = db.prepare(
    `UPDATE orders SET pet_id = :petId, quantity = :quantity, ship_date = :shipDate, complete = :complete
     WHERE id = :id RETURNING ${columns}`,
  );

  const get = (id: bigint): Order => {
    const row = select.get(id);
    if (row === undefined) throw notFound('order', id);
    return toOrder(row);
  };

  /** Clients may choose identifiers of orders, including ones that the sequence has not reached yet. */
  const nextFreeId = (): bigint => {
    let id = nextId();
    while (select.get(id) !== undefined) id = nextId();
    return id;
  };

  return {
    list: ({ from, size }: Page): Order[] => selectPage.all(from, size).map(toOrder),

    get,

    /** @throws StoreError `order_exists`, `pet_required`, `unknown_pet` or `insufficient_stock`. */
    add: ({ id, petId, quantity = 1n, shipDate, complete = false }: OrderFields): Order =>
      transaction(db, () => {
        if (id !== undefined && select.get(id))
          throw new StoreError('order_exists', `There already is an order ${id}.`);
        if (petId === undefined) throw new StoreError('pet_required', 'An order must say which pet it is for (petId).');
        inventory.take(petId, quantity);
        return toOrder(insert.get(toRow({ id: id ?? nextFreeId(), petId, quantity, shipDate, complete })));
      }),

    /**
     * Fields left out keep their value. The order returns its stock before it takes the new quantity, so a larger
     * quantity needs only the difference.
     * @throws StoreError `unknown_pet` or `insufficient_stock`; nothing changes then.
     */
    update: (id: bigint, fields: OrderFields): Order =>
      transaction(db, () => {
        const before = get(id);
        const { petId = before.petId, quantity = before.quantity, shipDate = before.shipDate } = fields;
        const { complete = before.complete } = fields;
        inventory.giveBack(before.petId, before.quantity);
        inventory.take(petId, quantity);
        return toOrder(update.get(toRow({ id, petId, quantity, shipDate, complete })));
      }),
  };
}

function toRow({ id, petId, quantity, shipDate, complete }: Order) {
  return { id, petId, quantity, shipDate: shipDate ?? null, complete: complete ? 1n : 0n };
}

function toOrder(row: unknown): Order {
  const { shipDate, complete, ...order } = row as ReturnType<typeof toRow>;
  return { ...order, shipDate: shipDate ?? undefined, complete: complete === 1n };
}
