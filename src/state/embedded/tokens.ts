import type { DatabaseSync } from 'node:sqlite';
import type { TokenRecord, TokenStore } from '../../keys/operators/tokens.ts';
import type { MakeChange } from './audit-log.ts';

export function tokensInFile(db: DatabaseSync, change: MakeChange): TokenStore {
  const all = db.prepare('SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name');
  const insert = db.prepare(
    'INSERT INTO tokens (name, hash, role, created) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const remove = db.prepare('DELETE FROM tokens WHERE name = ?');

  return {
    list: () => all.all() as unknown as TokenRecord[],
    add: ({ name, hash, role, createdAt }, note) =>
      change(note, () => insert.run(name, hash, role, createdAt).changes === 1),
    remove: (name, note) => change(note, () => remove.run(name).changes === 1),
  };
}
