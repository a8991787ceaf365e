import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../../common/open-database.ts';
import type { ThreadReply } from '../../common/thread.ts';
import { transaction } from '../../common/transaction.ts';
import { KEY_INDICES } from '../../state/record-tables.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import type { LogName } from '../model/entries.ts';
import { modelIn } from '../model/model.ts';
import {
  numberOf,
  type Progress,
  progressIn,
  type Reading,
  type StoredEntry,
} from './progress.ts';
import { entryIn, recordIn, tokenIn } from './texts.ts';

/** Rows that a complete reading removes at a time. */
const PAGE_SIZE = 500;
/** Requests of a complete reading per commit: a commit writes each page of the file once. */
const REQUESTS_PER_COMMIT = 50;
/** Pages of the file in memory while it is written for the first time: 32 MiB. */
const FIRST_CACHE = -32_768;
const USUAL_CACHE = -2_000;

/** What a process asks of the writer of a copy. */
export type CopyWork =
  | { readonly type: 'save'; readonly changes: Partial<Progress> }
  /** Of a reading after the position of the copy. `at`: Unix milliseconds. */
  | { readonly type: 'take'; readonly reading: Reading; readonly at: number }
  /**
   * Begins to read all records, of an epoch in which these entries are the last ones. It has the
   * tokens from the beginning: operators need them meanwhile.
   */
  | {
      readonly type: 'begin';
      readonly begin: Pick<Progress, 'epoch' | 'audit' | 'bans'>;
      readonly tokens: readonly string[];
    }
  /** Texts of records by id, in turn; `isNewer`: what was seen is replaced too. */
  | {
      readonly type: 'records';
      readonly records: readonly string[];
      readonly isNewer: boolean;
    }
  | {
      readonly type: 'entries';
      readonly log: LogName;
      readonly entries: readonly StoredEntry[];
    }
  /** Removes keys that were not seen, among the rows after `after`. */
  | { readonly type: 'remove'; readonly after: number }
  /** After it the copy is whole, and survives a power failure. */
  | { readonly type: 'end'; readonly at: number }
  | { readonly type: 'close'; readonly changes: Partial<Progress> };

export type CopyRequest = CopyWork & { readonly number: number };

export interface CopyReply extends ThreadReply {
  readonly progress: Progress;
  /** What Redis has in place of records, which is left out. */
  readonly invalid: readonly string[];
  /** The last of the rows that were looked at; `null`: there are none. */
  readonly last: number | null;
}

/** In a thread: a file that `openCopy` has opened before. */
export function openCopyWriter(file: string) {
  return openDatabase(file, { timeout: 1_000 }, copyWriterIn);
}

/** Writes the copy of the records in Redis, for the one process that does. */
export function copyWriterIn(db: DatabaseSync) {
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
  let uncommitted = 0;
  let invalid: string[] = [];
  // Until a copy is whole, it is of no use after a power failure.
  if (!progress.isWhole)
    db.exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = ${FIRST_CACHE}`);

  function save(changes: Partial<Progress>): void {
    progress = { ...progress, ...changes };
    store.run(JSON.stringify(progress));
  }

  function addEntries(log: LogName, found: readonly StoredEntry[]) {
    for (const [id, [, text]] of found) {
      const entry = entryIn(text!);
      if (entry === null)
        invalid.push(`the entry ${id} of ${keyOf.records[log]}`);
      else model[log].add(entry, numberOf(id));
    }
  }

  function replaceTokens(texts: readonly string[]): void {
    const tokens = texts.map(tokenIn).filter((token) => token !== null);
    if (tokens.length < texts.length)
      invalid.push(`a field of ${keyOf.records.tokens}`);
    model.tokens.replaceAll(tokens);
  }

  function putRecords(texts: readonly string[], isNewer: boolean): void {
    for (let at = 0; at < texts.length; at += 2) {
      const [id, text] = [texts[at]!, texts[at + 1]!];
      if (!isNewer && isSeen.get(id) !== undefined) continue;
      if (progress.isPassing) see.run(id);
      if (textOf.get(id)?.record === text) continue;
      const record = recordIn(text);
      if (record?.id === id) model.keys.put(record, text);
      else invalid.push(`the field ${id} of ${keyOf.records.keys}`);
    }
  }

  function take({ audit, bans, records, tokens, oldest }: Reading, at: number) {
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
  }

  function remove(after: number): number | null {
    const { last } = page.get(after, PAGE_SIZE) as { last: number | null };
    if (last !== null) removeUnseen.run(after, last);
    return last;
  }

  function end(at: number) {
    if (!progress.isWhole) finishFirst();
    transaction(db, () => {
      db.exec('DELETE FROM seen');
      save({ isPassing: false, isWhole: true, confirmedAt: at });
    });
  }

  /** Nothing was synced yet, and a sorted index is made in one go. */
  function finishFirst() {
    db.exec(KEY_INDICES);
    // A checkpoint syncs the file only if it writes.
    db.exec('PRAGMA synchronous = NORMAL');
    save({});
    db.exec(
      `PRAGMA wal_checkpoint(TRUNCATE); PRAGMA cache_size = ${USUAL_CACHE}; PRAGMA shrink_memory`,
    );
  }

  function commit() {
    if (db.isTransaction) db.exec('COMMIT');
    uncommitted = 0;
  }

  /** Of a complete reading: what it has not committed is read again after a crash. */
  function inPass<T>(work: () => T): T {
    if (!db.isTransaction) db.exec('BEGIN IMMEDIATE');
    const result = work();
    uncommitted += 1;
    if (uncommitted >= REQUESTS_PER_COMMIT) commit();
    return result;
  }

  function run(work: CopyWork): number | null {
    switch (work.type) {
      case 'records':
        if (!work.isNewer) {
          inPass(() => putRecords(work.records, false));
          return null;
        }
        break;
      case 'entries':
        inPass(() => addEntries(work.log, work.entries));
        return null;
      case 'remove':
        return inPass(() => remove(work.after));
    }
    commit();
    switch (work.type) {
      case 'records':
        transaction(db, () => putRecords(work.records, true));
        break;
      case 'save':
        save(work.changes);
        break;
      case 'take':
        transaction(db, () => take(work.reading, work.at));
        break;
      case 'begin':
        transaction(db, () => {
          db.exec('DELETE FROM seen; DELETE FROM audit; DELETE FROM bans');
          replaceTokens(work.tokens);
          save({ ...work.begin, isPassing: true });
        });
        break;
      case 'end':
        end(work.at);
        break;
      case 'close':
        try {
          save(work.changes);
        } finally {
          db.close();
        }
    }
    return null;
  }

  return {
    handle({ number, ...work }: CopyRequest): CopyReply {
      invalid = [];
      const before = progress;
      try {
        const last = run(work);
        return { number, error: null, progress, invalid, last };
      } catch (error) {
        if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
        progress = before;
        const { message } = error as Error;
        return { number, error: message, progress, invalid, last: null };
      }
    },
  };
}
