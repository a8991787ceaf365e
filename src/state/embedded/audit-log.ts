import type { DatabaseSync } from 'node:sqlite';
import type { AuditSettings } from '../../config/config.ts';
import {
  type AuditDraft,
  type AuditEntry,
  type AuditLog,
  type AuditNote,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentAnswer,
  isOfBans,
  MANY_KEYS,
} from '../../keys/operators/audit-log.ts';
import { inChange, type SyncCommits } from './commits.ts';

/** `isAbout(entry, $target)` in SQL. */
const IS_ABOUT = `(target = $target OR target = 'key:' || $target
  OR target = '${MANY_KEYS}' AND json_type(after, '$.ids') = 'array' AND EXISTS (SELECT 1 FROM json_each(after, '$.ids') WHERE value = $target)
  OR substr(target, 1, 8) = 'account:' AND substr(target, -length($target) - 1) = ':' || $target)`;

/** Table names of the two logs: operator actions, and all bans. */
export type LogName = 'audit' | 'bans';

/** Maximum number of entries, and maximum age `for` in milliseconds; the oldest are dropped. */
export interface LogRetention {
  readonly maxEntries: number;
  readonly maxAge?: number;
}

/** Maximum number of entries dropped in one step, so a lowered limit is reached gradually. */
const DROP_BATCH = 1_000;

/** Writes audit entries. Call both methods inside the transaction of the change. */
export interface AuditWriter {
  /** Throws IdempotencyConflict if the call already has a response. Call it first. */
  refuseAnswered(note: AuditNote): void;
  write(note: AuditNote): void;
}

/** Writes to the audit log, and entries about bans also to the ban log. */
export function auditWriterIn(db: DatabaseSync, settings: AuditSettings): AuditWriter {
  const toAudit = appenderIn(db, 'audit', settings);
  const toBans = appenderIn(db, 'bans', settings.bans);
  return writerWith(db, (entry) => {
    toAudit(entry);
    if (isOfBans(entry)) toBans(entry);
  });
}

export function banWriterIn(db: DatabaseSync, { bans }: AuditSettings): AuditWriter {
  return writerWith(db, appenderIn(db, 'bans', bans));
}

function writerWith(db: DatabaseSync, append: (entry: AuditDraft) => void): AuditWriter {
  const forget = db.prepare('DELETE FROM answers WHERE at < ?');
  const answered = db.prepare('SELECT 1 FROM answers WHERE name = ?');
  const answer = db.prepare('INSERT INTO answers (name, at, question, sealed) VALUES (?, ?, ?, ?)');
  return {
    refuseAnswered({ entry, idempotent }) {
      forget.run(entry.at - IDEMPOTENCY_LIFETIME);
      if (idempotent && answered.get(idempotent.name) !== undefined) {
        throw new IdempotencyConflict('this call was answered before');
      }
    },
    write({ entry, idempotent }) {
      if (idempotent) answer.run(idempotent.name, entry.at, idempotent.question, idempotent.sealed);
      append(entry);
    },
  };
}

function appenderIn(db: DatabaseSync, log: LogName, { maxEntries, maxAge }: LogRetention): (entry: AuditDraft) => void {
  const oldest = db.prepare(`SELECT min(number) AS number FROM ${log}`);
  const young = db.prepare(`SELECT number FROM ${log} WHERE at >= ? ORDER BY number LIMIT 1`);
  const keepFrom = db.prepare(`UPDATE ${log}_kept SET first = ?`);
  const drop = db.prepare(`DELETE FROM ${log} WHERE number < (SELECT first FROM ${log}_kept)`);
  const append = db.prepare(
    `INSERT INTO ${log} (at, actor, action, target, request, before, after, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (entry) => {
    const { at } = entry;
    const newest = Number(append.run(...valuesOf(entry)).lastInsertRowid);
    const { number: first } = oldest.get() as { number: number };
    const firstYoung = maxAge === undefined ? first : (young.get(at - maxAge) as { number: number }).number;
    const wanted = Math.max(newest - maxEntries + 1, firstYoung);
    if (first >= wanted) return;
    keepFrom.run(Math.min(wanted, first + DROP_BATCH));
    drop.run();
  };
}

/** A log in the embedded state file. The file itself rejects changes of entries and early deletion. */
export function auditLogInFile(db: DatabaseSync, log: LogName, writer: AuditWriter, sync: SyncCommits): AuditLog {
  const answer = db.prepare('SELECT name, question, sealed FROM answers WHERE name = ? AND at >= ?');
  const forget = db.prepare('DELETE FROM answers WHERE name = ?');
  const entries = (order: 'ASC' | 'DESC') =>
    db.prepare(
      `SELECT * FROM ${log} WHERE number > $above AND number < $below AND at >= $since
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

export function valuesOf({ at, actor, action, target, requestId, before, after, reason }: AuditDraft) {
  return [at, actor, action, target, requestId, JSON.stringify(before), JSON.stringify(after), reason ?? null];
}

/** Files that only older versions have opened have no reason column. */
export function auditEntryOf(row: unknown): AuditEntry {
  const { number, at, actor, action, target, request, before, after, reason } = row as Record<
    Exclude<keyof AuditDraft, 'at' | 'reason'> | 'request',
    string
  > & { number: number; at: number; reason?: string | null };
  const read = (text: string): unknown => JSON.parse(text);
  const entry = { number, at, actor, action, target, before: read(before), after: read(after) };
  return { ...entry, requestId: request, ...(typeof reason === 'string' && { reason }) };
}
