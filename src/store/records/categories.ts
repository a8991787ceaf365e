import type { DatabaseSync } from 'node:sqlite';
import { orForeignKey, transaction } from '../database.ts';
import { notFound, StoreError } from '../errors.ts';
import type { Sequence } from '../sequence.ts';
import type { Page } from './page.ts';

export interface NewCategory {
  readonly name: string;
  readonly description?: string | undefined;
}

export interface Category extends NewCategory {
  readonly id: bigint;
}

export type Categories = ReturnType<typeof createCategories>;

export function createCategories(db: DatabaseSync, nextId: Sequence) {
  const select = db.prepare('SELECT * FROM categories WHERE id = ?');
  const selectPage = db.prepare('SELECT * FROM categories WHERE id >= ? ORDER BY id LIMIT ?');
  const insert = db.prepare('INSERT INTO categories (id, name, description) VALUES (?, ?, ?) RETURNING *');
  const update = db.prepare('UPDATE categories SET name = ?, description = ? WHERE id = ? RETURNING *');
  const remove = db.prepare('DELETE FROM categories WHERE id = ?');

  return {
    list: ({ from, size }: Page): Category[] => selectPage.all(from, size).map(toCategory),

    get: (id: bigint): Category => found(select.get(id), id),

    add: ({ name, description }: NewCategory): Category =>
      transaction(db, () => toCategory(insert.get(nextId(), name, description ?? null))),

    replace: (id: bigint, { name, description }: NewCategory): Category =>
      found(update.get(name, description ?? null, id), id),

    /** @throws StoreError `category_in_use` while pets belong to it. */
    remove(id: bigint): void {
      const inUse = () => new StoreError('category_in_use', `Category ${id} still has pets.`);
      if (orForeignKey(() => remove.run(id), inUse).changes === 0n) throw notFound('category', id);
    },
  };
}

function found(row: unknown, id: bigint): Category {
  if (row === undefined) throw notFound('category', id);
  return toCategory(row);
}

function toCategory(row: unknown): Category {
  const { id, name, description } = row as { id: bigint; name: string; description: string | null };
  return { id, name, description: description ?? undefined };
}
