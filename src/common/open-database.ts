import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';

/** Returns the result of `use`, which may keep the database open. Closes the database if `use` throws. */
export function openDatabase<T>(file: string, options: DatabaseSyncOptions, use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file, options);
  try {
    return use(db);
  } catch (error) {
    db.close();
    throw error;
  }
}
