import { DatabaseSync } from 'node:sqlite';
import { migrations } from './schema.ts';

/** Every file of the store has this mark ("SGst"), which tells it from a database of another program. */
const applicationId = 0x53477374n;

/** Milliseconds to wait for another process to release the file; short, because statements run on the event loop. */
const busyTimeout = 250;

/**
 * Opens the database in `file`, creates it if it is missing and migrates it to the present schema. All integers are
 * `bigint`.
 * @throws Error with one sentence if the file cannot be opened, is no store, or is of a newer release.
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
 * Runs `work` in one transaction, or as part of the transaction around it. It takes the write lock at the start, so
 * that nothing `work` has read can change before it writes.
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
 * Runs a statement, and throws `refusal()` if a foreign key forbids it. The database has the rule, the caller its name.
 */
export function orForeignKey<T>(statement: () => T, refusal: () => Error): T {
  try {
    return statement();
  } catch (error) {
    throw resultCode(error) === 787 ? refusal() : error; // SQLITE_CONSTRAINT_FOREIGNKEY
  }
}

/** Whether another process held the file longer than the store waits for it. */
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

/** The extended result code of an error from SQLite. */
function resultCode(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) : undefined;
}
