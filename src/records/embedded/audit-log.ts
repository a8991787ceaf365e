import type { DatabaseSync } from 'node:sqlite';
import { ageClock } from '../../common/age-clock.ts';
import type { AuditSettings } from '../../config/config.ts';
import { inChange, type SyncCommits } from '../../state/embedded/commits.ts';
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
} from '../operators/audit-log.ts';

/** `isAbout(entry, $target)` in SQL. */
const IS_ABOUT = `(target = $target
  OR target = '${MANY_KEYS}' AND json_type(after, '$.ids') = 'array' AND EXISTS (SELECT 1 FROM json_each(after, '$.ids') WHERE value = $target))`;

/** Table names of the two logs: operator actions, and all bans. */
export type LogName = 'audit' | 'bans';

/** Maximum number of entries dropped in one step, so a lowered limit is reached gradually. */
const DROP_BATCH = 1_000;

/**
 * Makes a change with its audit entry in one transaction, then calls `committed`. Resolves when the
 * change survives power loss. If `work` returns `false`, nothing has changed, and there is no
 * entry. Throws IdempotencyConflict first.
 */
export type MakeChange = (
  note: AuditNote,
  work?: () => unknown,
  committed?: () => void,
) => Promise<boolean>;

/**
 * Makes changes with entries in `log`. Entries of the audit log that are about bans are also in the
 * ban log.
 */
export function auditedChangesIn(
  db: DatabaseSync,
  log: LogName,
  audit: AuditSettings,
  sync: SyncCommits,
): MakeChange {
  const toAudit = log === 'audit' ? appenderIn(db, 'audit', audit) : null;
  const toBans = appenderIn(db, 'bans', audit.bans);
  const forget = db.prepare('DELETE FROM answers WHERE at NOT BETWEEN ? AND ?');
  const answered = db.prepare('SELECT 1 FROM answers WHERE name = ?');
  const answer = db.prepare(
    'INSERT INTO answers (name, at, question, sealed) VALUES (?, ?, ?, ?)',
  );
  return async ({ entry, idempotent }, work, committed) => {
    const hasChanged = inChange(db, () => {
      forget.run(
        entry.at - IDEMPOTENCY_LIFETIME,
        entry.at + IDEMPOTENCY_LIFETIME,
      );
      if (idempotent && answered.get(idempotent.name) !== undefined)
        throw new IdempotencyConflict();
      if (work?.() === false) return false;
      if (idempotent)
        answer.run(
          idempotent.name,
          entry.at,
          idempotent.question,
          idempotent.sealed,
        );
      toAudit?.(entry);
      if (toAudit === null || isOfBans(entry)) toBans(entry);
      return true;
    });
    committed?.();
    await sync();
    return hasChanged;
  };
}

/** `maxAge` in milliseconds. The oldest entries are dropped. */
function appenderIn(
  db: DatabaseSync,
  log: LogName,
  {
    maxEntries,
    maxAge,
  }: { readonly maxEntries: number; readonly maxAge?: number },
): (entry: AuditDraft) => void {
  const oldest = db.prepare(`SELECT min(number) AS number FROM ${log}`);
  // Entries of a clock that was ahead are as old as the next entry.
  const young = db.prepare(
    `SELECT number FROM ${log} WHERE at >= ? AND at <= ? ORDER BY number LIMIT 1`,
  );
  const lastOld = db.prepare(
    `SELECT max(number) AS number FROM ${log} WHERE number < ? AND at < ?`,
  );
  const keepFrom = db.prepare(`UPDATE ${log}_kept SET first = ?`);
  const drop = db.prepare(
    `DELETE FROM ${log} WHERE number < (SELECT first FROM ${log}_kept)`,
  );
  const insert = insertInto(db, log);
  const newestOf = db.prepare(
    `SELECT at FROM ${log} ORDER BY number DESC LIMIT 1`,
  );
  const { at: newestAt = null } = (newestOf.get() ?? {}) as { at?: number };
  const age = ageClock(Date.now(), newestAt);
  function firstYoung(at: number, maxAge: number, first: number) {
    const since = age(at) - maxAge;
    const { number: end } = young.get(since, at) as { number: number };
    const { number: last } = lastOld.get(end, since) as {
      number: number | null;
    };
    return last === null ? first : last + 1;
  }

  return (entry) => {
    const { at } = entry;
    const newest = insert(entry);
    const { number: first } = oldest.get() as { number: number };
    const firstKept =
      maxAge === undefined ? first : firstYoung(at, maxAge, first);
    const wanted = Math.max(newest - maxEntries + 1, firstKept);
    if (first >= wanted) return;
    keepFrom.run(Math.min(wanted, first + DROP_BATCH));
    drop.run();
  };
}

/**
 * A log in the embedded state file. The file itself rejects changes of entries and early deletion.
 */
export function auditLogInFile(
  db: DatabaseSync,
  log: LogName,
  change: MakeChange,
  sync: SyncCommits,
): AuditLog {
  const answer = db.prepare(
    'SELECT name, question, sealed FROM answers WHERE name = ? AND at BETWEEN ? AND ?',
  );
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
      await change(note);
    },
    list({
      actor = null,
      action = null,
      target = null,
      since = 0,
      below = Number.MAX_SAFE_INTEGER,
      above,
      limit,
    }) {
      const query = {
        actor,
        action,
        target,
        since,
        below,
        above: above ?? 0,
        limit,
      };
      return (above === undefined ? down : up).all(query).map(auditEntryOf);
    },
    async forget(name) {
      forget.run(name);
      await sync();
    },
    answered(name, now) {
      const found = answer.get(
        name,
        now - IDEMPOTENCY_LIFETIME,
        now + IDEMPOTENCY_LIFETIME,
      );
      return (found as unknown as IdempotentAnswer | undefined) ?? null;
    },
  };
}

/**
 * The returned function inserts an entry, without a number as the newest, and returns its number.
 */
export function insertInto(db: DatabaseSync, log: LogName) {
  const insert = db.prepare(
    `INSERT INTO ${log} (number, at, actor, action, target, request, before, after, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (entry: AuditDraft, number: number | null = null) => {
    const { at, actor, action, target, requestId, reason = null } = entry;
    const [before, after] = [
      JSON.stringify(entry.before),
      JSON.stringify(entry.after),
    ];
    return Number(
      insert.run(
        number,
        at,
        actor,
        action,
        target,
        requestId,
        before,
        after,
        reason,
      ).lastInsertRowid,
    );
  };
}

export function auditEntryOf(row: unknown): AuditEntry {
  const { request, before, after, reason, ...rest } = row as StoredEntry;
  return {
    ...rest,
    before: JSON.parse(before),
    after: JSON.parse(after),
    requestId: request,
    ...(reason !== null && { reason }),
  };
}

type StoredEntry = Pick<
  AuditEntry,
  'number' | 'at' | 'actor' | 'action' | 'target'
> &
  Record<'request' | 'before' | 'after', string> & { reason: string | null };
