import { closeSync, fdatasync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { syncFile } from '../../common/folder.ts';
import { openDatabase } from '../../common/open-database.ts';
import { transaction } from '../../common/transaction.ts';
import { makeDataFolder } from '../../state/data-folder.ts';
import { RECORD_TABLES } from '../../state/record-tables.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { type Model, modelIn } from '../model/model.ts';
import { entryIn, recordIn, tokenIn } from './texts.ts';

export const COPY_FILE = 'records.db';

const PAGE_SIZE = 500;

/** Another format is replaced. */
const FORMAT = 2;

/** The id of an entry before the first one. */
export const BEFORE_ALL = '0-0';

/** How far a copy is. */
export interface Progress {
  /** The Redis that it is a copy of, without passwords. */
  readonly source: string;
  readonly epoch: string;
  /** Ids of the last entries in it. */
  readonly audit: string;
  readonly bans: string;
  /** Whether it was whole. */
  readonly isWhole: boolean;
  /** Whether all records are being read again. */
  readonly isPassing: boolean;
  /** Unix milliseconds by the local clock: every change before is in it. */
  readonly confirmedAt: number;
  /** Running gateways, as last counted. */
  readonly gateways: number;
}

/** An entry in Redis: its id, and its fields. */
export type StoredEntry = readonly [id: string, fields: readonly string[]];

/** What a reading brings. */
export interface Reading {
  readonly audit: readonly StoredEntry[];
  readonly bans: readonly StoredEntry[];
  /** Texts of records by id, in turn. */
  readonly records: readonly string[];
  /** `null`: unchanged. */
  readonly tokens: readonly string[] | null;
  /** Numbers of the oldest entries that Redis has; 0: none. */
  readonly oldest: { readonly audit: number; readonly bans: number };
}

export type Copy = ReturnType<typeof copyIn>;

/**
 * Opens or creates the copy in a folder, or in memory (`null`), to write it. `invalid` is called
 * with what Redis has in place of a record, which is left out.
 */
export function openCopy(
  folder: string | null,
  source: string,
  invalid: (what: string) => void,
): Copy {
  if (folder !== null) makeDataFolder(folder);
  const file = folder === null ? ':memory:' : join(folder, COPY_FILE);
  const open = () =>
    openDatabase(file, { timeout: 1_000 }, (db) => {
      if (!isOfThisFormat(db)) throw new Error('another format');
      return db;
    });
  if (file !== ':memory:') {
    try {
      const db = open();
      const { isWhole, source: copied } = progressIn(db)();
      if (isWhole && copied === source) return copyIn(db, invalid);
      db.close();
    } catch {
      // Missing, damaged, not whole or of another format: a new one replaces it.
    }
    removeCopy(folder!);
  }
  return openDatabase(file, { timeout: 1_000 }, (db) => {
    create(db, source);
    return copyIn(db, invalid);
  });
}

export function removeCopy(folder: string): void {
  for (const end of ['', '-wal', '-shm'])
    rmSync(`${join(folder, COPY_FILE)}${end}`, { force: true });
}

export function isOfThisFormat(db: DatabaseSync): boolean {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as {
    user_version: number;
  };
  return version === FORMAT;
}

function create(db: DatabaseSync, source: string): void {
  const none: Progress = {
    source,
    epoch: '',
    audit: BEFORE_ALL,
    bans: BEFORE_ALL,
    isWhole: false,
    isPassing: false,
    confirmedAt: 0,
    gateways: 1,
  };
  // The journal limit keeps the log of a complete reading from staying on disk.
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304',
  );
  transaction(db, () => {
    db.exec(`${RECORD_TABLES}
      CREATE TABLE progress (value TEXT NOT NULL) STRICT;
      PRAGMA user_version = ${FORMAT};`);
    db.prepare('INSERT INTO progress VALUES (?)').run(JSON.stringify(none));
  });
}

export function progressIn(db: DatabaseSync): () => Progress {
  const row = db.prepare('SELECT value FROM progress');
  return () => JSON.parse((row.get() as { value: string }).value) as Progress;
}

/** The copy of the records in Redis, for the one process that writes it. */
function copyIn(db: DatabaseSync, invalid: (what: string) => void) {
  db.exec(
    'PRAGMA temp_store = MEMORY; CREATE TEMP TABLE seen (id TEXT PRIMARY KEY) WITHOUT ROWID',
  );
  const model = modelIn(db);
  const store = db.prepare('UPDATE progress SET value = ?');
  const textOf = db.prepare('SELECT record FROM keys WHERE id = ?');
  const see = db.prepare('INSERT OR IGNORE INTO seen VALUES (?)');
  const isSeen = db.prepare('SELECT 1 FROM seen WHERE id = ?');
  const page = db.prepare(
    'SELECT max(number) AS last FROM (SELECT rowid AS number FROM keys WHERE rowid > ? ORDER BY rowid LIMIT ?)',
  );
  const removeUnseen = db.prepare(
    'DELETE FROM keys WHERE rowid > ? AND rowid <= ? AND id NOT IN seen',
  );
  const drop = {
    audit: db.prepare('DELETE FROM audit WHERE number < ?'),
    bans: db.prepare('DELETE FROM bans WHERE number < ?'),
  };
  let progress = progressIn(db)();
  const syncFirst = firstSyncOf(db);
  if (!progress.isWhole) db.exec('PRAGMA synchronous = OFF');

  function save(changes: Partial<Progress>): void {
    progress = { ...progress, ...changes };
    store.run(JSON.stringify(progress));
  }

  function addEntries(log: 'audit' | 'bans', found: readonly StoredEntry[]) {
    for (const [id, [, text]] of found) {
      const entry = entryIn(text!);
      if (entry === null) invalid(`the entry ${id} of ${keyOf.records[log]}`);
      else model[log].add(entry, numberOf(id));
    }
  }

  function replaceTokens(texts: readonly string[]): void {
    const tokens = texts.map(tokenIn).filter((token) => token !== null);
    if (tokens.length < texts.length)
      invalid(`a field of ${keyOf.records.tokens}`);
    model.tokens.replaceAll(tokens);
  }

  /** `isNewer`: what a complete reading has seen is replaced too. */
  function putRecords(texts: readonly string[], isNewer: boolean): void {
    for (let at = 0; at < texts.length; at += 2) {
      const [id, text] = [texts[at]!, texts[at + 1]!];
      if (!isNewer && isSeen.get(id) !== undefined) continue;
      if (progress.isPassing) see.run(id);
      if (textOf.get(id)?.record === text) continue;
      const record = recordIn(text);
      if (record?.id === id) model.keys.put(record, text);
      else invalid(`the field ${id} of ${keyOf.records.keys}`);
    }
  }

  return {
    db,
    model: model as Model,
    get progress() {
      return progress;
    },
    save,
    /** Of a reading after the position of the copy. */
    take({ audit, bans, records, tokens, oldest }: Reading, at: number): void {
      transaction(db, () => {
        addEntries('audit', audit);
        addEntries('bans', bans);
        drop.audit.run(oldest.audit);
        drop.bans.run(oldest.bans);
        putRecords(records, true);
        if (tokens) replaceTokens(tokens);
        save({
          audit: audit.at(-1)?.[0] ?? progress.audit,
          bans: bans.at(-1)?.[0] ?? progress.bans,
          ...(!progress.isPassing && { confirmedAt: at }),
        });
      });
    },
    /**
     * Begins to read all records, of an epoch in which these entries are the last ones. It has the
     * tokens from the beginning: operators need them meanwhile.
     */
    beginPass(
      begin: Pick<Progress, 'epoch' | 'audit' | 'bans'>,
      tokens: readonly string[],
    ): void {
      transaction(db, () => {
        db.exec('DELETE FROM seen; DELETE FROM audit; DELETE FROM bans');
        replaceTokens(tokens);
        save({ ...begin, isPassing: true });
      });
    },
    takeRecords: (records: readonly string[]) =>
      transaction(db, () => putRecords(records, false)),
    /** Like `take`, but leaves the position. */
    takeNewer: (records: readonly string[]) =>
      transaction(db, () => putRecords(records, true)),
    takeEntries: (log: 'audit' | 'bans', found: readonly StoredEntry[]) =>
      transaction(db, () => addEntries(log, found)),
    /**
     * Removes keys that the pass has not seen, among the rows after `after`. Returns the last of
     * these rows; `null`: there are none.
     */
    removeUnseen(after: number): number | null {
      const { last } = page.get(after, PAGE_SIZE) as { last: number | null };
      if (last !== null) removeUnseen.run(after, last);
      return last;
    },
    /** What was read survives a power failure. Before the end of the first pass. */
    async sync(): Promise<void> {
      if (!progress.isWhole) await syncFirst();
    },
    endPass(at: number): void {
      transaction(db, () => {
        db.exec('DELETE FROM seen');
        save({ isPassing: false, isWhole: true, confirmedAt: at });
      });
    },
    close() {
      db.close();
      syncFirst.close();
    },
  };
}

/**
 * Until a copy is whole nothing of it is synced, because it is of no use after a power failure. The
 * result makes all of it durable: most of it on the thread pool, so that requests are served
 * meanwhile.
 */
function firstSyncOf(db: DatabaseSync) {
  const file = db.location();
  let fd: number | null = null;

  async function sync() {
    if (file === null) return;
    await syncFile(`${file}-wal`);
    if (!db.isOpen) return;
    fd ??= openSync(file, 'r+');
    await promisify(fdatasync)(fd);
    db.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint');
  }

  /** After the database: closing any descriptor of the file drops the locks of SQLite on it. */
  function close() {
    if (fd !== null) closeSync(fd);
    fd = null;
  }
  return Object.assign(sync, { close });
}

export function numberOf(id: string): number {
  return Number.parseInt(id, 10);
}
