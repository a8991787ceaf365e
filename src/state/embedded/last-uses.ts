import type { DatabaseSync } from 'node:sqlite';
import { transaction } from '../../common/transaction.ts';
import type { LastUseStore } from '../../keys/last-use-tracker.ts';

export function usesInFile(db: DatabaseSync): LastUseStore {
  const one = db.prepare('SELECT at FROM uses WHERE id = ?');
  const put = db.prepare(
    'INSERT INTO uses (id, at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = max(at, excluded.at)',
  );
  return {
    save(uses) {
      transaction(db, () => {
        for (const [id, at] of uses) put.run(id, at);
      });
    },
    load(ids) {
      const found = new Map<string, number>();
      for (const id of ids) {
        const row = one.get(id) as { at: number } | undefined;
        if (row) found.set(id, row.at);
      }
      return found;
    },
  };
}
