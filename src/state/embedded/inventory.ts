import { existsSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { ExpectedError } from '../../common/expected-error.ts';
import { transaction } from '../../common/transaction.ts';
import { generationFile, headerOf } from '../journal/format.ts';
import { filesOf } from '../journal/read.ts';

/** Counter files are named `counters.<generation>.log`. */
export const COUNTER_FILES = 'counters';
/** Holds the number of the last audit entry, beside `state.db`. */
const LAST_CHANGE = 'state.last-change';

/** Files are missing in a data folder. The message names them and the remedy. */
export class IncompleteFolder extends ExpectedError {
  override name = 'IncompleteFolder';
}

/** Records the required counter files. */
export function nameGenerations(
  db: DatabaseSync,
  generations: readonly number[],
): void {
  transaction(db, () => {
    db.exec('DELETE FROM counter_files');
    const insert = db.prepare('INSERT INTO counter_files VALUES (?)');
    for (const generation of generations) insert.run(generation);
  });
}

/**
 * The required counter files that are missing or empty. A gateway may replace files meanwhile, so
 * the comparison counts only if the requirement was the same before and after it. Call it outside
 * transactions.
 */
export function missingCounterFiles(
  folder: string,
  db: DatabaseSync,
): string[] {
  for (let needed = generationsNamedIn(db); ; ) {
    const missing = missingOf(needed, wholeGenerationsIn(folder));
    const again = generationsNamedIn(db);
    if (missing.length === 0 || isDeepStrictEqual(needed, again))
      return missing.map((number) => generationFile(COUNTER_FILES, number));
    needed = again;
  }
}

/**
 * Files newer than all required files replace them: a version that does not record files has
 * written them.
 */
function missingOf(
  needed: readonly number[],
  there: readonly number[],
): number[] {
  if (there.some((number) => number > needed.at(-1)!)) return [];
  return needed.filter((number) => !there.includes(number));
}

function generationsNamedIn(db: DatabaseSync): number[] {
  const named = db
    .prepare('SELECT generation FROM counter_files ORDER BY generation')
    .all();
  return named.map(({ generation }) => Number(generation));
}

/** The counter files in a folder that are not empty. */
export function wholeGenerationsIn(folder: string): number[] {
  const smallest = headerOf(COUNTER_FILES).length;
  return filesOf(folder, COUNTER_FILES)
    .filter(({ size }) => size >= smallest)
    .map(({ number }) => number);
}

/** Throws IncompleteFolder if counter files are missing. */
export function refuseMissingCounterFiles(
  folder: string,
  db: DatabaseSync,
): void {
  const missing = missingCounterFiles(folder, db);
  if (missing.length === 0) return;
  const files = missing.map((file) => join(folder, file)).join(', ');
  throw incomplete(
    `${files} ${missing.length === 1 ? 'is' : 'are'} missing or empty, with counters and bans`,
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
export function recordedLastChange(folder: string): number {
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

export const hasCounters = (folder: string): boolean =>
  existsSync(folder) && wholeGenerationsIn(folder).length > 0;

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
