import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { ExpectedError } from '../../common/expected-error.ts';
import { transaction } from '../../common/transaction.ts';
import {
  hasRows,
  identityOf,
  ROW_FILE,
  readRowFile,
  rowFileIn,
} from '../rows/row-file.ts';

/** Kind of the rows of counters by subject. */
export const COUNTERS = 'counters';
const MISSING = { throwIfNoEntry: false } as const;
/** Holds the number of the last audit entry, beside `state.db`. */
const LAST_CHANGE = 'state.last-change';

/** Files are missing in a data folder. The message names them and the remedy. */
export class IncompleteFolder extends ExpectedError {
  override name = 'IncompleteFolder';
}

/** Requires the counters with this identity in the folder from now on. */
export function nameRowFile(db: DatabaseSync, id: string): void {
  transaction(db, () => {
    db.exec('DELETE FROM counter_file');
    db.prepare('INSERT INTO counter_file VALUES (?, 0)').run(id);
  });
}

/** Whether the counters have a log beside them, which a start needs. */
export function noteRowLog(db: DatabaseSync, isThere: boolean): void {
  db.prepare('UPDATE counter_file SET log = ?').run(Number(isThere));
  // On disk before the log is removed: after a loss of power a start would miss it.
  if (!isThere) db.exec('PRAGMA wal_checkpoint');
}

/** Drops the requirement on the counters. */
export function forgetRowFile(db: DatabaseSync): void {
  db.exec('DELETE FROM counter_file');
}

/** The file of counters that `db` requires and that is missing, empty, damaged, or another one. */
export function missingRowFile(
  folder: string,
  db: DatabaseSync,
): string | null {
  const row = db.prepare('SELECT id, log FROM counter_file').get();
  if (row === undefined) return null;
  const log = `${ROW_FILE}-wal`;
  if (row.log === 1 && !existsSync(join(folder, log))) return log;
  try {
    const file = readRowFile(folder);
    if (file === null) return ROW_FILE;
    const id = identityOf(file);
    file.close();
    return id === row.id ? null : ROW_FILE;
  } catch (error) {
    if (isDamaged(error)) return ROW_FILE;
    throw error;
  }
}

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
function isDamaged(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode !== undefined && [11, 26].includes(errcode & 0xff);
}

/** Throws IncompleteFolder if counters are missing. */
export function refuseMissingRows(folder: string, db: DatabaseSync): void {
  const missing = missingRowFile(folder, db);
  if (missing !== null)
    throw incomplete(
      `${join(folder, missing)} is missing, damaged, or not of this folder, with counters and bans`,
    );
}

/** The number of the last audit entry; 0: no entries. Every change of an operator has an entry. */
export function lastChangeIn(db: DatabaseSync): number {
  const hasNumbers = db
    .prepare("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'")
    .get();
  const row =
    hasNumbers &&
    db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").get();
  return row ? Number(row.seq) : 0;
}

/** Records a change that is on disk: `state.db` must contain it from now on. */
export async function noteLastChange(
  folder: string,
  number: number,
): Promise<void> {
  await writeFile(join(folder, LAST_CHANGE), `${number}\n`, { mode: 0o600 });
}

/** The last change that `state.db` must contain; 0: unknown. */
function recordedLastChange(folder: string): number {
  const file = join(folder, LAST_CHANGE);
  return existsSync(file)
    ? Number.parseInt(readFileSync(file, 'latin1'), 10) || 0
    : 0;
}

/**
 * The values that `refuseMissingChanges` compares; `file` is the missing file, or else `state.db`.
 * Read them before opening `state.db`: other processes may make changes meanwhile.
 */
export function expectedIn(folder: string) {
  const missing = ['state.db', 'state.db-wal'].find(
    (name) => !existsSync(join(folder, name)),
  );
  return {
    file: join(folder, missing ?? 'state.db'),
    lastChange: recordedLastChange(folder),
  };
}

/** `has`: the last change in `state.db`. Throws IncompleteFolder. */
export function refuseMissingChanges(
  { file, lastChange }: ReturnType<typeof expectedIn>,
  has: number,
): void {
  const lost = lastChange - has;
  if (lost > 0)
    throw incomplete(
      `${file} is missing or too old, with keys and ${changesText(lost)}`,
    );
}

/**
 * `state.db` is missing or empty. It is as new only without counters: they are written after it.
 * Throws IncompleteFolder.
 */
export function refuseMissingState(
  folder: string,
  expected: ReturnType<typeof expectedIn>,
): void {
  refuseMissingChanges(expected, 0);
  if (hasCounters(folder))
    throw incomplete(`${expected.file} is missing, with all keys`);
}

/** A gateway on Redis keeps other rows in a folder without `state.db`. */
export function hasCounters(folder: string): boolean {
  const isThere = (statSync(rowFileIn(folder), MISSING)?.size ?? 0) > 0;
  if (!isThere) return false;
  try {
    const file = readRowFile(folder);
    const has = file !== null && hasRows(file, COUNTERS);
    file?.close();
    return has;
  } catch (error) {
    if (isDamaged(error)) return true;
    throw error;
  }
}

export function changesText(count: number): string {
  return `the last ${count === 1 ? 'change' : `${count} changes`} of operators`;
}

/** Drops the requirement on missing changes in `folder`. */
export function forgetLastChange(folder: string): void {
  rmSync(join(folder, LAST_CHANGE), { force: true });
}

function incomplete(what: string): IncompleteFolder {
  return new IncompleteFolder(
    `${what}: put it back, or run "storegate state repair" to continue without it`,
  );
}
