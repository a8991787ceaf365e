import { closeSync, fchownSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { isLocked, lockFile } from '../common/lock.ts';
import { AdminError } from './admin-error.ts';

/** Milliseconds between two attempts to get the lock, and after which somebody who waits for it gives up. */
const RETRY = 20;
const LOCK_TIMEOUT = 10_000;

/**
 * Runs `work` while no other storegate process changes `file`, if the file still says `text`; else answers `null`.
 *
 * Several gateways, and commands beside them, may share a plans file. Each makes its new text from the text that it has
 * read. The comparison under a lock is what keeps one from dropping the plan of another; without the lock the file
 * could change between comparison and replacement. The lock is held until the new plans are in force or the old text is
 * back, so nobody builds on a text that is taken back. Editors take no lock: for them the comparison alone must do.
 *
 * @throws {AdminError} when the lock cannot be had
 */
export async function whileUnchanged<T>(file: string, text: string, work: () => Promise<T>): Promise<T | null> {
  const lock = await lockOf(file);
  try {
    return readFileSync(file, 'utf8') === text ? await work() : null;
  } finally {
    lock.release();
  }
}

async function lockOf(file: string): Promise<{ release(): void }> {
  const name = `${file}.lock`;
  const giveUpAt = performance.now() + LOCK_TIMEOUT;
  try {
    makeLock(name, file);
    for (;;) {
      const lock = tryLock(name);
      if (lock) return lock;
      if (performance.now() > giveUpAt) {
        throw new AdminError('conflict', `Another process is changing the plans file ${file}: try again.`);
      }
      await setTimeout(RETRY);
    }
  } catch (error) {
    if (error instanceof AdminError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_SQLITE_ERROR' ? message : (code ?? message);
    throw new AdminError('conflict', `The plans file ${file} cannot be locked with ${name} (${reason}).`);
  }
}

function tryLock(name: string): { release(): void } | null {
  try {
    return lockFile(name);
  } catch (error) {
    if (isLocked(error)) return null;
    throw error;
  }
}

/**
 * Makes the lock file where it is missing, with mode and owner of the plans file: one that a command of root has made must
 * not keep the gateway out. It is opened here only to be made: closing a file drops every lock that this process has on it.
 */
function makeLock(name: string, file: string): void {
  const { mode, uid, gid } = statSync(file);
  try {
    const made = openSync(name, 'wx', mode);
    if (process.getuid?.() === 0) fchownSync(made, uid, gid);
    closeSync(made);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
