import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { syncFile } from '../../common/folder.ts';
import { tryLock } from '../../common/lock.ts';
import { openDatabase } from '../../common/open-database.ts';
import { transaction } from '../../common/transaction.ts';
import { hashesOf, type KeyRecord, wholeRecord } from '../keys/key.ts';
import type { TokenRecord } from '../operators/tokens.ts';

export const KEY_CACHE_FILE = 'keys-copy.db';

const KEY_CACHE_LOCK = 'keys-copy.lock';
const PAGE_SIZE = 500;

/** Another format is recreated. */
const FORMAT = 3;

const LAYOUT = `
  CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    previous TEXT,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX keys_by_previous ON keys (previous) WHERE previous IS NOT NULL;
  CREATE TABLE progress (freshness TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${FORMAT};`;

/** Metadata of the cache. Unix milliseconds by the local clock; 0: never. */
export interface Freshness {
  readonly source: string;
  /** Start of the last complete sweep. Every row was valid then, or was written later. */
  readonly swept: number;
  /** Time until which all changes are known to be received. */
  readonly fresh: number;
  readonly imported: boolean;
  readonly gateways: number;
  /** Operator tokens, which are needed most during an outage. */
  readonly tokens: readonly TokenRecord[];
}

/**
 * The key cache file for its single writer, the process that holds the lock. Its methods throw
 * SQLite errors. `source`: `KeySource.name`.
 */
export function keyCacheFileIn(
  folder: string,
  source: string,
  failed: (error: unknown) => void,
) {
  const path = join(folder, KEY_CACHE_FILE);
  let lock: ReturnType<typeof tryLock> = null;
  let opened: DatabaseSync | null = null;
  let changed: string[] = [];
  const prepare = (query: string) => opened!.prepare(query);
  const freshness = () => freshnessIn(opened!);

  function create() {
    remove();
    opened = openAt(path);
    const never: Freshness = {
      source,
      swept: 0,
      fresh: 0,
      imported: false,
      gateways: 1,
      tokens: [],
    };
    opened.exec(LAYOUT);
    prepare('INSERT INTO progress VALUES (?)').run(JSON.stringify(never));
  }

  /** A missing cache is better than a wrong one. */
  function remove() {
    opened?.close();
    opened = null;
    if (!lock) return;
    for (const end of ['', '-wal', '-shm'])
      rmSync(`${path}${end}`, { force: true });
  }

  /**
   * Reports the error, and deletes a file that cannot be written, because it would miss changes.
   */
  function discard(error: unknown) {
    failed(error);
    changed = [];
    try {
      remove();
    } catch (undeleted) {
      failed(undeleted);
    }
  }

  function forgetChanged() {
    const hashes = changed;
    changed = [];
    if (hashes.length === 0 || !opened) return;
    try {
      transaction(opened, () => forget(hashes));
    } catch (error) {
      discard(error);
    }
  }

  function forget(hashes: readonly string[]) {
    const row = prepare('DELETE FROM keys WHERE hash = ?1 OR previous = ?1');
    for (const hash of hashes) row.run(hash);
  }

  return {
    get isOpen() {
      return opened !== null;
    },
    /** Recreates the file after a change of format or source. `false`: another process owns it. */
    open() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      lock ??= tryLock(join(folder, KEY_CACHE_LOCK));
      if (!lock) return false;
      opened = openAt(path);
      if (freshness()?.source !== source) create();
      opened.exec(
        'PRAGMA temp_store = MEMORY; CREATE TEMP TABLE seen (number INTEGER PRIMARY KEY)',
      );
      return true;
    },
    get freshness() {
      return freshness()!;
    },
    setFreshness(changes: Partial<Freshness>) {
      prepare('UPDATE progress SET freshness = ?').run(
        JSON.stringify({ ...freshness(), ...changes }),
      );
    },
    /** Removes the row of a changed key, batched with all changes of this turn. */
    forgetSoon(hash: string) {
      if (changed.push(hash) === 1) setImmediate(forgetChanged);
    },
    /** Writes records read at time `at` that are not stored yet. */
    put(records: readonly KeyRecord[], at: number) {
      const find = prepare('SELECT number, record FROM keys WHERE hash = ?');
      const insert = prepare(
        'INSERT INTO keys (hash, previous, at, record) VALUES (?, ?, ?, ?)',
      );
      const see = prepare('INSERT OR IGNORE INTO seen VALUES (?)');
      transaction(opened!, () => {
        for (const record of records) {
          const { hash, previous } = record;
          const text = packKey(record);
          const row = find.get(hash);
          if (row?.record === text) {
            see.run(row.number!);
          } else {
            forget(hashesOf(record));
            see.run(
              insert.run(hash, previous?.hash ?? null, at, text)
                .lastInsertRowid,
            );
          }
        }
      });
    },
    beginSweep: () => opened!.exec('DELETE FROM seen'),
    /**
     * Removes rows of the page after `after` that were not put since `beginSweep`. Returns its end;
     * `null`: none.
     */
    removeUnseen(after: number): number | null {
      const page =
        'SELECT number FROM keys WHERE number > ? ORDER BY number LIMIT ?';
      const { last } = prepare(`SELECT max(number) AS last FROM (${page})`).get(
        after,
        PAGE_SIZE,
      )!;
      prepare(
        'DELETE FROM keys WHERE number > ? AND number <= ? AND number NOT IN seen',
      ).run(after, last!);
      return last as number | null;
    },
    /** Makes writes survive power loss. */
    flush: () => syncFile(`${path}-wal`),
    discard,
    close() {
      forgetChanged();
      opened?.close();
      opened = null;
      lock?.release();
      lock = null;
    },
  };
}

/**
 * Readable for its owner only, because it shows plans. SQLite copies the mode to its other files.
 */
function openAt(file: string): DatabaseSync {
  try {
    // Closing a descriptor drops the SQLite locks of other connections of this process, so an
    // existing file is never opened here.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
  return openDatabase(file, { timeout: 1_000 }, (db) => {
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304',
    );
    return db;
  });
}

/** `null`: a file of another format, or an incomplete one. */
export function freshnessIn(db: DatabaseSync): Freshness | null {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as {
    user_version: number;
  };
  const row =
    version === FORMAT
      ? db.prepare('SELECT freshness FROM progress').get()
      : undefined;
  return row ? (JSON.parse(row.freshness as string) as Freshness) : null;
}

/** Without the hash, which has a column, and `null` fields, which are most of a usual key. */
export function packKey(record: KeyRecord): string {
  return JSON.stringify(
    { ...record, hash: null },
    (_, value: unknown) => value ?? undefined,
  );
}

export function unpackKey(hash: string, text: string): KeyRecord {
  const fields = JSON.parse(text) as Partial<KeyRecord>;
  return wholeRecord({
    hash,
    label: null,
    windows: null,
    expiresAt: null,
    revokedAt: null,
    ...fields,
  });
}
