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

interface OpenedFolder {
  readonly db: DatabaseSync;
  readonly close: () => void;
}

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
        yield* batches('use', usesIn(db));
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** A database of an older version is copied, and the copy is migrated. */
async function openToRead(folder: string): Promise<OpenedFolder> {
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

function countsIn(db: DatabaseSync, loaded: StagedCounters): Counts {
  const count = (table: string) => (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  return {
    key: count('keys'),
    token: count('tokens'),
    audit: count('audit'),
    ban: hasBans(db) ? count('bans') : 0,
    ledger: loaded.count,
    use: count('uses'),
  };
}

/** Keys, tokens and entries. */
export function* rowsIn(db: DatabaseSync): Generator<Batch> {
  yield* batches('key', keysIn(db));
  yield* batches('token', tokensIn(db));
  yield* batches('audit', entriesIn(db, 'audit'));
  if (hasBans(db)) yield* batches('ban', entriesIn(db, 'bans'));
}

function* keysIn(db: DatabaseSync): Generator<ValueOf['key']> {
  for (const row of db.prepare('SELECT record FROM keys ORDER BY rowid').iterate())
    yield readRecord((row as { record: string }).record);
}

function tokensIn(db: DatabaseSync): Iterable<TokenRecord> {
  const rows = db.prepare('SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name').all();
  return rows.map((row) => ({ ...row }) as unknown as TokenRecord);
}

/** A file that only older versions have opened has no ban log, and this function never writes. */
function hasBans(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'bans'").get() !== undefined;
}

function* entriesIn(db: DatabaseSync, log: LogName): Generator<AuditEntry> {
  for (const row of db.prepare(`SELECT * FROM ${log} ORDER BY number`).iterate()) yield auditEntryOf(row);
}

function* usesIn(db: DatabaseSync): Generator<ValueOf['use']> {
  for (const row of db.prepare('SELECT id, at FROM uses ORDER BY rowid').iterate()) {
    const { id, at } = row as unknown as ValueOf['use'];
    yield { id, at };
  }
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
