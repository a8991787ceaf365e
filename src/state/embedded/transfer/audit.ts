import type { DatabaseSync } from 'node:sqlite';
import type { AuditDraft, AuditEntry } from '../../../operators/audit-log.ts';
import { KnownEntries } from '../../transfer/rules.ts';
import { auditEntryOf } from '../audit-log.ts';
import type { Taking } from './records.ts';

/** Takes audit entries into the file; into an empty log with their numbers. `keep`: of more entries than that, the oldest go. */
export function auditTaking(
  db: DatabaseSync,
  keep: number,
): Taking<AuditEntry> & { finish(entry: AuditDraft | null): void } {
  const insert = db.prepare(
    'INSERT INTO audit (number, at, actor, action, target, request, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const newest = db.prepare('SELECT coalesce(max(number), 0) AS number FROM audit');
  let known: KnownEntries | null = null;

  function append(number: number | null, { at, actor, action, target, requestId, before, after }: AuditDraft): void {
    insert.run(number, at, actor, action, target, requestId, JSON.stringify(before), JSON.stringify(after));
  }

  function read(): KnownEntries {
    const entries = new KnownEntries(keep);
    for (const row of db.prepare('SELECT * FROM audit ORDER BY number').iterate()) entries.note(auditEntryOf(row));
    return entries;
  }

  return {
    take(entry) {
      known ??= read();
      const taken = known.judge(entry);
      if (taken === 'added') append(known.isEmpty ? entry.number : null, entry);
      return taken;
    },
    finish(entry) {
      if (entry) append(null, entry);
      const first = (newest.get() as { number: number }).number - keep + 1;
      db.prepare('UPDATE audit_kept SET first = max(first, ?)').run(first);
      db.exec('DELETE FROM audit WHERE number < (SELECT first FROM audit_kept)');
    },
  };
}
