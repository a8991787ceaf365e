import type { DatabaseSync } from 'node:sqlite';
import type { AuditNote } from '../../keys/operators/audit-log.ts';
import type { TokenRecord, TokenStore } from '../../keys/operators/tokens.ts';
import type { AuditWriter } from './audit-log.ts';
import { inChange, type SyncCommits } from './commits.ts';

export function tokensInFile(db: DatabaseSync, audit: AuditWriter, sync: SyncCommits): TokenStore {
  const all = db.prepare('SELECT name, hash, role, created AS createdAt FROM tokens ORDER BY name');
  const insert = db.prepare(
    'INSERT INTO tokens (name, hash, role, created) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const remove = db.prepare('DELETE FROM tokens WHERE name = ?');

  /** `work` returns whether it changed anything. */
  async function change(note: AuditNote, work: () => boolean): Promise<boolean> {
    const isDone = inChange(db, () => {
      audit.refuseAnswered(note);
      const done = work();
      if (done) audit.write(note);
      return done;
    });
    await sync();
    return isDone;
  }

  return {
    list: () => all.all() as unknown as TokenRecord[],
    add: ({ name, hash, role, createdAt }, note) =>
      change(note, () => insert.run(name, hash, role, createdAt).changes === 1),
    remove: (name, note) => change(note, () => remove.run(name).changes === 1),
  };
}
