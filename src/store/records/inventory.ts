import type { DatabaseSync } from 'node:sqlite';
import { notFound, StoreError } from '../errors.ts';
import type { Page } from './page.ts';
import type { PetStatus } from './pets.ts';

export interface InventoryItem {
  readonly petId: bigint;
  readonly quantity: bigint;
  readonly status: PetStatus;
}

export type Inventory = ReturnType<typeof createInventory>;

const columns = 'id AS petId, stock AS quantity, status';

/** The stock of each pet. Every change adds to the stock, takes from it or replaces it, in one statement. */
export function createInventory(db: DatabaseSync) {
  const select = db.prepare(`SELECT ${columns} FROM pets WHERE id = ?`);
  const selectPage = db.prepare(`SELECT ${columns} FROM pets WHERE id >= ? ORDER BY id LIMIT ?`);
  const update = db.prepare(`UPDATE pets SET stock = ? WHERE id = ? RETURNING ${columns}`);
  const take = db.prepare('UPDATE pets SET stock = stock - :quantity WHERE id = :petId AND stock >= :quantity');
  const giveBack = db.prepare('UPDATE pets SET stock = stock + :quantity WHERE id = :petId');

  return {
    list: ({ from, size }: Page): InventoryItem[] => selectPage.all(from, size) as unknown as InventoryItem[],

    get: (petId: bigint): InventoryItem => found(select.get(petId), petId),

    set: (petId: bigint, quantity: bigint): InventoryItem => found(update.get(quantity, petId), petId),

    /** @throws StoreError `unknown_pet` or `insufficient_stock`; the stock then stays as it is. */
    take(petId: bigint, quantity: bigint): void {
      if (take.run({ petId, quantity }).changes === 1n) return;
      const item = select.get(petId);
      if (item === undefined) throw new StoreError('unknown_pet', `There is no pet ${petId}.`);
      throw new StoreError('insufficient_stock', `Only ${item.quantity} left of pet ${petId}.`);
    },

    giveBack(petId: bigint, quantity: bigint): void {
      giveBack.run({ petId, quantity });
    },
  };
}

function found(row: unknown, petId: bigint): InventoryItem {
  if (row === undefined) throw notFound('pet', petId);
  return row as InventoryItem;
}
