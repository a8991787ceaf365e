import type { DatabaseSync } from 'node:sqlite';
import {
  type AuditDraft,
  type AuditEntry,
  type AuditLog,
  type AuditNote,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentAnswer,
} from '../../operators/audit-log.ts';
import { transaction } from './file.ts';

/** `isAbout(target, $target)` in SQL. */
const IS_ABOUT = `(target = $target OR target = 'key:' || $target
  OR substr(target, 1, 8) = 'account:' AND substr(target, -length($target) - 1) = ':' || $target)`;

/** Writes audit notes. Call both methods inside the transaction of the change that the note is about. */
export interface AuditWriter {
  /** Throws IdempotencyConflict where the call was answered before. Call it first: such a call must get its answer. */
  refuseAnswered(note: AuditNote): void;
  write(note: AuditNote): void;
}

export function auditWriterIn(db: DatabaseSync): AuditWriter {
  const forget = db.prepare('DELETE FROM answers WHERE at < ?');
  const answered = db.prepare('SELECT 1 FROM answers WHERE name = ?');
  const keep = db.prepare('INSERT INTO answers (name, at, question, sealed) VALUES (?, ?, ?, ?)');
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
      if (idempotent) keep.run(idempotent.name, at, idempotent.question, idempotent.sealed);
      append.run(at, actor, action, target, requestId, JSON.stringify(before), JSON.stringify(after));
    },
  };
}

/** The audit log in the embedded state file, which itself refuses to change or drop an entry. */
export function auditLogInFile(db: DatabaseSync): AuditLog {
  const writer = auditWriterIn(db);
  const answer = db.prepare('SELECT name, question, sealed FROM answers WHERE name = ? AND at >= ?');
  const forget = db.prepare('DELETE FROM answers WHERE name = ?');
  const entries = db.prepare(
    `SELECT * FROM audit WHERE number < $below AND ($actor IS NULL OR actor = $actor)
     AND ($action IS NULL OR action = $action) AND ($target IS NULL OR ${IS_ABOUT})
     ORDER BY number DESC LIMIT $limit`,
  );
  return {
    append: (note) =>
      transaction(db, () => {
        writer.refuseAnswered(note);
        writer.write(note);
      }),
    list({ actor = null, action = null, target = null, below = Number.MAX_SAFE_INTEGER, limit }) {
      return entries.all({ below, actor, action, target, limit }).map(entryOf);
    },
    forget: (name) => void forget.run(name),
    answered: (name, now) =>
      (answer.get(name, now - IDEMPOTENCY_LIFETIME) as unknown as IdempotentAnswer | undefined) ?? null,
  };
}

function entryOf(row: unknown): AuditEntry {
  const { number, at, actor, action, target, request, before, after } = row as Record<keyof AuditDraft, string> & {
    number: number;
    at: number;
    request: string;
  };
  const read = (text: unknown): unknown => JSON.parse(text as string);
  return { number, at, actor, action, target, before: read(before), after: read(after), requestId: request };
}
