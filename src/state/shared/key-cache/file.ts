import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { syncFile } from '../../../common/folder.ts';
import { tryLock } from '../../../common/lock.ts';
import { openDatabase } from '../../../common/open-database.ts';
import { transaction } from '../../../common/transaction.ts';
import { hashesOf, type KeyRecord, wholeRecord } from '../../../keys/key.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';

export const KEY_CACHE_FILE = 'keys-copy.db';

const KEY_CACHE_LOCK = 'keys-copy.lock';
const PAGE_SIZE = 500;

/** Another format is recreated. */
const FORMAT = 2;

const LAYOUT = `
  CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    previous TEXT,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX keys_by_previous ON keys (previous) WHERE previous IS NOT NULL;
  CREATE TABLE standing (freshness TEXT NOT NULL) STRICT;
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

/** The key cache file for its single writer, the process that holds the lock. Throws SQLite errors. */
export class KeyCacheFile {
  readonly #folder: string;
  readonly #path: string;
  readonly #source: string;
  readonly #failed: (error: unknown) => void;
  #lock: { release(): void } | null = null;
  #opened: DatabaseSync | null = null;
  #changed: string[] = [];

  /** `source`: `KeySource.name`. */
  constructor(folder: string, source: string, failed: (error: unknown) => void) {
    this.#folder = folder;
    this.#path = join(folder, KEY_CACHE_FILE);
    this.#source = source;
    this.#failed = failed;
  }

  get isOpen(): boolean {
    return this.#opened !== null;
  }

  /** Recreates the file after a change of format or source. `false`: another process owns it. */
  open(): boolean {
    const [folder, source] = [this.#folder, this.#source];
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#lock ??= tryLock(join(folder, KEY_CACHE_LOCK));
    if (!this.#lock) return false;
    this.#opened = openAt(this.#path);
    if (freshnessIn(this.#db)?.source !== source) {
      this.#delete();
      this.#opened = openAt(this.#path);
      const freshness: Freshness = { source, swept: 0, fresh: 0, imported: false, gateways: 1, tokens: [] };
      this.#db.exec(LAYOUT);
      this.#db.prepare('INSERT INTO standing VALUES (?)').run(JSON.stringify(freshness));
    }
    this.#db.exec('PRAGMA temp_store = MEMORY; CREATE TEMP TABLE seen (number INTEGER PRIMARY KEY)');
    return true;
  }

  get freshness(): Freshness {
    return freshnessIn(this.#db)!;
  }

  setFreshness(changes: Partial<Freshness>): void {
    const freshness = JSON.stringify({ ...this.freshness, ...changes });
    this.#db.prepare('UPDATE standing SET freshness = ?').run(freshness);
  }

  /** Removes the row of a changed key, batched with all changes of this turn. */
  forgetSoon(hash: string): void {
    if (this.#changed.push(hash) === 1) setImmediate(() => this.#forgetChanged());
  }

  /** Writes records read at time `at` that are not stored yet. */
  put(records: readonly KeyRecord[], at: number): void {
    const find = this.#db.prepare('SELECT number, record FROM keys WHERE hash = ?');
    const insert = this.#db.prepare('INSERT INTO keys (hash, previous, at, record) VALUES (?, ?, ?, ?)');
    const see = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?)');
    transaction(this.#db, () => {
      for (const record of records) {
        const { hash, previous } = record;
        const text = packKey(record);
        const row = find.get(hash);
        if (row?.record === text) {
          see.run(row.number!);
        } else {
          this.#forget(hashesOf(record));
          see.run(insert.run(hash, previous?.hash ?? null, at, text).lastInsertRowid);
        }
      }
    });
  }

  beginSweep(): void {
    this.#db.exec('DELETE FROM seen');
  }

  /** Removes rows of the page after `after` that were not put since `beginSweep`. Returns its end; `null`: no page. */
  removeUnseen(after: number): number | null {
    const page = 'SELECT number FROM keys WHERE number > ? ORDER BY number LIMIT ?';
    const { last } = this.#db.prepare(`SELECT max(number) AS last FROM (${page})`).get(after, PAGE_SIZE)!;
    this.#db.prepare('DELETE FROM keys WHERE number > ? AND number <= ? AND number NOT IN seen').run(after, last!);
    return last as number | null;
  }

  /** Makes writes survive power loss. */
  flush(): Promise<void> {
    return syncFile(`${this.#path}-wal`);
  }

  /** Reports the error, and deletes a file that cannot be written, because it would miss changes. */
  discard(error: unknown): void {
    this.#failed(error);
    this.#changed = [];
    try {
      this.#delete();
    } catch (undeleted) {
      this.#failed(undeleted);
    }
  }

  close(): void {
    this.#forgetChanged();
    this.#opened?.close();
    this.#opened = null;
    this.#lock?.release();
    this.#lock = null;
  }

  get #db(): DatabaseSync {
    return this.#opened!;
  }

  /** A missing cache is better than a wrong one. */
  #delete(): void {
    this.#opened?.close();
    this.#opened = null;
    if (!this.#lock) return;
    for (const end of ['', '-wal', '-shm']) rmSync(`${this.#path}${end}`, { force: true });
  }

  #forgetChanged(): void {
    const hashes = this.#changed;
    this.#changed = [];
    if (hashes.length === 0 || !this.#opened) return;
    try {
      transaction(this.#db, () => this.#forget(hashes));
    } catch (error) {
      this.discard(error);
    }
  }

  #forget(hashes: readonly string[]): void {
    const remove = this.#db.prepare('DELETE FROM keys WHERE hash = ?1 OR previous = ?1');
    for (const hash of hashes) remove.run(hash);
  }
}

/** Readable for its owner only, because it shows plans. SQLite copies the mode to its other files. */
function openAt(file: string): DatabaseSync {
  try {
    // Closing a descriptor drops the SQLite locks of other connections of this process, so an existing file is never
    // opened here.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
  return openDatabase(file, { timeout: 1_000 }, (db) => {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304');
    return db;
  });
}

/** `null`: a file of another format, or an incomplete one. */
export function freshnessIn(db: DatabaseSync): Freshness | null {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  const row = version === FORMAT ? db.prepare('SELECT freshness FROM standing').get() : undefined;
  return row ? (JSON.parse(row.freshness as string) as Freshness) : null;
}

/** Without the hash, which has a column, and `null` fields, which are most of a usual key. */
export function packKey(record: KeyRecord): string {
  return JSON.stringify({ ...record, hash: null }, (_, value: unknown) => value ?? undefined);
}

export function unpackKey(hash: string, text: string): KeyRecord {
  const fields = JSON.parse(text) as Partial<KeyRecord>;
  return wholeRecord({ hash, label: null, windows: null, expiresAt: null, revokedAt: null, ...fields });
}
