import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ExpectedError } from '../../common/expected-error.ts';
import { syncFolderNow } from '../../common/folder.ts';
import { transaction } from '../../common/transaction.ts';
import { type Counters, newStrikeState, type StrikeState } from '../../limits/counters.ts';
import type { Window } from '../../limits/limits.ts';
import { expectedIn, GENERATIONS, IncompleteFolder, lastChangeIn, refuseMissingChanges } from './inventory.ts';

/** The step at index i upgrades a file from version i to i + 1. Never edit a released step. */
const MIGRATIONS = [
  `CREATE TABLE keys (
     id TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     record TEXT NOT NULL
   ) STRICT;
   CREATE TABLE ledgers (
     subject TEXT PRIMARY KEY,
     ledger TEXT NOT NULL
   ) STRICT;`,
  `ALTER TABLE keys ADD COLUMN previous TEXT;
   CREATE UNIQUE INDEX keys_by_previous ON keys (previous) WHERE previous IS NOT NULL;
   CREATE INDEX keys_imported ON keys (id) WHERE json_extract(record, '$.imported') = 1;
   CREATE TABLE audit (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     actor TEXT NOT NULL,
     action TEXT NOT NULL,
     target TEXT NOT NULL,
     request TEXT NOT NULL,
     before TEXT NOT NULL,
     after TEXT NOT NULL
   ) STRICT;
   CREATE INDEX audit_by_target ON audit (target, number);
   CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
   CREATE TRIGGER audit_never_forgets BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
   CREATE TABLE answers (
     name TEXT PRIMARY KEY,
     at INTEGER NOT NULL,
     question TEXT NOT NULL,
     sealed TEXT NOT NULL
   ) STRICT;
   CREATE TABLE uses (
     id TEXT PRIMARY KEY,
     at INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE tokens (
     name TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     role TEXT NOT NULL,
     created INTEGER NOT NULL
   ) STRICT;`,
  `CREATE TABLE audit_kept (first INTEGER NOT NULL) STRICT;
   INSERT INTO audit_kept VALUES (1);
   DROP TRIGGER audit_never_forgets;
   CREATE TRIGGER audit_forgets_nothing_kept BEFORE DELETE ON audit WHEN OLD.number >= (SELECT first FROM audit_kept)
   BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;`,
  // Counters are in the journal beside the file. The first gateway on the folder moves the rows (counter-store.ts).
  '',
];

/** The ban log. Not part of `MIGRATIONS`: older versions can still use the file and ignore these tables. */
const LOG_OF_BANS = `CREATE TABLE IF NOT EXISTS bans (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     actor TEXT NOT NULL,
     action TEXT NOT NULL,
     target TEXT NOT NULL,
     request TEXT NOT NULL,
     before TEXT NOT NULL,
     after TEXT NOT NULL
   ) STRICT;
   CREATE INDEX IF NOT EXISTS bans_by_target ON bans (target, number);
   CREATE TABLE IF NOT EXISTS bans_kept (first INTEGER NOT NULL) STRICT;
   INSERT INTO bans_kept SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM bans_kept);
   CREATE TRIGGER IF NOT EXISTS bans_never_change BEFORE UPDATE ON bans
   BEGIN SELECT RAISE(ABORT, 'the log of bans is append-only'); END;
   CREATE TRIGGER IF NOT EXISTS bans_forget_nothing_kept BEFORE DELETE ON bans WHEN OLD.number >= (SELECT first FROM bans_kept)
   BEGIN SELECT RAISE(ABORT, 'the log of bans is append-only'); END;`;

/** Indices for listing keys by account and age. Not part of `MIGRATIONS`: older versions maintain them too. */
const ORDERS_OF_KEYS = `
   CREATE INDEX IF NOT EXISTS keys_by_age ON keys (json_extract(record, '$.createdAt'));
   CREATE INDEX IF NOT EXISTS keys_by_account ON keys (json_extract(record, '$.account'), json_extract(record, '$.createdAt'));`;

/**
 * Reasons of operator actions. Not part of `MIGRATIONS`: older versions name the columns that they write and leave this
 * one empty.
 */
function addReasons(db: DatabaseSync): void {
  for (const log of ['audit', 'bans']) {
    const columns = db.prepare(`SELECT name FROM pragma_table_info('${log}')`).all();
    if (!columns.some(({ name }) => name === 'reason')) db.exec(`ALTER TABLE ${log} ADD COLUMN reason TEXT`);
  }
}

/** The folder of the embedded state cannot be used. The message names the folder and the cause. */
export class StateFileError extends ExpectedError {
  override name = 'StateFileError';
}

/**
 * Opens or creates `state.db`, which several processes may share. Throws StateFileError, and IncompleteFolder before
 * any write.
 */
export function openStateFile(folder: string): DatabaseSync {
  const file = join(folder, 'state.db');
  makeFolder(folder);
  try {
    const expected = expectedIn(folder);
    if (!existsSync(file)) refuseMissingChanges(expected, 0);
    const db = new DatabaseSync(file, { timeout: 5_000 });
    try {
      refuseMissingChanges(expected, lastChangeIn(db));
    } catch (error) {
      db.close();
      throw error;
    }
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    migrate(db);
    return db;
  } catch (error) {
    if (error instanceof StateFileError || error instanceof IncompleteFolder) throw error;
    throw unusable(folder, error);
  }
}

/** Creates `folder` if missing, with access for its owner only. Throws StateFileError. */
export function makeFolder(folder: string): void {
  try {
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    // Files survive power loss only if their folder does.
    if (made === undefined) return;
    for (let each = resolve(folder); each.length >= resolve(made).length; each = dirname(each))
      syncFolderNow(dirname(each));
  } catch (error) {
    throw unusable(folder, error);
  }
}

function unusable(folder: string, error: unknown): StateFileError {
  return new StateFileError(`cannot use the data folder ${folder}: ${reasonOf(error)}`, { cause: error });
}

function migrate(db: DatabaseSync): void {
  transaction(db, () => {
    const version = fileVersion(db);
    if (version > MIGRATIONS.length) {
      throw new StateFileError(`the data folder was written by a newer storegate (format ${version})`);
    }
    for (const step of MIGRATIONS.slice(version)) db.exec(step);
    db.exec(LOG_OF_BANS);
    db.exec(ORDERS_OF_KEYS);
    db.exec(GENERATIONS);
    addReasons(db);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

export const NEWEST = MIGRATIONS.length;

export function fileVersion(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** Counters that a version before the journal left in the state file. */
export function* countersInFile(db: DatabaseSync): Iterable<readonly [subject: string, counters: Counters]> {
  const rows = db.prepare('SELECT subject, ledger FROM ledgers').all() as { subject: string; ledger: string }[];
  for (const { subject, ledger } of rows) yield [subject, countersOf(ledger)] as const;
}

export function dropCountersInFile(db: DatabaseSync): void {
  db.exec('DELETE FROM ledgers');
}

/** Files of older versions have less strike state. */
export function countersOf(text: string): Counters {
  const { windows, cells, conduct } = JSON.parse(text) as {
    windows: Window[];
    cells: number[];
    conduct: Partial<StrikeState> | null;
  };
  return { windows, cells, strikeState: conduct && { ...newStrikeState(), ...conduct } };
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EROFS') return 'it is not writable';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'it is not a folder';
  return error instanceof Error ? error.message : String(error);
}
