import { rmSync } from 'node:fs';
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

/** With what SQLite keeps beside it. No process may use it. */
export function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm'])
    rmSync(`${file}${end}`, { force: true });
}

/** 0: the database is new. */
export const versionOf = (db: DatabaseSync): number =>
  Number(db.prepare('PRAGMA user_version').get()!.user_version);
