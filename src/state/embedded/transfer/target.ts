import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Target, TargetOptions } from '../../transfer/port.ts';
import { makeFolder, openStateFile, StateFileError } from '../file.ts';
import { refuseMissingCounterFiles } from '../inventory.ts';
import { type FolderLock, lockFolder } from '../lock.ts';
import { counterImport, StagedCounters, storeCounters } from './counters.ts';
import { auditTaking, keyTaking, type Take, tokenTaking, useTaking } from './records.ts';
import { countsIn, rowCount, rowsIn } from './source.ts';

/**
 * A data folder that no gateway uses, as a target; created if missing. The import is all or nothing: rows in one
 * transaction, and just before its commit the counters replace the whole journal. Throws StateFileError.
 */
export function folderTarget(folder: string, options: TargetOptions): Target {
  const isThere = existsSync(join(folder, 'state.db'));
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
    refuseMissingCounterFiles(place, db);
    db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -24576; BEGIN IMMEDIATE');
    ends.push(() => {
      if (db.isTransaction) db.exec('ROLLBACK');
    });
    const staged = new StagedCounters(place, options.clock());
    ends.push(() => staged.close());
    return { ...targetIn(db, staged, folder, options), close };
  } catch (error) {
    close();
    throw error;
  }
}

function targetIn(
  db: DatabaseSync,
  staged: StagedCounters,
  folder: string,
  options: TargetOptions,
): Omit<Target, 'close'> {
  const audit = auditTaking(db, 'audit', options.audit.maxEntries);
  const bans = auditTaking(db, 'bans', options.audit.bans.maxEntries);
  const taking = {
    key: keyTaking(db),
    token: tokenTaking(db),
    audit: audit.take,
    ban: bans.take,
    ledger: counterImport(staged, options),
    use: useTaking(db),
  };
  return {
    name: folder,
    isUsed: () => ['keys', 'tokens', 'audit'].some((table) => rowCount(db, table) > 0),
    held: () => rowsIn(db),
    take: ({ type, values }) => values.map((value) => (taking[type] as Take<typeof value>)(value)),
    finish(entry) {
      audit.finish(entry);
      bans.finish(null);
      if (options.dryRun) {
        db.exec('ROLLBACK');
      } else {
        // First the write that may exceed the disk space: all else is already in the database log.
        storeCounters(folder, db, staged);
        db.exec('COMMIT');
      }
      return countsIn(db, staged);
    },
  };
}

function lockStoppedGateway(folder: string): FolderLock {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error;
    throw new StateFileError(`${error.message}: stop it first, nothing was changed`, { cause: error });
  }
}
