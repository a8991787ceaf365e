import type { DatabaseSync } from 'node:sqlite';
import type { AuditDraft, AuditEntry } from '../../../keys/operators/audit-log.ts';
import { KnownEntries } from '../../transfer/rules.ts';
import { type LogName, valuesOf } from '../audit-log.ts';
import type { Take } from './records.ts';
import { entriesIn } from './source.ts';

/**
 * Imports entries into a log of the file; an empty log keeps their numbers. `keep`: maximum number of entries; the
 * oldest are dropped.
 */
export function auditTaking(
  db: DatabaseSync,
  log: LogName,
  keep: number,
): { readonly take: Take<AuditEntry>; finish(entry: AuditDraft | null): void } {
  const insert = db.prepare(
    `INSERT INTO ${log} (number, at, actor, action, target, request, before, after, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const newest = db.prepare(`SELECT coalesce(max(number), 0) AS number FROM ${log}`);
  let known: KnownEntries | null = null;

  function read(): KnownEntries {
    const entries = new KnownEntries(keep);
    for (const entry of entriesIn(db, log)) entries.note(entry);
    return entries;
  }

  return {
    take(entry) {
      known ??= read();
      const taken = known.decide(entry);
      if (taken === 'added') insert.run(known.isEmpty ? entry.number : null, ...valuesOf(entry));
      return taken;
    },
    finish(entry) {
      if (entry) insert.run(null, ...valuesOf(entry));
      const first = (newest.get() as { number: number }).number - keep + 1;
      db.prepare(`UPDATE ${log}_kept SET first = max(first, ?)`).run(first);
      db.exec(`DELETE FROM ${log} WHERE number < (SELECT first FROM ${log}_kept)`);
    },
  };
}
