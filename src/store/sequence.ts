import type { DatabaseSync } from 'node:sqlite';
import { int64Range } from './checks.ts';
import { transaction } from './database.ts';
import { StoreError } from './errors.ts';

export type Sequence = () => bigint;

/**
 * Identifiers in rising order. The database keeps the sequence, so no identifier is assigned twice, even after its
 * owner is gone. `first` only counts if the sequence does not exist yet. The sequence throws StoreError `ids_exhausted`
 * once it has assigned the greatest int64.
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
