import type { DatabaseSync } from 'node:sqlite';
import type { TokenRecord, TokenStore } from '../../operators/tokens.ts';
import { auditWriter } from './audit-log.ts';
import { transaction } from './file.ts';

/** The operators' tokens in the embedded state file. */
export function tokensInFile(db: DatabaseSync): TokenStore {
  const all = db.prepare('SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name');
  const insert = db.prepare(
    'INSERT INTO tokens (name, hash, role, created) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const remove = db.prepare('DELETE FROM tokens WHERE name = ?');
  const write = auditWriter(db);
  return {
    list: () => all.all() as unknown as TokenRecord[],
    add: ({ name, hash, role, createdAt }, note) =>
      transaction(db, () => {
        const added = insert.run(name, hash, role, createdAt).changes === 1;
        if (added) write(note);
        return added;
      }),
    remove: (name, note) =>
      transaction(db, () => {
        const removed = remove.run(name).changes === 1;
        if (removed) write(note);
        return removed;
      }),
  };
}
