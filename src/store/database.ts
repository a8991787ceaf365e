import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { int64Range } from './checks.ts';
import { StoreError, toJson } from './errors.ts';

/** "SGst" marks files of the store. */
const APPLICATION_ID = 0x53477374n;

const SCHEMA = `CREATE TABLE sequences (name TEXT PRIMARY KEY, next INTEGER /* NULL: the last int64 is assigned */) STRICT;
  CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT) STRICT;
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL REFERENCES categories (id),
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    stock INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0) -- no pet is without an inventory entry
  ) STRICT;
  CREATE INDEX pets_by_category ON pets (category_id);
  CREATE INDEX pets_by_status ON pets (status);
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY, pet_id INTEGER NOT NULL REFERENCES pets (id),
    quantity INTEGER NOT NULL CHECK (quantity > 0), ship_date TEXT, complete INTEGER NOT NULL CHECK (complete IN (0, 1))
  ) STRICT;
  CREATE INDEX orders_by_pet ON orders (pet_id);`;

/**
 * Creates a missing file. All integers are `bigint`. @throws Error with one sentence if it cannot
 * be used.
 */
export function openDatabase(file: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    // Short, because statements run on the event loop.
    db = new DatabaseSync(file, {
      readBigInts: true,
      timeout: 250,
      enableForeignKeyConstraints: true,
    });
    db.exec('PRAGMA journal_mode = WAL');
    transaction(db, () => claim(db!));
    return db;
  } catch (error) {
    db?.close();
    throw new Error(
      `The store cannot use the database ${file}: ${(error as Error).message}.`,
      {
        cause: error,
      },
    );
  }
}

function claim(db: DatabaseSync): void {
  const { id } = db
    .prepare('SELECT application_id AS id FROM pragma_application_id')
    .get()!;
  const { version } = db
    .prepare('SELECT user_version AS version FROM pragma_user_version')
    .get()!;
  const isEmpty =
    id === 0n && db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  if (id !== APPLICATION_ID && !isEmpty)
    throw new Error('it belongs to another program');
  if (version !== 0n && version !== 1n)
    throw new Error(
      `it has schema ${version} of a newer release, this one knows 1`,
    );
  if (isEmpty)
    db.exec(
      `${SCHEMA}; PRAGMA user_version = 1; PRAGMA application_id = ${APPLICATION_ID}`,
    );
}

/** The write lock is taken before `work` reads. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Rising from `first` and persistent, so none is assigned twice. @throws StoreError `ids_exhausted`
 */
export function openSequence(
  db: DatabaseSync,
  name: string,
  first: bigint,
): () => bigint {
  db.prepare(
    'INSERT INTO sequences (name, next) VALUES (?, ?) ON CONFLICT DO NOTHING',
  ).run(name, first);
  const take = db.prepare(
    `UPDATE sequences SET next = iif(next = ${int64Range.greatest}, NULL, next + 1) WHERE name = ? AND next IS NOT NULL RETURNING next`,
  );
  return () => {
    const row = take.get(name) as { next: bigint | null } | undefined;
    if (row === undefined)
      throw new StoreError(
        500,
        'ids_exhausted',
        `All identifiers for ${name} are used.`,
      );
    return row.next === null ? int64Range.greatest : row.next - 1n;
  };
}

/** At most `size` entries, the first not less than `from`. */
export type Page = { readonly from: bigint; readonly size: bigint };

export function openTable<E>(
  db: DatabaseSync,
  table: string,
  kind: string,
  shown: string,
  flag?: keyof E,
) {
  const columns = new Map(
    shown
      .split(', ')
      .map((column) => column.split(' AS ').toReversed() as [string, string]),
  );
  const fields = [...columns.keys()];
  const columnOf = (field: string) => columns.get(field) ?? field;
  const values = fields.map((field) => `:${field}`);
  const assigned = fields.map((field) => `${columnOf(field)} = :${field}`);
  const select = db.prepare(`SELECT ${shown} FROM ${table} WHERE id = ?`);
  const insert = db.prepare(
    `INSERT INTO ${table} (${fields.map(columnOf)}) VALUES (${values}) RETURNING ${shown}`,
  );
  const update = db.prepare(
    `UPDATE ${table} SET ${assigned} WHERE id = ${values[0]} RETURNING ${shown}`,
  );
  const remove = db.prepare(
    `DELETE FROM ${table} WHERE id = ? RETURNING ${shown}`,
  );

  function entryOf(row: object): E {
    const known = Object.entries(row).filter(([, value]) => value !== null);
    return Object.fromEntries(
      known.map(([name, value]) => [
        name,
        name === flag ? value === 1n : value,
      ]),
    ) as E;
  }

  function rowOf(entry: E): Record<string, SQLInputValue> {
    const inSql = (value: unknown) =>
      (typeof value === 'boolean'
        ? BigInt(value)
        : (value ?? null)) as SQLInputValue;
    return Object.fromEntries(
      fields.map((field) => [field, inSql(entry[field as keyof E])]),
    );
  }

  function found(row: object | undefined, id: bigint): E {
    if (row === undefined)
      throw new StoreError(
        404,
        'not_found',
        `The ${kind} ${id} does not exist.`,
      );
    return entryOf(row);
  }

  return {
    list(page: Page, filters: object = {}): E[] {
      const given = Object.entries(filters).filter(
        ([, value]) => value !== undefined,
      );
      const conditions = given.map(([name]) =>
        name === 'ids'
          ? 'id IN (SELECT value FROM json_each(:ids))'
          : `${columnOf(name)} = :${name}`,
      );
      const where = ['id >= :from', ...conditions].join(' AND ');
      const statement = db.prepare(
        `SELECT ${shown} FROM ${table} WHERE ${where} ORDER BY id LIMIT :size`,
      );
      const bound = given.map(([name, value]) => [
        name,
        name === 'ids' ? toJson(value) : value,
      ]);
      return statement
        .all({ ...Object.fromEntries(bound), ...page })
        .map(entryOf);
    },
    has: (id: bigint): boolean => select.get(id) !== undefined,
    get: (id: bigint): E => found(select.get(id), id),
    insert: (entry: E): E => entryOf(insert.get(rowOf(entry))!),
    update: (id: bigint, entry: E): E => found(update.get(rowOf(entry)), id),
    remove: (id: bigint): E => found(remove.get(id), id),
  };
}
