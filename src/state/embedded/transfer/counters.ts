import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Counters, staleAt } from '../../../limits/counters.ts';
import type { Window } from '../../../limits/limits.ts';
import type { SubjectCounters } from '../../transfer/records.ts';
import { readEachSubject } from '../counter-store.ts';

/**
 * The latest counters of each subject of a folder, in a temporary file that `close` deletes: a million would not fit
 * into memory, and a journal repeats a subject for each write.
 */
export class StagedCounters {
  readonly #folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  readonly #db = new DatabaseSync(join(this.#folder, 'counters.db'));
  readonly #windows = new Map<string, readonly Window[]>();
  readonly #get;
  readonly #put;
  hasChanged = false;

  /** Loads counters of `folder` that are not expired at `now`. Throws JournalError. */
  constructor(folder: string, now: number) {
    this.#db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
      CREATE TABLE staged (subject TEXT PRIMARY KEY, counters TEXT NOT NULL) STRICT; BEGIN`);
    this.#get = this.#db.prepare('SELECT counters FROM staged WHERE subject = ?');
    this.#put = this.#db.prepare(
      'INSERT INTO staged VALUES ($subject, $counters) ON CONFLICT DO UPDATE SET counters = $counters',
    );
    try {
      this.#read(folder, now);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get count(): number {
    return (this.#db.prepare('SELECT count(*) AS n FROM staged').get() as { n: number }).n;
  }

  get(subject: string): Counters | null {
    const row = this.#get.get(subject);
    return row ? this.#parse(row.counters) : null;
  }

  put(subject: string, { windows, cells, strikeState }: Counters): void {
    this.hasChanged = true;
    this.#put.run({ subject, counters: JSON.stringify({ windows, cells, strikeState }) });
  }

  *all(): Generator<SubjectCounters> {
    for (const row of this.#db.prepare('SELECT subject, counters FROM staged ORDER BY rowid').iterate())
      yield { subject: String(row.subject), counters: this.#parse(row.counters) };
  }

  close(): void {
    this.#db.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #read(folder: string, now: number): void {
    readEachSubject(folder, () => {
      // A restarted read sees the whole journal again.
      this.#db.exec('DELETE FROM staged');
      return (subject, counters) => this.put(subject, counters);
    });
    const isOver = this.#db.prepare('DELETE FROM staged WHERE subject = ?');
    for (const { subject, counters } of this.all()) if (staleAt(counters, undefined) <= now) isOver.run(subject);
    this.hasChanged = false;
  }

  /** Shares equal lists of windows: the journal writes each list once. */
  #parse(text: unknown): Counters {
    const counters = JSON.parse(String(text)) as Counters;
    const key = JSON.stringify(counters.windows);
    const windows = this.#windows.get(key) ?? counters.windows;
    if (this.#windows.size < 10_000) this.#windows.set(key, windows);
    return { ...counters, windows };
  }
}
