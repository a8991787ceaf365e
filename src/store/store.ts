import { openDatabase } from './database.ts';
import type { Route } from './http/routes.ts';
import { createServer } from './http/server.ts';
import type { StoreLog } from './log.ts';
import { createRecords, type Records } from './records/records.ts';
import { categoryRoutes } from './resources/categories.ts';
import { inventoryRoutes } from './resources/inventory.ts';
import { orderRoutes } from './resources/orders.ts';
import { petRoutes } from './resources/pets.ts';

export interface StoreOptions {
  /** The SQLite file, created if it is missing, or `:memory:` for a store that ends with the process. */
  readonly file: string;
  readonly log?: StoreLog;
  /** The first identifier of categories, pets and orders in a new database, any int64; 1 if left out. */
  readonly firstId?: bigint;
}

/** A service for pets, categories, orders and stock: an HTTP server over one database. */
export interface Store {
  /** The records of the store, without HTTP. */
  readonly records: Records;
  /** Starts to listen; port 0 lets the system choose. @throws Error with one sentence if the address is not free. */
  listen(address: { readonly host: string; readonly port: number }): Promise<{ port: number; url: string }>;
  /** Finishes the requests in flight, then closes the database. A second call waits for the same end. */
  close(): Promise<void>;
}

/**
 * Opens the database; nothing listens yet.
 * @throws Error with one sentence if the database cannot be used.
 */
export function createStore({ file, log = () => {}, firstId = 1n }: StoreOptions): Store {
  const db = openDatabase(file);
  const records = createRecords(db, firstId);
  const server = createServer(routesOf(records), log);
  let closed: Promise<void> | undefined;

  return {
    records,

    async listen({ host, port }) {
      if (closed) throw new Error('The store is closed and cannot listen again.');
      const address = await server.listen(host, port);
      log({ type: 'listening', url: address.url });
      return address;
    },

    close() {
      closed ??= server.drain().then(() => {
        db.close();
        log({ type: 'closed' });
      });
      return closed;
    },
  };
}

function routesOf({ categories, pets, inventory, orders }: Records): readonly Route[] {
  return [
    { path: '/health', methods: { GET: () => ({ status: 200, body: { status: 'ok' } }) } },
    ...petRoutes(pets),
    ...categoryRoutes(categories),
    ...orderRoutes(orders),
    ...inventoryRoutes(inventory),
  ];
}
