import type { DatabaseSync } from 'node:sqlite';
import {
  type AuditDraft,
  type AuditEntry,
  type AuditQuery,
  MANY_KEYS,
} from '../operators/audit-log.ts';

/** Table names of the two logs: operator actions, and all bans. */
export type LogName = 'audit' | 'bans';

const IS_ASKED = `number > $above AND number < $below AND at >= $since
  AND ($actor IS NULL OR actor = $actor) AND ($action IS NULL OR action = $action)`;
const HAS_TARGET = `target = '${MANY_KEYS}' AND $target <> target AND json_type(after, '$.ids') = 'array'
  AND EXISTS (SELECT 1 FROM json_each(after, '$.ids') WHERE value = $target)`;

/** Those of a target are about it alone or one of many keys: SQLite merges what an index finds. */
export function entryQuery(
  log: LogName,
  { target, above }: Pick<AuditQuery, 'target' | 'above'>,
): string {
  const asked = `SELECT * FROM ${log} WHERE ${IS_ASKED}`;
  const found =
    target === undefined
      ? asked
      : `${asked} AND target = $target UNION ALL ${asked} AND ${HAS_TARGET}`;
  const order = above === undefined ? 'DESC' : 'ASC';
  return `${found} ORDER BY number ${order} LIMIT $limit`;
}

export type EntryTable = ReturnType<typeof entriesIn>;

export function entriesIn(db: DatabaseSync, log: LogName) {
  const insert = db.prepare(
    `INSERT OR IGNORE INTO ${log} (number, at, actor, action, target, request, before, after, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    list(query: AuditQuery): AuditEntry[] {
      const { actor = null, action = null, target, limit } = query;
      const { since = 0, above = 0, below = Number.MAX_SAFE_INTEGER } = query;
      const names = { actor, action, since, below, above, limit };
      return db
        .prepare(entryQuery(log, query))
        .all({ ...names, ...(target !== undefined && { target }) })
        .map(entryOf);
    },
    /** Without a number as the newest. Returns its number. */
    add(entry: AuditDraft, number: number | null = null): number {
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
    },
    *all(): Generator<AuditEntry> {
      const rows = db.prepare(`SELECT * FROM ${log} ORDER BY number`);
      for (const row of rows.iterate()) yield entryOf(row);
    },
  };
}

function entryOf(row: unknown): AuditEntry {
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
