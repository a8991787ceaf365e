import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { hashesOf, type KeyRecord } from '../../../keys/key.ts';
import type { AuditDraft, AuditEntry } from '../../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../../keys/operators/tokens.ts';
import type { Counters } from '../../../limits/counters.ts';
import type { Window } from '../../../limits/limits.ts';
import { generationsIn } from '../../journal/read.ts';
import type { Outcome, SubjectCounters, Target, TargetOptions } from '../../transfer/records.ts';
import {
  decideCounters,
  decideKey,
  decideToken,
  KnownEntries,
  takeUses,
} from '../../transfer/rules.ts';
import { insertInto, type LogName } from '../audit-log.ts';
import { replaceCounters } from '../counter-store.ts';
import { makeFolder, openStateFile } from '../file.ts';
import { COUNTER_FILES, expectedIn, nameGenerations, refuseMissingChanges } from '../inventory.ts';
import { parse } from '../keystore.ts';
import { FolderInUse, type FolderLock, lockFolder } from '../lock.ts';
import { usesInFile } from '../records.ts';
import { countersOf, countsIn, entriesIn, rowCount, rowsIn } from './source.ts';

/**
 * A data folder that no gateway uses, as a target; created if missing. The import is all or
 * nothing: rows in one transaction, and just before its commit the counters replace the whole
 * journal. Throws as a start.
 */
export function folderTarget(folder: string, options: TargetOptions): Target {
  const isThere = existsSync(join(folder, 'state.db'));
  if (!isThere) refuseMissingChanges(expectedIn(folder), 0);
  // A dry run creates nothing in the folder.
  const instead = options.dryRun && !isThere ? mkdtempSync(join(tmpdir(), 'storegate-')) : null;
  const ends: (() => void)[] = [];
  const close = () => {
    for (const end of ends.splice(0).reverse()) end();
  };
  if (instead) ends.push(() => rmSync(instead, { recursive: true, force: true }));
  try {
    const place = instead ?? folder;
    makeFolder(place);
    const lock = lockStoppedGateway(place);
    ends.push(() => lock.release());
    const db = openStateFile(place);
    ends.push(() => db.close());
    const bySubject = countersOf(place, db, { now: options.clock(), damaged: options.damaged });
    db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -24576; BEGIN IMMEDIATE');
    ends.push(() => {
      if (db.isTransaction) db.exec('ROLLBACK');
    });
    return { ...targetIn(db, bySubject, folder, options), close };
  } catch (error) {
    close();
    throw error;
  }
}

function targetIn(
  db: DatabaseSync,
  bySubject: Map<string, Counters>,
  folder: string,
  options: TargetOptions,
): Omit<Target, 'close'> {
  const audit = auditTaking(db, 'audit', options.audit.maxEntries);
  const bans = auditTaking(db, 'bans', options.audit.bans.maxEntries);
  const counters = counterTaking(bySubject, options);
  const taking = {
    key: keyTaking(db),
    token: tokenTaking(db),
    audit: audit.take,
    ban: bans.take,
    ledger: counters.take,
  };
  return {
    name: folder,
    isUsed: () => ['keys', 'tokens', 'audit'].some((table) => rowCount(db, table) > 0),
    held: () => rowsIn(db),
    take({ type, values }) {
      if (type === 'use') return takeUses(usesInFile(db), values, { ...options, dryRun: false });
      return values.map((value) => (taking[type] as Take<typeof value>)(value));
    },
    finish(entry) {
      audit.finish(entry);
      bans.finish(null);
      if (options.dryRun) {
        db.exec('ROLLBACK');
      } else {
        // First the write that may exceed the disk space: all else is already in the database log.
        if (counters.hasChanged()) {
          replaceCounters(folder, bySubject);
          nameGenerations(db, generationsIn(folder, COUNTER_FILES));
        }
        db.exec('COMMIT');
      }
      return countsIn(db, bySubject);
    },
  };
}

function lockStoppedGateway(folder: string): FolderLock {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    throw new FolderInUse(`${error.message}: stop it first, nothing was changed`, { cause: error });
  }
}

/** Imports one record. Call it inside a transaction. */
type Take<V> = (value: V) => Outcome;

function keyTaking(db: DatabaseSync): Take<KeyRecord> {
  const byId = db.prepare('SELECT record FROM keys WHERE id = ?');
  const bySecret = db.prepare(
    'SELECT record FROM keys WHERE hash = $hash UNION ALL SELECT record FROM keys WHERE previous = $hash',
  );
  const insert = db.prepare('INSERT INTO keys (id, hash, previous, record) VALUES (?, ?, ?, ?)');
  const update = db.prepare('UPDATE keys SET hash = ?, previous = ?, record = ? WHERE id = ?');
  return (key) => {
    const { id, hash, previous } = key;
    const owners = hashesOf(key).map((one) => parse(bySecret.get({ hash: one })));
    const taken = decideKey(key, parse(byId.get(id)), owners);
    if (taken === 'added') insert.run(id, hash, previous?.hash ?? null, JSON.stringify(key));
    else if (taken === 'changed') update.run(hash, previous?.hash ?? null, JSON.stringify(key), id);
    return taken;
  };
}

function tokenTaking(db: DatabaseSync): Take<TokenRecord> {
  const near = db.prepare(
    'SELECT name, hash, role, created AS createdAt FROM tokens WHERE name = ? OR hash = ?',
  );
  const insert = db.prepare('INSERT INTO tokens (name, hash, role, created) VALUES (?, ?, ?, ?)');
  return (token) => {
    const taken = decideToken(token, near.all(token.name, token.hash) as unknown as TokenRecord[]);
    if (taken === 'added') insert.run(token.name, token.hash, token.role, token.createdAt);
    return taken;
  };
}

/**
 * Imports entries into a log of the file; an empty log keeps their numbers. `keep`: maximum number
 * of entries; the oldest are dropped.
 */
function auditTaking(db: DatabaseSync, log: LogName, keep: number) {
  const insert = insertInto(db, log);
  const newest = db.prepare(`SELECT coalesce(max(number), 0) AS number FROM ${log}`);
  let known: KnownEntries | null = null;

  function read(): KnownEntries {
    const entries = new KnownEntries(keep);
    for (const entry of entriesIn(db, log)) entries.note(entry);
    return entries;
  }

  return {
    take(entry: AuditEntry): Outcome {
      known ??= read();
      const taken = known.decide(entry);
      if (taken === 'added') insert(entry, known.isEmpty ? entry.number : null);
      return taken;
    },
    finish(entry: AuditDraft | null): void {
      if (entry) insert(entry);
      const first = (newest.get() as { number: number }).number - keep + 1;
      db.prepare(`UPDATE ${log}_kept SET first = max(first, ?)`).run(first);
      db.exec(`DELETE FROM ${log} WHERE number < (SELECT first FROM ${log}_kept)`);
    },
  };
}

function counterTaking(bySubject: Map<string, Counters>, { clock }: TargetOptions) {
  const now = clock();
  const lists = new Map<string, readonly Window[]>();
  let hasChanged = false;
  return {
    hasChanged: () => hasChanged,
    take({ subject, counters }: SubjectCounters): Outcome {
      const { taken, write } = decideCounters(counters, bySubject.get(subject) ?? null, now);
      if (write) {
        // The journal writes each list once if equal lists are one object.
        const key = JSON.stringify(write.windows);
        const windows = lists.get(key) ?? write.windows;
        lists.set(key, windows);
        bySubject.set(subject, { ...write, windows });
        hasChanged = true;
      }
      return taken;
    },
  };
}
