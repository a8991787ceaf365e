import type { DatabaseSync } from 'node:sqlite';
import type { TokenRecord } from '../operators/tokens.ts';
import { entriesIn } from './entries.ts';
import { keysIn } from './keys.ts';

/**
 * The tables that every question about records is asked of: `state.db` itself, or the copy of the
 * records in Redis.
 */
export type Model = ReturnType<typeof modelIn>;

/** `db` has `RECORD_TABLES`. */
export function modelIn(db: DatabaseSync) {
  return {
    keys: keysIn(db),
    audit: entriesIn(db, 'audit'),
    bans: entriesIn(db, 'bans'),
    tokens: tokensIn(db),
  };
}

function tokensIn(db: DatabaseSync) {
  const all = db.prepare(
    'SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name',
  );
  const insert = db.prepare(
    'INSERT INTO tokens (name, hash, role, created) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  // Redis may have two of one hash: none of them keeps the others from being read.
  const insertAny = db.prepare(
    'INSERT OR IGNORE INTO tokens (name, hash, role, created) VALUES (?, ?, ?, ?)',
  );
  const remove = db.prepare('DELETE FROM tokens WHERE name = ?');
  return {
    /** Sorted by name. */
    list: () => all.all().map((row) => ({ ...row }) as unknown as TokenRecord),
    /** Whether the name was free. */
    add: ({ name, hash, role, createdAt }: TokenRecord) =>
      insert.run(name, hash, role, createdAt).changes === 1,
    /** Whether there was one. */
    remove: (name: string) => remove.run(name).changes === 1,
    replaceAll(tokens: readonly TokenRecord[]) {
      db.exec('DELETE FROM tokens');
      for (const { name, hash, role, createdAt } of tokens)
        insertAny.run(name, hash, role, createdAt);
    },
  };
}
