import type { DatabaseSync } from 'node:sqlite';
import type { KeyRecord } from '../../../keys/key.ts';
import type { AuditDraft, AuditEntry } from '../../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';
import type { Outcome } from '../../transfer/port.ts';
import type { LastUse } from '../../transfer/records.ts';
import { decideKey, decideToken, KnownEntries } from '../../transfer/rules.ts';
import { type LogName, valuesOf } from '../audit-log.ts';
import { parse } from '../keystore.ts';
import { entriesIn } from './source.ts';

/** Imports one record. Call it inside a transaction. */
export type Take<V> = (value: V) => Outcome;

export function keyTaking(db: DatabaseSync): Take<KeyRecord> {
  const byId = db.prepare('SELECT record FROM keys WHERE id = ?');
  const bySecret = db.prepare(
    'SELECT record FROM keys WHERE hash = $hash UNION ALL SELECT record FROM keys WHERE previous = $hash',
  );
  const insert = db.prepare('INSERT INTO keys (id, hash, previous, record) VALUES (?, ?, ?, ?)');
  const update = db.prepare('UPDATE keys SET hash = ?, previous = ?, record = ? WHERE id = ?');
  const owner = (hash: string | undefined) => (hash === undefined ? null : parse(bySecret.get({ hash })));
  return (key) => {
    const { id, hash, previous } = key;
    const taken = decideKey(key, parse(byId.get(id)), [owner(hash), owner(previous?.hash)]);
    if (taken === 'added') insert.run(id, hash, previous?.hash ?? null, JSON.stringify(key));
    else if (taken === 'changed') update.run(hash, previous?.hash ?? null, JSON.stringify(key), id);
    return taken;
  };
}

export function tokenTaking(db: DatabaseSync): Take<TokenRecord> {
  const near = db.prepare('SELECT name, hash, role, created AS createdAt FROM tokens WHERE name = ? OR hash = ?');
  const insert = db.prepare('INSERT INTO tokens (name, hash, role, created) VALUES (?, ?, ?, ?)');
  return (token) => {
    const taken = decideToken(token, near.all(token.name, token.hash) as unknown as TokenRecord[]);
    if (taken === 'added') insert.run(token.name, token.hash, token.role, token.createdAt);
    return taken;
  };
}

export function useTaking(db: DatabaseSync): Take<LastUse> {
  const one = db.prepare('SELECT at FROM uses WHERE id = ?');
  const put = db.prepare('INSERT INTO uses (id, at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at');
  return ({ id, at }) => {
    const known = one.get(id) as { at: number } | undefined;
    if (known && known.at >= at) return known.at === at ? 'same' : 'kept';
    put.run(id, at);
    return known ? 'changed' : 'added';
  };
}

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
