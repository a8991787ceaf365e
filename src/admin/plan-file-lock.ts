import { closeSync, fchownSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { isLocked, lockFile } from '../common/lock.ts';
import { AdminError } from './admin-error.ts';

/** Milliseconds between two attempts, and the timeout. */
const RETRY = 20;
const LOCK_TIMEOUT = 10_000;

/**
 * Runs `work` under a lock if `file` still has `text`; else returns `null`.
 *
 * Gateways and local commands may share a plans file. Comparing under the lock prevents lost updates. The lock is held
 * until the plans are in force or rolled back, so no change builds on a text that is rolled back. Editors take no lock:
 * for them there is only the comparison.
 *
 * @throws {AdminError} if the lock is not available
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
      try {
        return lockFile(name);
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
      if (performance.now() > giveUpAt)
        throw new AdminError('conflict', `Another process is changing the plans file ${file}: try again.`);
      await setTimeout(RETRY);
    }
  } catch (error) {
    if (error instanceof AdminError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_SQLITE_ERROR' ? message : (code ?? message);
    throw new AdminError('conflict', `The plans file ${file} cannot be locked with ${name} (${reason}).`);
  }
}

/**
 * Mode and owner of the plans file, so that a lock file created by root does not block the gateway. Closing a file
 * drops all locks of the process on it, so it is opened here only to create it.
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
