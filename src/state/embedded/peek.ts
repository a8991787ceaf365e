import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The keys of a folder that another state is used beside: how many there are, and the newest of their ids. */
export interface KeySample {
  readonly count: number;
  readonly ids: readonly string[];
}

/**
 * Looks into a data folder without changing or making anything, also beside a running gateway. Answers up to `most` ids; nothing
 * where there is no state file, or none that can be read: its keys could not be moved either.
 */
export function peekKeys(folder: string, most: number): KeySample {
  const file = join(folder, 'state.db');
  if (!existsSync(file)) return NONE;
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
