import type { DatabaseSync } from 'node:sqlite';
import { readRecord } from '../../../keys/key.ts';
import type { AuditEntry } from '../../../keys/operators/audit-log.ts';
import { type Counters, staleAt } from '../../../limits/counters.ts';
import {
  BATCH,
  type Batch,
  type Counts,
  type RecordType,
  type Source,
  type ValueOf,
} from '../../transfer/records.ts';
import { auditEntryOf, type LogName } from '../audit-log.ts';
import { readCounters } from '../counter-store.ts';
import { readStateFile } from '../file.ts';

/**
 * A consistent read-only snapshot of a data folder, even while a gateway uses it, with the checks
 * of a start. `damaged` receives a sentence for each damaged file. Throws StateFileError,
 * JournalError and IncompleteFolder.
 */
export function folderSource(
  folder: string,
  clock: () => number = Date.now,
  damaged?: (damage: string) => void,
): Source {
  const db = readStateFile(folder);
  try {
    const bySubject = countersOf(folder, db, { now: clock(), damaged });
    db.exec('BEGIN');
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

interface CounterReading {
  /** Unix milliseconds. */
  readonly now: number;
  readonly damaged: ((damage: string) => void) | undefined;
}

/** The counters of a folder that are not expired at `now`. Throws as `readCounters`. */
export function countersOf(folder: string, db: DatabaseSync, reading: CounterReading) {
  const { now, damaged } = reading;
  const bySubject = readCounters(folder, db, damaged);
  for (const [subject, counters] of bySubject)
    if (staleAt(counters) <= now) bySubject.delete(subject);
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
  const tokens = rows<ValueOf['token']>(
    db,
    'SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name',
  );
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
