import type { DatabaseSync } from 'node:sqlite';

/** Joins an open transaction. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work();
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk ends the transaction by itself.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
