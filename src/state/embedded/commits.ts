import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { createCoalescedWork } from '../../common/coalesced-work.ts';
import { isOfDisk } from '../../common/errors/disk.ts';
import { Outage } from '../../common/errors/outage.ts';
import { syncFile, syncFolder } from '../../common/folder.ts';
import { transaction } from '../../common/transaction.ts';
import { UnsavedError } from '../state.ts';
import { lastChangeIn, noteLastChange } from './inventory.ts';

const UNCHANGED =
  'nothing was changed, because the data folder cannot be written';
const UNSYNCED =
  'the change holds, but may be lost when the machine stops, because the data folder cannot be synced';

/**
 * A `transaction` for changes of operators. Throws an Outage with UnsavedError if the disk write
 * fails.
 */
export function inChange<T>(db: DatabaseSync, work: () => T): T {
  try {
    return transaction(db, work);
  } catch (error) {
    throw isOfDisk(error) ? unsaved(error) : error;
  }
}

/** Resolves when all commits of this process are durable (survive power loss). */
export type SyncCommits = () => Promise<void>;

/**
 * Syncs the commits of the state file without blocking requests.
 *
 * With `synchronous = NORMAL` SQLite writes a commit to `state.db-wal` without a sync; with FULL it
 * syncs on the thread that serves requests. Here the thread pool syncs after the commit, and only
 * the author of the change waits. Both leave the same data on disk, because a sync covers all
 * frames of the file. A checkpoint, which moves frames to `state.db` before the WAL is reused,
 * syncs the WAL before and `state.db` after in either mode. Concurrent commits share one sync.
 *
 * The WAL may be opened and closed here because it carries no locks. Never do this with `state.db`
 * or `state.db-shm`: closing any descriptor of a file drops all locks of the process on it,
 * including SQLite's.
 */
export function syncsCommitsOf(db: DatabaseSync): SyncCommits {
  const file = db.location();
  if (file === null) return async () => {};
  const wal = `${file}-wal`;
  let isFolderSynced = false;

  async function sync() {
    const lastChange = db.isOpen ? lastChangeIn(db) : null;
    await syncFile(wal).catch((error: NodeJS.ErrnoException) => {
      // The last connection was closed meanwhile, so SQLite has moved all frames to `state.db` and
      // synced it.
      if (error.code !== 'ENOENT') throw error;
    });
    // Makes the directory entries of the files durable.
    if (!isFolderSynced) await syncFolder(dirname(file!));
    isFolderSynced = true;
    if (lastChange !== null) await noteLastChange(dirname(file!), lastChange);
  }

  const syncs = createCoalescedWork(() =>
    sync().catch((error: unknown) => {
      throw unsaved(error, UNSYNCED);
    }),
  );
  return () => syncs.next();
}

/** An Outage with UnsavedError. `validData`: the data that is valid now. */
export function unsaved(error: unknown, validData = UNCHANGED): Outage {
  return new Outage('state_unavailable', {
    cause: new UnsavedError(validData, { cause: error }),
  });
}
