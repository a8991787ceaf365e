import type { DatabaseSync } from 'node:sqlite';
import {
  type Deed,
  type Entry,
  type Journal,
  ONCE_LIFE,
  type Once,
  OnceTaken,
  type Trail,
} from '../../operators/audit-log.ts';
import { transaction } from './file.ts';

/** Writes a trail; to be called inside the transaction of the change it belongs to. */
export function trailWriter(db: DatabaseSync): (trail: Trail) => void {
  const forget = db.prepare('DELETE FROM answers WHERE at < ?');
  const keep = db.prepare(
    'INSERT INTO answers (name, at, question, sealed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const note = db.prepare(
    'INSERT INTO audit (at, actor, action, target, request, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  return ({ deed, once }) => {
    forget.run(deed.at - ONCE_LIFE);
    if (once && keep.run(once.name, deed.at, once.question, once.sealed).changes === 0) {
      throw new OnceTaken('this call was answered before');
    }
    const { at, actor, action, target, requestId } = deed;
    note.run(at, actor, action, target, requestId, JSON.stringify(deed.before), JSON.stringify(deed.after));
  };
}

/** The journal in the embedded state file, which itself refuses to change or drop an entry. */
export function journalInFile(db: DatabaseSync): Journal {
  const write = trailWriter(db);
  const answer = db.prepare('SELECT name, question, sealed FROM answers WHERE name = ? AND at >= ?');
  const forget = db.prepare('DELETE FROM answers WHERE name = ?');
  const entries = db.prepare(
    `SELECT * FROM audit WHERE number < ? AND (? IS NULL OR actor = ?) AND (? IS NULL OR action = ?)
     AND (? IS NULL OR target = ?) ORDER BY number DESC LIMIT ?`,
  );
  return {
    append: (trail) => transaction(db, () => write(trail)),
    list({ actor = null, action = null, target = null, below = Number.MAX_SAFE_INTEGER, limit }) {
      return entries.all(below, actor, actor, action, action, target, target, limit).map(entryOf);
    },
    forget: (name) => void forget.run(name),
    answered: (name, now) => (answer.get(name, now - ONCE_LIFE) as unknown as Once | undefined) ?? null,
  };
}

function entryOf(row: unknown): Entry {
  const { number, at, actor, action, target, request, before, after } = row as Record<keyof Deed, string> & {
    number: number;
    at: number;
    request: string;
  };
  const read = (text: unknown): unknown => JSON.parse(text as string);
  return { number, at, actor, action, target, before: read(before), after: read(after), requestId: request };
}
