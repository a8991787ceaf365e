import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import { syncFolder } from '../../common/folder.ts';
import { transaction } from '../../common/transaction.ts';
import { Outage } from '../../errors/outage.ts';
import { UnsavedError } from '../state.ts';
import { lastChangeIn, noteLastChange } from './inventory.ts';

const UNSYNCED = 'the change holds, but may be lost when the machine stops, because the data folder cannot be synced';

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN. */
const UNWRITABLE: readonly number[] = [8, 10, 13, 14];

/** `transaction` for what operators change: throws an Outage with UnsavedError where the disk does not take it. */
export function inChange<T>(db: DatabaseSync, work: () => T): T {
  try {
    return transaction(db, work);
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    if (errcode === undefined || !UNWRITABLE.includes(errcode & 0xff)) throw error;
    throw unsaved('nothing was changed, because the data folder cannot be written', error);
  }
}

/** Resolves once all that this process has committed outlives lost power. */
export type SyncCommits = () => Promise<void>;

/**
 * Syncs the commits of the state file without holding up requests.
 *
 * With `synchronous = NORMAL` SQLite writes a commit to `state.db-wal` and does not sync it; with FULL it also does that, on
 * the thread that serves requests. Here the thread pool does it after the commit, and whoever made the change waits for it.
 * Both leave the same on disk, because a sync is one of the whole file, whoever asks for it: all frames of the commit. The one
 * other moment that matters is the checkpoint, which moves frames to `state.db` before the WAL is used from its beginning
 * again, and that syncs the WAL before and `state.db` after in either mode. Commits asked for at the same time share one sync.
 *
 * The WAL may be opened and closed here because nobody locks it. Never do so with `state.db` itself, or with `state.db-shm`:
 * closing any descriptor of a file drops all locks that the process has on it, and those are SQLite's.
 */
export function syncsCommitsOf(db: DatabaseSync): SyncCommits {
  const file = db.location();
  if (file === null) return async () => {};
  const wal = `${file}-wal`;
  let isFolderSynced = false;

  async function sync(): Promise<void> {
    const lastChange = db.isOpen ? lastChangeIn(db) : null;
    await syncFile(wal);
    // That the files exist.
    if (!isFolderSynced) await syncFolder(dirname(file!));
    isFolderSynced = true;
    if (lastChange !== null) await noteLastChange(dirname(file!), lastChange);
  }

  const syncs = new CoalescedWork(() =>
    sync().catch((error: unknown) => {
      throw unsaved(UNSYNCED, error);
    }),
  );
  return () => syncs.next();
}

/** `standing` says what holds now. */
function unsaved(standing: string, error: unknown): Outage {
  return new Outage('state_unavailable', { cause: new UnsavedError(standing, { cause: error }) });
}

async function syncFile(file: string): Promise<void> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    // The last connection was closed meanwhile. SQLite has then moved all of it to `state.db`, and synced that.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
