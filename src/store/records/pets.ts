import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { orForeignKey, transaction } from '../database.ts';
import { notFound, StoreError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { Sequence } from '../sequence.ts';
import type { Page } from './page.ts';

export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export interface NewPet {
  readonly name: string;
  readonly categoryId: bigint;
  /** `available` if left out. */
  readonly status?: PetStatus | undefined;
}

export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** Selects the pets that fit all given filters. */
export interface PetFilter {
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  readonly ids?: readonly bigint[] | undefined;
}

export type Pets = ReturnType<typeof createPets>;

const columns = 'id, name, category_id AS categoryId, status';

export function createPets(db: DatabaseSync, nextId: Sequence) {
  const select = db.prepare(`SELECT ${columns} FROM pets WHERE id = ?`);
  const selectPage = pageStatements(db);
  const insert = db.prepare(
    `INSERT INTO pets (id, name, category_id, status) VALUES (?, ?, ?, ?) RETURNING ${columns}`,
  );
  const update = db.prepare(`UPDATE pets SET name = ?, category_id = ?, status = ? WHERE id = ? RETURNING ${columns}`);
  const remove = db.prepare('DELETE FROM pets WHERE id = ?');

  return {
    list({ from, size }: Page, { status, categoryId, ids }: PetFilter): Pet[] {
      const given = { status, categoryId, ids: ids && toJson(ids) };
      const filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      return selectPage(Object.keys(filters)).all({ ...filters, from, size }) as unknown as Pet[];
    },

    get: (id: bigint): Pet => found(select.get(id), id),

    /** @throws StoreError `unknown_category`. */
    add: ({ name, categoryId, status = 'available' }: NewPet): Pet =>
      transaction(db, () =>
        knowing(categoryId, () => insert.get(nextId(), name, categoryId, status) as unknown as Pet),
      ),

    /** @throws StoreError `unknown_category`. */
    replace: (id: bigint, { name, categoryId, status = 'available' }: NewPet): Pet =>
      found(
        knowing(categoryId, () => update.get(name, categoryId, status, id)),
        id,
      ),

    /** @throws StoreError `pet_has_orders`. */
    remove(id: bigint): void {
      const ordered = () => new StoreError('pet_has_orders', `There are orders for pet ${id}.`);
      if (orForeignKey(() => remove.run(id), ordered).changes === 0n) throw notFound('pet', id);
    },
  };
}

const conditions: Readonly<Record<string, string>> = {
  status: 'status = :status',
  categoryId: 'category_id = :categoryId',
  ids: 'id IN (SELECT value FROM json_each(:ids))',
};

/** One prepared statement for each set of filters, at most eight, so that each can use its index. */
function pageStatements(db: DatabaseSync): (filters: readonly string[]) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (filters) => {
    const where = ['id >= :from', ...filters.map((name) => conditions[name])].join(' AND ');
    const statement =
      prepared.get(where) ?? db.prepare(`SELECT ${columns} FROM pets WHERE ${where} ORDER BY id LIMIT :size`);
    prepared.set(where, statement);
    return statement;
  };
}

function knowing<T>(categoryId: bigint, statement: () => T): T {
  return orForeignKey(statement, () => new StoreError('unknown_category', `There is no category ${categoryId}.`));
}

function found(row: unknown, id: bigint): Pet {
  if (row === undefined) throw notFound('pet', id);
  return row as Pet;
}
