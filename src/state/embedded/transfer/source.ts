import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../../../common/open-database.ts';
import { readRecord } from '../../../keys/key.ts';
import type { AuditEntry } from '../../../keys/operators/audit-log.ts';
import { type Counters, staleAt } from '../../../limits/counters.ts';
import { BATCH, type Batch, type Counts, type RecordType, type Source, type ValueOf } from '../../transfer/records.ts';
import { auditEntryOf, type LogName } from '../audit-log.ts';
import { readCounters } from '../counter-store.ts';
import { FILE_VERSION, fileVersion, otherVersion, reasonOf, StateFileError } from '../file.ts';

/**
 * A consistent read-only snapshot of a data folder, even while a gateway uses it. Throws StateFileError if the state is
 * missing or of another version.
 */
export function folderSource(folder: string, clock: () => number = Date.now): Source {
  const db = openToRead(folder);
  try {
    db.exec('BEGIN');
    const bySubject = countersOf(folder, clock());
    const counts = countsIn(db, bySubject);
    return {
      name: folder,
      kind: 'embedded',
      isChecked: false,
      counts: () => counts,
      async *read() {
        yield* rowsIn(db);
        const counted = bySubject.entries().map(([subject, counters]) => ({ subject, counters }));
        yield* batches('ledger', counted);
        yield* batches('use', rows<ValueOf['use']>(db, 'SELECT id, at FROM uses ORDER BY rowid'));
      },
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function openToRead(folder: string): DatabaseSync {
  const file = join(folder, 'state.db');
  if (!existsSync(file)) throw new StateFileError(`${folder} does not contain a state: state.db is missing`);
  try {
    return openDatabase(file, { readOnly: true, timeout: 5_000 }, (db) => {
      const version = fileVersion(db);
      if (version !== FILE_VERSION) throw otherVersion(`the data folder ${folder}`, version);
      return db;
    });
  } catch (error) {
    if (error instanceof StateFileError) throw error;
    throw new StateFileError(`cannot read the data folder ${folder}: ${reasonOf(error)}`, { cause: error });
  }
}

/** The counters of a folder that are not expired at `now`. Throws JournalError. */
export function countersOf(folder: string, now: number): Map<string, Counters> {
  const bySubject = readCounters(folder);
  for (const [subject, counters] of bySubject) if (staleAt(counters) <= now) bySubject.delete(subject);
  return bySubject;
}

export function rowCount(db: DatabaseSync, table: string): number {
  return (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
}

export function countsIn(db: DatabaseSync, bySubject: ReadonlyMap<string, Counters>): Counts {
  const count = (table: string) => rowCount(db, table);
  return {
    key: count('keys'),
    token: count('tokens'),
    audit: count('audit'),
    ban: count('bans'),
    ledger: bySubject.size,
    use: count('uses'),
  };
}

/** Keys, tokens and entries. */
export function* rowsIn(db: DatabaseSync): Generator<Batch> {
  const keys = db.prepare('SELECT record FROM keys ORDER BY rowid').iterate();
  const keyRecords = keys.map(({ record }) => readRecord(String(record)));
  yield* batches('key', keyRecords);
  const tokens = rows<ValueOf['token']>(db, 'SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name');
  yield* batches('token', tokens);
  yield* batches('audit', entriesIn(db, 'audit'));
  yield* batches('ban', entriesIn(db, 'bans'));
}

/** As plain objects. */
function rows<T>(db: DatabaseSync, query: string): Iterable<T> {
  return db
    .prepare(query)
    .iterate()
    .map((row) => ({ ...row }) as T);
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
