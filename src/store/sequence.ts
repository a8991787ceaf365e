import type { DatabaseSync } from 'node:sqlite';
import { int64Range } from './checks.ts';
import { transaction } from './database.ts';
import { StoreError } from './errors.ts';

export type Sequence = () => bigint;

/**
 * Identifiers in rising order, remembered in the database: none is assigned twice, not even after its owner is gone.
 * `first` counts only where the sequence does not exist yet.
 * @throws StoreError `ids_exhausted`, by the sequence, once the greatest int64 has been assigned.
 */
export function openSequence(db: DatabaseSync, name: string, first: bigint): Sequence {
  db.prepare('INSERT INTO sequences (name, next) VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, first);
  const read = db.prepare('SELECT next FROM sequences WHERE name = ?');
  const write = db.prepare('UPDATE sequences SET next = ? WHERE name = ?');
  return () =>
    transaction(db, () => {
      const { next } = read.get(name) as { next: bigint | null };
      if (next === null) throw new StoreError('ids_exhausted', `There are no identifiers left for ${name}.`);
      write.run(next === int64Range.greatest ? null : next + 1n, name);
      return next;
    });
}
