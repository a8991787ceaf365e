import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '../database.ts';
import { openSequence } from '../sequence.ts';
import { type Categories, createCategories } from './categories.ts';
import { createInventory, type Inventory } from './inventory.ts';
import { createOrders, type Orders } from './orders.ts';
import { createPets, type Pets } from './pets.ts';

/** All records of the store, and the rules between them; without HTTP. */
export interface Records {
  readonly categories: Categories;
  readonly pets: Pets;
  readonly inventory: Inventory;
  readonly orders: Orders;
  /** Whether there is no category; without categories there are no pets and no orders either. */
  isEmpty(): boolean;
  /** Runs several steps as one transaction. */
  transaction<T>(work: () => T): T;
}

/** @param firstId the first identifier of categories, pets and orders in a new database. */
export function createRecords(db: DatabaseSync, firstId: bigint): Records {
  const inventory = createInventory(db);
  return {
    categories: createCategories(db, openSequence(db, 'categories', firstId)),
    pets: createPets(db, openSequence(db, 'pets', firstId)),
    inventory,
    orders: createOrders(db, openSequence(db, 'orders', firstId), inventory),
    isEmpty: () => db.prepare('SELECT 1 FROM categories').get() === undefined,
    transaction: (work) => transaction(db, work),
  };
}
