import type { DatabaseSync } from 'node:sqlite';
import { ageClock } from '../../common/age-clock.ts';
import type { AuditSettings } from '../../config/config.ts';
import { inChange, type SyncCommits } from '../../state/embedded/commits.ts';
import { KeyConflict, KeyTaken } from '../keys/store.ts';
import { type Changes, type Log, WrongToken } from '../log.ts';
import type { EntryTable, LogName } from '../model/entries.ts';
import type { Model } from '../model/model.ts';
import {
  type AuditDraft,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
  type IdempotentResult,
  isOfBans,
} from '../operators/audit-log.ts';

/** Maximum number of entries dropped in one step, so a lowered limit is reached gradually. */
const DROP_BATCH = 1_000;

/** `NOT BETWEEN` would read the whole table. */
export const FORGET_OLD =
  'DELETE FROM idempotent_results WHERE at < ? OR at > ?';

interface FileLogOptions {
  readonly audit: AuditSettings;
  readonly sync: SyncCommits;
  /** Called after a commit that changed keys, before it is synced. */
  readonly keysChanged: () => void;
}

/**
 * The log is the audit log of `state.db`, and its model the tables beside it. An entry, its changes
 * and its result are one transaction.
 */
export function logInFile(
  db: DatabaseSync,
  model: Model,
  { audit, sync, keysChanged }: FileLogOptions,
): Log {
  const toAudit = appenderIn(db, 'audit', model.audit, audit);
  const toBans = appenderIn(db, 'bans', model.bans, audit.bans);
  const forgetOld = db.prepare(FORGET_OLD);
  const forget = db.prepare('DELETE FROM idempotent_results WHERE name = ?');
  const findResult = db.prepare(
    'SELECT name, question, sealed FROM idempotent_results WHERE name = ? AND at BETWEEN ? AND ?',
  );
  const insertResult = db.prepare(
    'INSERT INTO idempotent_results (name, at, question, sealed) VALUES (?, ?, ?, ?)',
  );

  function find(name: string, now: number): IdempotentResult | null {
    const [from, until] = [
      now - IDEMPOTENCY_LIFETIME,
      now + IDEMPOTENCY_LIFETIME,
    ];
    const row = findResult.get(name, from, until);
    return (row as unknown as IdempotentResult | undefined) ?? null;
  }

  return {
    async append(log, { entry, idempotent }, changes) {
      const { at } = entry;
      inChange(db, () => {
        forgetOld.run(at - IDEMPOTENCY_LIFETIME, at + IDEMPOTENCY_LIFETIME);
        if (idempotent && find(idempotent.name, at))
          throw new IdempotencyConflict();
        if (changes) apply(model, changes);
        if (idempotent) {
          const { name, question, sealed } = idempotent;
          insertResult.run(name, at, question, sealed);
        }
        if (log === 'audit') toAudit(entry);
        if (log === 'bans' || isOfBans(entry)) toBans(entry);
      });
      if (changes?.added || changes?.replaced) keysChanged();
      await sync();
    },
    resultOf: find,
    async forget(name) {
      forget.run(name);
      await sync();
    },
  };
}

function apply(
  { keys, tokens }: Model,
  { added = [], replaced, tokenAdded, tokenRemoved }: Changes,
): void {
  for (const record of added) {
    if (keys.get(record.id))
      throw new KeyTaken(`the key id ${record.id} is taken`);
    if (keys.find(record.hash))
      throw new KeyTaken('the hash of the key is taken');
    keys.put(record);
  }
  if (replaced) {
    const { id, version, hash } = replaced;
    const stored = keys.get(id);
    if (!stored) throw new KeyConflict(`the key ${id} does not exist`);
    if (stored.version !== version - 1)
      throw new KeyConflict(`key ${id} was changed meanwhile`);
    const owner = keys.find(hash);
    if (owner && owner.id !== id)
      throw new KeyTaken('the hash of the key is taken');
    keys.put(replaced);
  }
  if (tokenAdded && !tokens.add(tokenAdded))
    throw new WrongToken(tokenAdded.name);
  if (tokenRemoved !== undefined && !tokens.remove(tokenRemoved))
    throw new WrongToken(tokenRemoved);
}

/** `maxAge` in milliseconds. The oldest entries are dropped. */
function appenderIn(
  db: DatabaseSync,
  log: LogName,
  entries: EntryTable,
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
    const newest = entries.add(entry);
    const { number: first } = oldest.get() as { number: number };
    const firstKept =
      maxAge === undefined ? first : firstYoung(at, maxAge, first);
    const wantedFirst = Math.max(newest - maxEntries + 1, firstKept);
    if (first >= wantedFirst) return;
    keepFrom.run(Math.min(wantedFirst, first + DROP_BATCH));
    drop.run();
  };
}
