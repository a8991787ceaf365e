import type { DatabaseSync } from 'node:sqlite';
import { CLOCK_SKEW } from '../../common/time.ts';
import { transaction } from '../../common/transaction.ts';
import type { AuditSettings } from '../../config/config.ts';
import { syncsCommitsOf } from '../../state/embedded/commits.ts';
import type { LastUseStore } from '../keys/last-use-tracker.ts';
import type { TokenRecord, TokenStore } from '../operators/tokens.ts';
import type { Records } from '../storage.ts';
import {
  auditedChangesIn,
  auditLogInFile,
  type MakeChange,
} from './audit-log.ts';
import { keysInFile } from './keystore.ts';

export function recordsInFile(
  db: DatabaseSync,
  settings: AuditSettings,
  sync = syncsCommitsOf(db),
): Records {
  const change = auditedChangesIn(db, 'audit', settings, sync);
  return {
    keys: keysInFile(db, change),
    auditLog: auditLogInFile(db, 'audit', change, sync),
    banLog: auditLogInFile(
      db,
      'bans',
      auditedChangesIn(db, 'bans', settings, sync),
      sync,
    ),
    tokens: tokensInFile(db, change),
    uses: usesInFile(db),
  };
}

function tokensInFile(db: DatabaseSync, change: MakeChange): TokenStore {
  const all = db.prepare(
    'SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name',
  );
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

export function usesInFile(db: DatabaseSync): LastUseStore {
  const many = db.prepare(
    'SELECT id, at FROM uses WHERE id IN (SELECT value FROM json_each(?))',
  );
  // A use of a clock that was ahead must not hide later uses. As in lua/used-1.lua.
  const put = db.prepare(
    `INSERT INTO uses (id, at) VALUES ($id, $at) ON CONFLICT (id)
     DO UPDATE SET at = iif(at > $latest, excluded.at, max(at, excluded.at))`,
  );
  return {
    save(uses, now) {
      const latest = now + CLOCK_SKEW;
      transaction(db, () => {
        for (const [id, at] of uses) put.run({ id, at, latest });
      });
    },
    load: (ids) =>
      new Map(
        many
          .all(JSON.stringify(ids))
          .map(({ id, at }) => [id as string, at as number]),
      ),
  };
}
