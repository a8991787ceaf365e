import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * The number of keys in a data folder, and up to `most` of their newest ids; none without a
 * readable state file. Reads it without changing it, even while a gateway runs.
 */
export function peekKeys(
  folder: string,
  most: number,
): { readonly count: number; readonly ids: readonly string[] } {
  const file = join(folder, 'state.db');
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 200 });
    try {
      const { count } = db
        .prepare('SELECT count(*) AS count FROM keys')
        .get() as { count: number };
      const rows = db
        .prepare('SELECT id FROM keys ORDER BY rowid DESC LIMIT ?')
        .all(most);
      return { count, ids: rows.map((row) => String(row.id)) };
    } finally {
      db.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR')
      return { count: 0, ids: [] };
    throw error;
  }
}
