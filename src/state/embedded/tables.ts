import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../../common/open-database.ts';

/**
 * Whether `db` has all tables and columns that the SQL text `schema` creates. Formats before the
 * first release share their number, so the number alone does not identify them.
 */
export function hasTables(db: DatabaseSync, schema: string): boolean {
  const columns = columnsIn(db);
  const needed = openDatabase(':memory:', {}, (empty) => {
    empty.exec(schema);
    const all = columnsIn(empty);
    empty.close();
    return all;
  });
  return needed.isSubsetOf(columns);
}

export const hasAnyTable = (db: DatabaseSync): boolean =>
  columnsIn(db).size > 0;

function columnsIn(db: DatabaseSync): Set<string> {
  const query = `SELECT t.name AS tab, c.name AS col
    FROM sqlite_schema t, pragma_table_info(t.name) c`;
  return new Set(
    db
      .prepare(query)
      .all()
      .map(({ tab, col }) => `${tab}.${col}`),
  );
}
