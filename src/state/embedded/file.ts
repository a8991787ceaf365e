import { accessSync, constants, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { ExpectedError } from '../../common/expected-error.ts';
import { openDatabase, versionOf } from '../../common/open-database.ts';
import { transaction } from '../../common/transaction.ts';
import { makeDataFolder } from '../data-folder.ts';
import { KEY_INDICES, RECORD_TABLES } from '../record-tables.ts';
import {
  expectedIn,
  hasCounters,
  IncompleteFolder,
  lastChangeIn,
  missingRowFile,
  refuseMissingChanges,
  refuseMissingState,
} from './inventory.ts';
import { hasAnyTable, hasTables } from './tables.ts';

const STATE_FILE = 'state.db';

type Check = (db: DatabaseSync) => void;

/** Increases with every incompatible change of the schema. */
export const FILE_VERSION = 7;

const SCHEMA = `
   ${RECORD_TABLES}
   ${KEY_INDICES}
   ${appendOnly('audit')}
   ${appendOnly('bans')}
   CREATE TABLE idempotent_results (
     name TEXT PRIMARY KEY,
     at INTEGER NOT NULL,
     question TEXT NOT NULL,
     sealed TEXT NOT NULL
   ) STRICT;
   CREATE TABLE uses (
     id TEXT PRIMARY KEY,
     at INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE counter_file (id TEXT NOT NULL, log INTEGER NOT NULL) STRICT;
   PRAGMA user_version = ${FILE_VERSION};`;

/** Entries never change, and are deleted only before the first one that is kept. */
function appendOnly(log: string): string {
  return `
   CREATE TABLE ${log}_kept (first INTEGER NOT NULL) STRICT;
   INSERT INTO ${log}_kept VALUES (1);
   CREATE TRIGGER ${log}_never_change BEFORE UPDATE ON ${log}
   BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
   CREATE TRIGGER ${log}_forget_nothing_kept BEFORE DELETE ON ${log} WHEN OLD.number >= (SELECT first FROM ${log}_kept)
   BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;`;
}

/** The folder of the embedded state cannot be used. The message names the folder and the cause. */
export class StateFileError extends ExpectedError {
  override name = 'StateFileError';
}

/**
 * Opens or creates `state.db`, which several processes may share. Throws StateFileError, and
 * IncompleteFolder before any write.
 */
export function openStateFile(folder: string): DatabaseSync {
  makeFolder(folder);
  return openWhole(folder, {}, prepare);
}

/** `openStateFile` without what is lost. Throws StateFileError. */
export function openForRepair(folder: string): DatabaseSync {
  return opened(folder, {}, (db) => {
    refuseOtherFormat(folder, db);
    prepare(db);
  });
}

function prepare(db: DatabaseSync): void {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
  transaction(db, () => {
    if (versionOf(db) === 0) db.exec(SCHEMA);
    db.exec(
      'CREATE INDEX IF NOT EXISTS results_by_age ON idempotent_results (at)',
    );
  });
}

/**
 * Opens `state.db` to read it, even while a gateway uses it, with the checks of a start. Throws
 * StateFileError and IncompleteFolder.
 */
export function readStateFile(folder: string): DatabaseSync {
  const db = readStateIfAny(folder);
  if (db !== null) return db;
  throw new StateFileError(
    `${folder} does not contain a state: state.db is missing or empty`,
  );
}

/** As `readStateFile`; `null`: a start creates the state. */
export function readStateIfAny(folder: string): DatabaseSync | null {
  if (!existsSync(join(folder, STATE_FILE))) {
    refuseMissingState(folder, expectedIn(folder));
    return null;
  }
  const db = openWhole(folder, readingOptions(folder), () => {});
  if (versionOf(db) > 0) return db;
  db.close();
  return null;
}

/**
 * A last writer moves the WAL into `state.db`, and a mere reader without a WAL leaves an empty one:
 * neither changes.
 */
function readingOptions(folder: string): DatabaseSyncOptions {
  return { readOnly: existsSync(join(folder, `${STATE_FILE}-wal`)) };
}

/**
 * The checks of `state.db` for every process that opens it; those of the counters follow with their
 * reading.
 */
function openWhole(
  folder: string,
  options: DatabaseSyncOptions,
  check: Check,
): DatabaseSync {
  const expected = expectedIn(folder);
  if (!existsSync(join(folder, STATE_FILE)))
    refuseMissingState(folder, expected);
  return opened(folder, options, (db) => {
    refuseMissingChanges(expected, lastChangeIn(db));
    refuseOtherFormat(folder, db);
    if (versionOf(db) === 0) refuseMissingState(folder, expected);
    check(db);
  });
}

interface Losses {
  readonly files: readonly string[];
  readonly changes: number;
}

/**
 * What a start would refuse: the missing files of counters, and the number of operator changes that
 * `state.db` lacks. Changes nothing in the folder, which this process must have locked. Throws
 * StateFileError.
 */
export function lossesIn(folder: string): Losses {
  const { file, lastChange } = expectedIn(folder);
  const withoutState = {
    files: lastChange > 0 || hasCounters(folder) ? [basename(file)] : [],
    changes: lastChange,
  };
  if (!existsSync(join(folder, STATE_FILE))) return withoutState;
  const db = opened(folder, readingOptions(folder), (db) =>
    refuseOtherFormat(folder, db),
  );
  try {
    if (versionOf(db) === 0) return withoutState;
    const changes = Math.max(0, lastChange - lastChangeIn(db));
    const missing = missingRowFile(folder, db);
    return { files: missing === null ? [] : [missing], changes };
  } finally {
    db.close();
  }
}

function opened(
  folder: string,
  options: DatabaseSyncOptions,
  check: Check,
): DatabaseSync {
  try {
    return openDatabase(
      join(folder, STATE_FILE),
      { timeout: 5_000, ...options },
      (db) => {
        check(db);
        return db;
      },
    );
  } catch (error) {
    if (error instanceof StateFileError || error instanceof IncompleteFolder)
      throw error;
    throw unusable(folder, error);
  }
}

/** `makeDataFolder`, for a folder that this process writes. Throws StateFileError. */
export function makeFolder(folder: string): void {
  try {
    makeDataFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusable(folder, error);
  }
}

function unusable(folder: string, error: unknown): StateFileError {
  return new StateFileError(
    `cannot use the data folder ${folder}: ${reasonOf(error)}`,
    {
      cause: error,
    },
  );
}

/** Throws StateFileError. A file of version 0 has no tables yet. */
function refuseOtherFormat(folder: string, db: DatabaseSync): void {
  const version = versionOf(db);
  const written = `the data folder ${folder} was written by`;
  if (version > FILE_VERSION)
    throw new StateFileError(
      `${written} a newer storegate (format ${version}): use that version`,
    );
  const isOurs =
    version === 0
      ? !hasAnyTable(db)
      : version === FILE_VERSION && hasTables(db, SCHEMA);
  if (isOurs) return;
  throw new StateFileError(
    `${written} an unreleased storegate (format ${version}): ` +
      'run "storegate state export FILE" with that version, ' +
      'and "storegate state import FILE" with this one and an empty data folder',
  );
}

/**
 * Texts for the codes of SQLite (SQLITE_READONLY, SQLITE_FULL, SQLITE_CANTOPEN) and of the system.
 */
const REASONS: Readonly<Record<string, string>> = {
  8: 'it is not writable',
  13: 'the disk is full',
  14: 'it cannot be opened or created',
  EACCES: 'it is not writable',
  EROFS: 'it is not writable',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder',
};

/** Why a file or folder cannot be used, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const { code, errcode } = error as { code?: string; errcode?: number };
  // The low byte of an extended code of SQLite is its kind.
  const reason = REASONS[errcode === undefined ? `${code}` : errcode & 0xff];
  if (reason !== undefined) return reason;
  return error instanceof Error ? error.message : String(error);
}
