import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Lock } from '../../common/lock.ts';
import {
  addUpUsage,
  addUsage,
  hasUsageOfKeys,
  usageIn,
} from '../../ledger/moved-usage.ts';
import { type Counters, staleAt } from '../../limits/counters.ts';
import {
  readCounters,
  replaceCounters,
} from '../../state/embedded/counter-store.ts';
import {
  makeFolder,
  openStateFile,
  readStateFile,
  StateFileError,
} from '../../state/embedded/file.ts';
import {
  expectedIn,
  refuseMissingState,
} from '../../state/embedded/inventory.ts';
import { lockFolder, lockStoppedFolder } from '../../state/embedded/lock.ts';
import { importUsageInto, readUsageIn } from '../../state/usage-folder.ts';
import { usesInFile } from '../embedded/records.ts';
import type { KeyRecord } from '../keys/key.ts';
import { modelIn } from '../model/model.ts';
import { counterLine, countersIn } from './counter-line.ts';
import {
  type Adders,
  addWith,
  BATCH,
  type Batch,
  type Counts,
  noCounts,
  type RecordType,
  type Source,
  type Target,
  type ValueOf,
} from './form.ts';

interface FolderOptions {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Receives a sentence for each damaged file. */
  readonly damaged?: (damage: string) => void;
}

/**
 * A consistent read-only snapshot of a data folder, even while a gateway uses it, with the checks
 * of a start. Throws StateFileError, JournalError and IncompleteFolder.
 */
export function folderSource(folder: string, options: FolderOptions): Source {
  const db = readStateFile(folder);
  const lock = lockIfStopped(folder);
  const close = () => {
    db.close();
    lock?.release();
  };
  try {
    const bySubject = countersOf(folder, db, options);
    db.exec('BEGIN');
    const ledger = readUsageIn(folder);
    return {
      name: folder,
      kind: 'embedded',
      isChecked: false,
      isStopped: lock !== null,
      counts: () => countsIn(folder, db, bySubject),
      async *read() {
        yield* recordsIn(db, bySubject);
        for await (const values of usageIn(ledger))
          yield { type: 'usage', values };
      },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** `null`: a gateway counts in it, or this process may not lock it. */
function lockIfStopped(folder: string): Lock | null {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (error instanceof StateFileError) return null;
    throw error;
  }
}

/**
 * A data folder that no gateway uses, as a target; created if missing, but not in a dry run. The
 * import is all or nothing: rows in one transaction, and just before its commit the counters
 * replace all others. Throws as a start.
 */
export function folderTarget(
  folder: string,
  { dryRun, ...options }: FolderOptions & { readonly dryRun: boolean },
): Target {
  if (!existsSync(join(folder, 'state.db'))) {
    refuseMissingState(folder, expectedIn(folder));
    if (dryRun) return missingFolder(folder);
  }
  makeFolder(folder);
  const lock = lockStoppedFolder(folder);
  let db: DatabaseSync | null = null;
  const ledger = importUsageInto(folder);
  const close = async () => {
    // Rolls an unfinished import back.
    db?.close();
    db = null;
    await ledger.discard();
    lock.release();
  };
  try {
    db = openStateFile(folder);
    const bySubject = countersOf(folder, db, options);
    db.exec(
      'PRAGMA synchronous = FULL; PRAGMA cache_size = -24576; BEGIN IMMEDIATE',
    );
    const target = targetIn(folder, { db, bySubject, ledger }, options);
    return { ...target, close };
  } catch (error) {
    db?.close();
    lock.release();
    throw error;
  }
}

function missingFolder(name: string): Target {
  return {
    name,
    isState: true,
    counts: noCounts,
    hasUsageOfKeys: () => false,
    add() {},
    finish() {},
    close() {},
  };
}

interface OpenFolder {
  readonly db: DatabaseSync;
  readonly bySubject: Map<string, Counters>;
  readonly ledger: ReturnType<typeof importUsageInto>;
}

function targetIn(
  folder: string,
  open: OpenFolder,
  { clock }: FolderOptions,
): Omit<Target, 'close'> {
  const { db, bySubject, ledger } = open;
  const adders = addersIn(open, clock);
  return {
    name: folder,
    isState: true,
    counts: () => countsIn(folder, db, bySubject),
    hasUsageOfKeys: () => hasUsageOfKeys(readUsageIn(folder)),
    add: (batch) => addWith(adders, batch),
    async finish(entry, { isCopy }) {
      if (isCopy) await addUpUsage(ledger.open(), entry.at);
      modelIn(db).audit.add(entry);
      await ledger.place();
      // First the write that may exceed the disk space: all else is already in the database log.
      replaceCounters(folder, db, bySubject);
      db.exec('COMMIT');
    },
  };
}

function addersIn(
  { db, bySubject, ledger }: OpenFolder,
  clock: FolderOptions['clock'],
): Adders {
  const model = modelIn(db);
  const uses = usesInFile(db);

  return {
    key(records) {
      for (const record of records) model.keys.put(record);
    },
    token(tokens) {
      for (const token of tokens) model.tokens.add(token);
    },
    audit(entries) {
      for (const entry of entries) model.audit.add(entry, entry.number);
    },
    ban(entries) {
      for (const entry of entries) model.bans.add(entry, entry.number);
    },
    counters(lines) {
      for (const line of lines) bySubject.set(line.subject, countersIn(line));
    },
    use: (given) =>
      uses.save(new Map(given.map(({ id, at }) => [id, at])), clock()),
    usage: (values) => addUsage(ledger.open(), values),
  };
}

/** The counters of a folder that are not expired. Throws as `readCounters`. */
function countersOf(
  folder: string,
  db: DatabaseSync,
  { clock, damaged }: FolderOptions,
) {
  const now = clock();
  const bySubject = readCounters(folder, db, damaged);
  for (const [subject, counters] of bySubject)
    if (staleAt(counters) <= now) bySubject.delete(subject);
  return bySubject;
}

async function countsIn(
  folder: string,
  db: DatabaseSync,
  bySubject: ReadonlyMap<string, Counters>,
): Promise<Counts> {
  const ledger = readUsageIn(folder);
  const { parts, sizes } = await ledger.index();
  const count = (table: string) =>
    (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  return {
    key: count('keys'),
    token: count('tokens'),
    audit: count('audit'),
    ban: count('bans'),
    counters: bySubject.size,
    use: count('uses'),
    usage: parts.size + sizes.size,
  };
}

function* recordsIn(
  db: DatabaseSync,
  bySubject: ReadonlyMap<string, Counters>,
): Generator<Batch> {
  const rows = (query: string) => db.prepare(query).iterate();
  const model = modelIn(db);
  const plain = <T>(row: object) => ({ ...row }) as T;
  yield* batches(
    'key',
    rows('SELECT record FROM keys ORDER BY rowid').map(
      ({ record }) => JSON.parse(String(record)) as KeyRecord,
    ),
  );
  yield* batches('token', model.tokens.list());
  yield* batches('audit', model.audit.all());
  yield* batches('ban', model.bans.all());
  yield* batches(
    'counters',
    bySubject
      .entries()
      .map(([subject, counters]) => counterLine(subject, counters)),
  );
  yield* batches(
    'use',
    rows('SELECT id, at FROM uses ORDER BY rowid').map(plain<ValueOf['use']>),
  );
}

function* batches<T extends RecordType>(
  type: T,
  values: Iterable<ValueOf[T]>,
): Generator<Batch<T>> {
  let gathered: ValueOf[T][] = [];
  for (const value of values) {
    gathered.push(value);
    if (gathered.length < BATCH) continue;
    yield { type, values: gathered };
    gathered = [];
  }
  if (gathered.length > 0) yield { type, values: gathered };
}
