import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ExpectedError } from '../../common/expected-error.ts';
import {
  openDatabase,
  removeDatabase,
  versionOf,
} from '../../common/open-database.ts';
import { transaction } from '../../common/transaction.ts';

/** Beside `state.db`, or beside the copy of the records in Redis. */
export const ROW_FILE = 'counters.db';

/** Increases with every incompatible change of the rows. */
const FORMAT = 2;

/** Milliseconds that another process of the folder may write. */
const TIMEOUT = 5_000;

const TABLES = `
  CREATE TABLE rows (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${FORMAT};`;

export type RowValue = string | Uint8Array;

export const rowFileIn = (folder: string): string => join(folder, ROW_FILE);

/** The file of rows is not one of this version, or is damaged. */
class RowFileError extends ExpectedError {
  override name = 'RowFileError';
}

/**
 * Opens or creates the rows of a folder, which several processes may share. Each commit is synced.
 * Throws RowFileError, and SQLite errors.
 */
export function openRowFile(folder: string): DatabaseSync {
  const file = rowFileIn(folder);
  return openDatabase(file, { timeout: TIMEOUT }, (db) => {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    transaction(db, () => {
      if (versionOf(db) === 0) db.exec(TABLES);
    });
    refuseOtherFormat(db, file);
    return db;
  });
}

/** Opens the rows of a folder to read them, even while a gateway runs; `null`: there are none. */
export function readRowFile(folder: string): DatabaseSync | null {
  const file = rowFileIn(folder);
  if (!existsSync(file)) return null;
  // Without a log a mere reader would leave an empty one.
  const readOnly = existsSync(`${file}-wal`);
  const db = new DatabaseSync(file, { readOnly, timeout: TIMEOUT });
  try {
    if (versionOf(db) > 0) {
      refuseOtherFormat(db, file);
      return db;
    }
    db.close();
    return null;
  } catch (error) {
    db.close();
    throw error;
  }
}

function refuseOtherFormat(db: DatabaseSync, file: string): void {
  const version = versionOf(db);
  if (version === FORMAT) return;
  throw new RowFileError(
    `${file} was written by another storegate (format ${version}): use that version`,
  );
}

/** Of a folder that no process uses. */
export function removeRowFile(folder: string): void {
  removeDatabase(rowFileIn(folder));
}

/** All rows of a kind. */
export function* rowsIn(
  db: DatabaseSync,
  kind: string,
): Generator<readonly [name: string, value: RowValue]> {
  const rows = db.prepare('SELECT name, value FROM rows WHERE kind = ?');
  rows.setReturnArrays(true);
  for (const row of rows.iterate(kind))
    yield row as unknown as readonly [string, RowValue];
}

/** Binary rows of a kind by name; `null`: missing. */
export function valuesIn(
  db: DatabaseSync,
  kind: string,
  names: readonly string[],
): (Buffer | null)[] {
  const row = db.prepare('SELECT value FROM rows WHERE kind = ? AND name = ?');
  return names.map((name) => {
    const value = row.get(kind, name)?.value as Uint8Array | undefined;
    return value === undefined
      ? null
      : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  });
}

export function hasRows(db: DatabaseSync, kind: string): boolean {
  const row = db.prepare('SELECT 1 FROM rows WHERE kind = ? LIMIT 1').get(kind);
  return row !== undefined;
}

/** Text that identifies this file. `null`: it has none yet. */
export function identityOf(db: DatabaseSync): string | null {
  const row = db.prepare('SELECT id FROM identity').get();
  return row === undefined ? null : String(row.id);
}

export function setIdentity(db: DatabaseSync, id: string): void {
  transaction(db, () => {
    db.exec('DELETE FROM identity');
    db.prepare('INSERT INTO identity VALUES (?)').run(id);
  });
}

/** Writes and removes (`null`) rows. */
export function rowWriterIn(db: DatabaseSync) {
  const put = db.prepare(
    'INSERT INTO rows (kind, name, value) VALUES (?, ?, ?) ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value',
  );
  const remove = db.prepare('DELETE FROM rows WHERE kind = ? AND name = ?');
  return (kind: string, name: string, value: RowValue | null): void => {
    if (value === null) remove.run(kind, name);
    else put.run(kind, name, value);
  };
}
