import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { KeyRecord } from '../../../keys/key.ts';
import { type Freshness, freshnessIn, KEY_CACHE_FILE } from './freshness.ts';
import { hashColumn, type PackedKey, unpack } from './packing.ts';

/** Milliseconds before the metadata is read again. */
const REREAD_INTERVAL = 1_000;
/** Rows per turn, so that requests are served in between. */
const PAGE_SIZE = 500;

interface Opened {
  readonly db: DatabaseSync;
  readonly inode: number;
  readonly byHash: StatementSync;
  readonly byPrevious: StatementSync;
  readonly page: StatementSync;
}

type Row = PackedKey & { readonly at: number };

/**
 * Reads the key cache while another process may write it, and detects a new file within a second. An unreadable file
 * counts as missing.
 */
export class KeyCacheReader {
  readonly #file: string;
  readonly #failed: (error: unknown) => void;
  readonly #clock: () => number;
  #opened: Opened | null = null;
  #freshness: Freshness | null = null;
  #lookAgainAt = Number.NEGATIVE_INFINITY;

  /** `clock`: monotonic milliseconds. */
  constructor(folder: string, failed: (error: unknown) => void, clock: () => number = () => performance.now()) {
    this.#file = join(folder, KEY_CACHE_FILE);
    this.#failed = failed;
    this.#clock = clock;
  }

  /** Metadata that is at most a second old; `null`: no cache. */
  get freshness(): Freshness | null {
    const now = this.#clock();
    if (now < this.#lookAgainAt) return this.#freshness;
    this.#lookAgainAt = now + REREAD_INTERVAL;
    this.#freshness = this.#read(({ db }) => freshnessIn(db));
    return this.#freshness;
  }

  /** The record with one of its hashes, and when it was read from the backend; `null`: not cached. */
  find(hash: string): { readonly record: KeyRecord; readonly at: number } | null {
    return this.#read(({ byHash, byPrevious }) => {
      const column = hashColumn(hash);
      const row = (byHash.get(column) ?? byPrevious.get(column)) as Row | undefined;
      return row ? { record: unpack(row), at: row.at } : null;
    });
  }

  /** The next records after this row number, in no order of age. */
  after(number: number): readonly { readonly record: KeyRecord; readonly number: number }[] {
    const rows = this.#read(({ page }) => page.all(number) as unknown as (PackedKey & { number: number })[]) ?? [];
    return rows.map((row) => ({ record: unpack(row), number: row.number }));
  }

  close(): void {
    this.#opened?.db.close();
    this.#opened = null;
  }

  #read<T>(work: (opened: Opened) => T | null): T | null {
    try {
      const opened = this.#open();
      return opened && work(opened);
    } catch (error) {
      this.close();
      this.#failed(error);
      return null;
    }
  }

  #open(): Opened | null {
    const inode = statSync(this.#file, { throwIfNoEntry: false })?.ino;
    if (this.#opened?.inode === inode) return this.#opened;
    this.close();
    if (inode === undefined) return null;
    const db = new DatabaseSync(this.#file, { readOnly: true, timeout: 100 });
    try {
      const of = (column: string) =>
        db.prepare(`SELECT hash, previous, at, record FROM keys WHERE ${column} = ? AND ${column} IS NOT NULL`);
      const page = db.prepare(
        `SELECT number, hash, previous, record FROM keys WHERE number > ? ORDER BY number LIMIT ${PAGE_SIZE}`,
      );
      this.#opened = { db, inode, byHash: of('hash'), byPrevious: of('previous'), page };
      return this.#opened;
    } catch (error) {
      db.close();
      throw error;
    }
  }
}
