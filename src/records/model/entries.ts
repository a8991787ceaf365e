import type { DatabaseSync } from 'node:sqlite';
import {
  type AuditDraft,
  type AuditEntry,
  type AuditQuery,
  MANY_KEYS,
} from '../operators/audit-log.ts';

/** Table names of the two logs: operator actions, and all bans. */
export type LogName = 'audit' | 'bans';

/** Of a target, alone or one of many keys. */
const IS_ABOUT = `(target = $target
  OR target = '${MANY_KEYS}' AND json_type(after, '$.ids') = 'array' AND EXISTS (SELECT 1 FROM json_each(after, '$.ids') WHERE value = $target))`;

export type EntryTable = ReturnType<typeof entriesIn>;

export function entriesIn(db: DatabaseSync, log: LogName) {
  const entries = (order: 'ASC' | 'DESC') =>
    db.prepare(
      `SELECT * FROM ${log} WHERE number > $above AND number < $below AND at >= $since
       AND ($actor IS NULL OR actor = $actor) AND ($action IS NULL OR action = $action)
       AND ($target IS NULL OR ${IS_ABOUT}) ORDER BY number ${order} LIMIT $limit`,
    );
  const [up, down] = [entries('ASC'), entries('DESC')];
  const insert = db.prepare(
    `INSERT OR IGNORE INTO ${log} (number, at, actor, action, target, request, before, after, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    list(query: AuditQuery): AuditEntry[] {
      const { actor, action, target, above, limit } = query;
      const { since = 0, below = Number.MAX_SAFE_INTEGER } = query;
      const names = {
        actor: actor ?? null,
        action: action ?? null,
        target: target ?? null,
      };
      const order = above === undefined ? down : up;
      return order
        .all({ ...names, since, below, above: above ?? 0, limit })
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
