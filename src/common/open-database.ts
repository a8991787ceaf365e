import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite';
import { createPrivateFile } from './folder.ts';

/**
 * Returns the result of `use`, which may keep the database open. Closes the database if `use`
 * throws. Only the owner may access a new file; SQLite gives its mode to the files beside it.
 */
export function openDatabase<T>(
  file: string,
  options: DatabaseSyncOptions,
  use: (db: DatabaseSync) => T,
): T {
  if (!options.readOnly && file !== ':memory:') createPrivateFile(file);
  const db = new DatabaseSync(file, options);
  try {
    return use(db);
  } catch (error) {
    db.close();
    throw error;
  }
}
