import type { DatabaseSync } from 'node:sqlite';

/** Bound to the names of SQL that the statement has: parts of the request as text. */
export type Given = Readonly<Record<string, string | null>>;

/** `id` is text, because it may be too large for a number; `json`: as clients get it. */
export interface Entry {
  readonly id: string;
  readonly json: string;
}

export type Resource = ReturnType<typeof resourcesIn>[number];

const field = (name: string, otherwise = 'NULL') =>
  `coalesce(:body ->> '${name}', ${otherwise})`;

const PET_FILTERS = ` AND (:status IS NULL OR status = :status)
  AND (:categoryId IS NULL OR categoryId = :categoryId)
  AND (:ids IS NULL OR id IN (SELECT value FROM json_each('[' || :ids || ']')))`;

interface Stored {
  readonly path: string;
  readonly kind: string;
  readonly table: string;
  /** Pairs of names and values in SQL. */
  readonly json: string;
  /** Columns and their values in SQL. */
  readonly added?: Readonly<Record<string, string>>;
  readonly changed: Readonly<Record<string, string>>;
  readonly isRemovable?: true;
  readonly filters?: string;
}

/**
 * Requests and responses are JSON in SQLite too, whose integers are exact; JavaScript would round
 * them. The gateway has checked the requests.
 */
export function resourcesIn(db: DatabaseSync) {
  function resource(stored: Stored) {
    const { path, kind, table, json, added, changed, isRemovable } = stored;
    // Merging leaves out what is null.
    const entry = `CAST(id AS TEXT) AS id, json_patch('{}', json_object(${json})) AS json`;
    const one = (sql: string) => {
      const statement = db.prepare(sql);
      return (given: Given) => statement.get(given) as Entry | undefined;
    };
    const assigned = Object.entries(changed).map((pair) => pair.join(' = '));
    const page = db.prepare(
      `SELECT ${entry} FROM ${table} WHERE id >= coalesce(:cursor, -9223372036854775808)${stored.filters ?? ''} ORDER BY ${table}.id LIMIT :limit + 1`,
    );
    return {
      path,
      kind,
      list: (given: Given) => page.all(given) as unknown as Entry[],
      /** Returns undefined if the identifier exists. */
      add:
        added &&
        one(
          `INSERT INTO ${table} (${Object.keys(added)}) VALUES (${Object.values(added)}) ON CONFLICT (id) DO NOTHING RETURNING ${entry}`,
        ),
      get: one(`SELECT ${entry} FROM ${table} WHERE id = :id`),
      replace: one(
        `UPDATE ${table} SET ${assigned} WHERE id = :id RETURNING ${entry}`,
      ),
      remove: isRemovable
        ? one(`DELETE FROM ${table} WHERE id = :id RETURNING ${entry}`)
        : undefined,
    };
  }

  const category = { name: field('name'), description: field('description') };
  const pet = {
    name: field('name'),
    categoryId: field('categoryId'),
    status: field('status', "'available'"),
  };
  return [
    resource({
      path: '/categories',
      kind: 'category',
      table: 'categories',
      json: `'id', id, 'name', name, 'description', description`,
      added: category,
      changed: category,
      isRemovable: true,
    }),
    resource({
      path: '/pets',
      kind: 'pet',
      table: 'pets',
      json: `'id', id, 'name', name, 'categoryId', categoryId, 'status', status`,
      added: pet,
      changed: pet,
      isRemovable: true,
      filters: PET_FILTERS,
    }),
    resource({
      path: '/store/inventory',
      kind: 'pet',
      table: 'pets',
      json: `'petId', id, 'quantity', quantity, 'status', status`,
      changed: { quantity: field('quantity') },
    }),
    resource({
      path: '/store/orders',
      kind: 'order',
      table: 'orders',
      json: `'id', id, 'petId', petId, 'quantity', quantity, 'shipDate', shipDate, 'complete', json(iif(complete, 'true', 'false'))`,
      added: {
        id: field('id'),
        petId: field('petId'),
        quantity: field('quantity', '1'),
        shipDate: field('shipDate'),
        complete: field('complete', 'FALSE'),
      },
      changed: {
        id: field('id', 'id'),
        petId: field('petId', 'petId'),
        quantity: field('quantity', 'quantity'),
        shipDate: field('shipDate', 'shipDate'),
        complete: field('complete', 'complete'),
      },
    }),
  ];
}
