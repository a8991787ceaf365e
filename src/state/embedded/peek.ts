import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Number of keys in an unused data folder, and their newest ids. */
export interface KeySample {
  readonly count: number;
  readonly ids: readonly string[];
}

/**
 * Reads a data folder without changing it, even while a gateway runs. Returns up to `most` ids, and an empty result
 * without a readable state file.
 */
export function peekKeys(folder: string, most: number): KeySample {
  const file = join(folder, 'state.db');
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 200 });
    try {
      const { count } = db.prepare('SELECT count(*) AS count FROM keys').get() as { count: number };
      const rows = db.prepare('SELECT id FROM keys ORDER BY rowid DESC LIMIT ?').all(most);
      return { count, ids: rows.map((row) => String(row.id)) };
    } finally {
      db.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR') return NONE;
    throw error;
  }
}

const NONE: KeySample = { count: 0, ids: [] };
