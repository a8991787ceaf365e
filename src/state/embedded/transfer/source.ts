import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { readRecord } from '../../../keys/key.ts';
import type { AuditEntry } from '../../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';
import type { Source } from '../../transfer/port.ts';
import { BATCH, type Batch, type Counts, type RecordType, type ValueOf } from '../../transfer/records.ts';
import { auditEntryOf, type LogName } from '../audit-log.ts';
import { fileVersion, NEWEST, openStateFile, StateFileError } from '../file.ts';
import { StagedCounters } from './counters.ts';

/**
 * A consistent read-only snapshot of a data folder, even while a gateway uses it. Throws StateFileError if the state is
 * missing or of a newer version.
 */
export async function folderSource(folder: string, clock: () => number = Date.now): Promise<Source> {
  const { db, close: closeFile } = await openToRead(folder);
  let staged: StagedCounters | null = null;
  const close = () => {
    staged?.close();
    closeFile();
  };
  try {
    db.exec('BEGIN');
    const loaded = new StagedCounters(folder, db, clock());
    staged = loaded;
    const counts = countsIn(db, loaded);
    return {
      name: folder,
      kind: 'embedded',
      isChecked: false,
      counts: () => counts,
      async *read() {
        yield* rowsIn(db);
        yield* batches('ledger', loaded.all());
        const uses = db.prepare('SELECT id, at FROM uses ORDER BY rowid').iterate();
        yield* batches(
          'use',
          uses.map((row) => ({ ...row }) as unknown as ValueOf['use']),
        );
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** A database of an older version is copied, and the copy is migrated. */
async function openToRead(folder: string) {
  const file = join(folder, 'state.db');
  if (!existsSync(file)) throw new StateFileError(`${folder} does not contain a state: state.db is missing`);
  const db = orReported(folder, () => new DatabaseSync(file, { readOnly: true, timeout: 5_000 }));
  try {
    const version = orReported(folder, () => fileVersion(db));
    if (version > NEWEST)
      throw new StateFileError(`the data folder ${folder} was written by a newer storegate (format ${version})`);
    if (version === NEWEST) return { db, close: () => db.close() };
    const copy = mkdtempSync(join(tmpdir(), 'storegate-'));
    const remove = () => rmSync(copy, { recursive: true, force: true });
    try {
      await backup(db, join(copy, 'state.db'));
      const copied = openStateFile(copy);
      db.close();
      const close = () => {
        copied.close();
        remove();
      };
      return { db: copied, close };
    } catch (error) {
      remove();
      throw error;
    }
  } catch (error) {
    if (db.isOpen) db.close();
    throw error;
  }
}

function orReported<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StateFileError(`cannot read the data folder ${folder}: ${reason}`, { cause: error });
  }
}

export function rowCount(db: DatabaseSync, table: string): number {
  return (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
}

export function countsIn(db: DatabaseSync, staged: StagedCounters): Counts {
  const count = (table: string) => rowCount(db, table);
  return {
    key: count('keys'),
    token: count('tokens'),
    audit: count('audit'),
    ban: hasBans(db) ? count('bans') : 0,
    ledger: staged.count,
    use: count('uses'),
  };
}

/** Keys, tokens and entries. */
export function* rowsIn(db: DatabaseSync): Generator<Batch> {
  const keys = db.prepare('SELECT record FROM keys ORDER BY rowid').iterate();
  const keyRecords = keys.map(({ record }) => readRecord(String(record)));
  yield* batches('key', keyRecords);
  const tokens = db.prepare('SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name').all();
  yield* batches(
    'token',
    tokens.map((row) => ({ ...row }) as unknown as TokenRecord),
  );
  yield* batches('audit', entriesIn(db, 'audit'));
  if (hasBans(db)) yield* batches('ban', entriesIn(db, 'bans'));
}

/** A file that only older versions have opened has no ban log, and this function never writes. */
function hasBans(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'bans'").get() !== undefined;
}

export function entriesIn(db: DatabaseSync, log: LogName): Iterable<AuditEntry> {
  return db.prepare(`SELECT * FROM ${log} ORDER BY number`).iterate().map(auditEntryOf);
}

function* batches<T extends RecordType>(type: T, values: Iterable<ValueOf[T]>): Generator<Batch> {
  let gathered: ValueOf[T][] = [];
  for (const value of values) {
    gathered.push(value);
    if (gathered.length < BATCH) continue;
    yield { type, values: gathered } as Batch;
    gathered = [];
  }
  if (gathered.length > 0) yield { type, values: gathered } as Batch;
}
