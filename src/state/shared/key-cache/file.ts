import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { syncFile } from '../../../common/folder.ts';
import { transaction } from '../../../common/transaction.ts';
import type { KeyRecord } from '../../../keys/key.ts';
import { FORMAT, type Freshness, freshnessIn, KEY_CACHE_FILE } from './freshness.ts';
import { hashColumn, pack } from './packing.ts';

const LAYOUT = `
  CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    hash ANY NOT NULL,
    previous ANY,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX keys_by_hash ON keys (hash);
  CREATE UNIQUE INDEX keys_by_previous ON keys (previous) WHERE previous IS NOT NULL;
  CREATE TABLE standing (
    source TEXT NOT NULL,
    swept INTEGER NOT NULL,
    fresh INTEGER NOT NULL,
    imported INTEGER NOT NULL,
    gateways INTEGER NOT NULL,
    tokens TEXT NOT NULL
  ) STRICT;
  PRAGMA user_version = ${FORMAT};`;

const PAGE_SIZE = 500;

/**
 * The key cache file, for its single writer. A row maps the hash of a key's current or previous secret to its record.
 * Methods throw SQLite errors.
 */
export class KeyCacheFile {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #forget: StatementSync;
  readonly #forgetPrevious: StatementSync;

  private constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#file = file;
    this.#find = db.prepare('SELECT number, previous, record FROM keys WHERE hash = ?');
    this.#insert = db.prepare('INSERT INTO keys (hash, previous, at, record) VALUES (?, ?, ?, ?)');
    this.#forget = db.prepare('DELETE FROM keys WHERE hash = ?');
    this.#forgetPrevious = db.prepare('DELETE FROM keys WHERE previous = ?');
  }

  /** Opens or creates the cache in `folder`; recreates it after a change of format or source. */
  static open(folder: string, source: string): KeyCacheFile {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, KEY_CACHE_FILE);
    const kept = openAt(file);
    if (freshnessIn(kept)?.source === source) return new KeyCacheFile(kept, file);
    kept.close();
    KeyCacheFile.discard(folder);
    const db = openAt(file);
    db.exec(LAYOUT);
    db.prepare("INSERT INTO standing VALUES (?, 0, 0, 0, 1, '[]')").run(source);
    return new KeyCacheFile(db, file);
  }

  /** Deletes the cache: a missing cache is better than a wrong one. No process may have it open for writing. */
  static discard(folder: string): void {
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `${KEY_CACHE_FILE}${end}`), { force: true });
  }

  get freshness(): Freshness {
    return freshnessIn(this.#db)!;
  }

  setFreshness({ swept, fresh, imported, gateways, tokens }: Omit<Freshness, 'source'>): void {
    const change = this.#db.prepare('UPDATE standing SET swept = ?, fresh = ?, imported = ?, gateways = ?, tokens = ?');
    change.run(swept, fresh, Number(imported), gateways, JSON.stringify(tokens));
  }

  forget(hashes: readonly string[]): void {
    transaction(this.#db, () => {
      for (const hash of hashes) this.#forgetHash(hash);
    });
  }

  /** Writes records read at time `at` that are not stored yet, and adds all their rows to `seen`. */
  put(records: readonly KeyRecord[], at: number, seen: Bits): void {
    transaction(this.#db, () => {
      for (const record of records) seen.add(this.#keepOne(record, at));
    });
  }

  /** Removes one page of rows after `after` that are not in `seen`. Returns the last row; `null`: finished. */
  removeUnseen(seen: Bits, after: number): number | null {
    const page = this.#db
      .prepare('SELECT number FROM keys WHERE number > ? ORDER BY number LIMIT ?')
      .all(after, PAGE_SIZE);
    const numbers = (page as { number: number }[]).map(({ number }) => number);
    const remove = this.#db.prepare('DELETE FROM keys WHERE number = ?');
    transaction(this.#db, () => {
      for (const number of numbers) if (!seen.has(number)) remove.run(number);
    });
    return numbers.length < PAGE_SIZE ? null : numbers.at(-1)!;
  }

  /** Makes writes survive power loss. */
  flush(): Promise<void> {
    return syncFile(`${this.#file}-wal`);
  }

  close(): void {
    this.#db.close();
  }

  #keepOne(record: KeyRecord, at: number): number {
    const { hash, previous, record: text } = pack(record);
    const row = this.#find.get(hash) as { number: number; previous: unknown; record: string } | undefined;
    if (row && row.record === text && isSame(row.previous, previous)) return row.number;
    this.#forgetHash(record.hash);
    if (record.previous) this.#forgetHash(record.previous.hash);
    return Number(this.#insert.run(hash, previous, at, text).lastInsertRowid);
  }

  #forgetHash(hash: string): void {
    const column = hashColumn(hash);
    this.#forget.run(column);
    this.#forgetPrevious.run(column);
  }
}

function isSame(one: unknown, other: Uint8Array | string | null): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  return one === other;
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
  const db = new DatabaseSync(file, { timeout: 1_000 });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A set of row numbers. */
export class Bits {
  #bits = new Uint8Array(1024);

  add(number: number): void {
    const at = number >> 3;
    if (at >= this.#bits.length) {
      const more = new Uint8Array(Math.max(at + 1, this.#bits.length * 2));
      more.set(this.#bits);
      this.#bits = more;
    }
    this.#bits[at]! |= 1 << (number & 7);
  }

  has(number: number): boolean {
    return ((this.#bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }
}
