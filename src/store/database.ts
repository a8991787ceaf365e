import { DatabaseSync } from 'node:sqlite';
import { migrations } from './schema.ts';

/** Written into every file of the store ("SGst"), so that a database of another program is not taken for one. */
const applicationId = 0x53477374n;

/** Statements run on the event loop, so waiting for another process to let go of the file is kept short. */
const busyTimeout = 250;

/**
 * Opens the database in `file`, makes it if it is missing and brings it to the present schema.
 * All integers are read as `bigint`.
 * @throws Error with one sentence when the file cannot be opened, is no store, or is of a newer release.
 */
export function openDatabase(file: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readBigInts: true, timeout: busyTimeout, enableForeignKeyConstraints: true });
    db.exec('PRAGMA journal_mode = WAL');
    migrate(db);
    return db;
  } catch (error) {
    db?.close();
    throw new Error(`The store cannot use the database ${file}: ${(error as Error).message}.`, { cause: error });
  }
}

/**
 * Runs `work` in one transaction: all of it is kept, or nothing. Inside another transaction it is a part of that one.
 * The write lock is taken at the start, so that what `work` reads cannot change before it writes.
 */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  if (db.isTransaction) return work();
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
 * Runs a statement and, if a foreign key forbids it, throws `refusal()` instead. The database keeps the rule; the
 * caller gives it its name.
 */
export function orForeignKey<T>(statement: () => T, refusal: () => Error): T {
  try {
    return statement();
  } catch (error) {
    throw resultCode(error) === 787 ? refusal() : error; // SQLITE_CONSTRAINT_FOREIGNKEY
  }
}

/** Whether another process held the file longer than the store waits. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && (code & 0xff) === 5; // SQLITE_BUSY and its extended codes
}

function migrate(db: DatabaseSync): void {
  transaction(db, () => {
    const version = Number(pragma(db, 'user_version'));
    if (!isOurs(db)) throw new Error('it belongs to another program');
    if (version > migrations.length)
      throw new Error(`it has schema ${version} of a newer release, this one knows ${migrations.length}`);
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${applicationId}`);
  });
}

function isOurs(db: DatabaseSync): boolean {
  const id = pragma(db, 'application_id');
  return id === applicationId || (id === 0n && db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined);
}

function pragma(db: DatabaseSync, name: string): unknown {
  return db.prepare(`PRAGMA ${name}`).get()?.[name];
}

/** SQLite's extended result code, if the error is one of SQLite. */
function resultCode(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) : undefined;
}
