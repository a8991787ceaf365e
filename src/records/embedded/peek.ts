import { existsSync } from 'node:fs';
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
  const none = { count: 0, ids: [] };
  return peek(join(folder, 'state.db'), none, (db) => {
    const { count } = db
      .prepare('SELECT count(*) AS count FROM keys')
      .get() as {
      count: number;
    };
    const rows = db
      .prepare('SELECT id FROM keys ORDER BY rowid DESC LIMIT ?')
      .all(most);
    return { count, ids: rows.map((row) => String(row.id)) };
  });
}

/** Numbers of keys that are not revoked, by plan; `file`: of records. Empty if it is missing. */
export function peekPlans(file: string): ReadonlyMap<string, number> {
  return peek(file, new Map(), (db) => {
    const rows = db.prepare('SELECT plan, keys FROM plan_keys WHERE keys > 0');
    return new Map(rows.all().map((row) => [`${row.plan}`, Number(row.keys)]));
  });
}

function peek<T>(file: string, otherwise: T, read: (db: DatabaseSync) => T): T {
  try {
    if (!existsSync(file)) return otherwise;
    // Without a log a mere reader would leave an empty one.
    const readOnly = existsSync(`${file}-wal`);
    const db = new DatabaseSync(file, { readOnly, timeout: 200 });
    try {
      return read(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR')
      return otherwise;
    throw error;
  }
}
