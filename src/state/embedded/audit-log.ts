import type { DatabaseSync } from 'node:sqlite';
import {
  type AuditDraft,
  type AuditEntry,
  type AuditLog,
  type AuditNote,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentAnswer,
  MANY_KEYS,
} from '../../operators/audit-log.ts';
import { inChange, type SyncCommits } from './commits.ts';

/** `isAbout(entry, $target)` in SQL. */
const IS_ABOUT = `(target = $target OR target = 'key:' || $target
  OR target = '${MANY_KEYS}' AND json_type(after, '$.ids') = 'array' AND EXISTS (SELECT 1 FROM json_each(after, '$.ids') WHERE value = $target)
  OR substr(target, 1, 8) = 'account:' AND substr(target, -length($target) - 1) = ':' || $target)`;

/** Entries dropped in one step: a bound that was lowered is reached later. */
const DROPPED_AT_ONCE = 1_000;

/** Writes audit notes. Call both methods inside the transaction of the change that the note is about. */
export interface AuditWriter {
  /** Throws IdempotencyConflict where the call was answered before. Call it first: such a call must get its answer. */
  refuseAnswered(note: AuditNote): void;
  write(note: AuditNote): void;
}

/** `keep`: of more entries than that, the oldest go. */
export function auditWriterIn(db: DatabaseSync, keep: number): AuditWriter {
  const oldest = db.prepare('SELECT min(number) AS number FROM audit');
  const keepFrom = db.prepare('UPDATE audit_kept SET first = ?');
  const drop = db.prepare('DELETE FROM audit WHERE number < (SELECT first FROM audit_kept)');
  const forget = db.prepare('DELETE FROM answers WHERE at < ?');
  const answered = db.prepare('SELECT 1 FROM answers WHERE name = ?');
  const answer = db.prepare('INSERT INTO answers (name, at, question, sealed) VALUES (?, ?, ?, ?)');
  const append = db.prepare(
    'INSERT INTO audit (at, actor, action, target, request, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  return {
    refuseAnswered({ entry, idempotent }) {
      forget.run(entry.at - IDEMPOTENCY_LIFETIME);
      if (idempotent && answered.get(idempotent.name) !== undefined) {
        throw new IdempotencyConflict('this call was answered before');
      }
    },
    write({ entry: { at, actor, action, target, requestId, before, after }, idempotent }) {
      if (idempotent) answer.run(idempotent.name, at, idempotent.question, idempotent.sealed);
      const values = [at, actor, action, target, requestId, JSON.stringify(before), JSON.stringify(after)];
      const newest = Number(append.run(...values).lastInsertRowid);
      const { number: first } = oldest.get() as { number: number };
      if (first > newest - keep) return;
      keepFrom.run(Math.min(newest - keep + 1, first + DROPPED_AT_ONCE));
      drop.run();
    },
  };
}

/** The audit log in the embedded state file, which itself refuses to change an entry, or to drop one that is to be kept. */
export function auditLogInFile(db: DatabaseSync, writer: AuditWriter, sync: SyncCommits): AuditLog {
  const answer = db.prepare('SELECT name, question, sealed FROM answers WHERE name = ? AND at >= ?');
  const forget = db.prepare('DELETE FROM answers WHERE name = ?');
  const entries = (order: 'ASC' | 'DESC') =>
    db.prepare(
      `SELECT * FROM audit WHERE number > $above AND number < $below AND at >= $since
       AND ($actor IS NULL OR actor = $actor) AND ($action IS NULL OR action = $action)
       AND ($target IS NULL OR ${IS_ABOUT}) ORDER BY number ${order} LIMIT $limit`,
    );
  const [up, down] = [entries('ASC'), entries('DESC')];
  return {
    async append(note) {
      inChange(db, () => {
        writer.refuseAnswered(note);
        writer.write(note);
      });
      await sync();
    },
    list({ actor = null, action = null, target = null, since = 0, below = Number.MAX_SAFE_INTEGER, above, limit }) {
      const query = { actor, action, target, since, below, above: above ?? 0, limit };
      return (above === undefined ? down : up).all(query).map(auditEntryOf);
    },
    async forget(name) {
      forget.run(name);
      await sync();
    },
    answered: (name, now) =>
      (answer.get(name, now - IDEMPOTENCY_LIFETIME) as unknown as IdempotentAnswer | undefined) ?? null,
  };
}

/** An entry as a row of the file has it. */
export function auditEntryOf(row: unknown): AuditEntry {
  const { number, at, actor, action, target, request, before, after } = row as Record<keyof AuditDraft, string> & {
    number: number;
    at: number;
    request: string;
  };
  const read = (text: unknown): unknown => JSON.parse(text as string);
  return { number, at, actor, action, target, before: read(before), after: read(after), requestId: request };
}
