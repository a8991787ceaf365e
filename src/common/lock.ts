import { openDatabase } from './open-database.ts';

/** SQLITE_BUSY. */
const BUSY = 5;

export interface Lock {
  release(): void;
}

/**
 * An exclusive lock among all processes of the machine; `null` if another process holds it. The
 * system releases it when the process ends, so it never becomes stale. Uses SQLite because Node has
 * no file locks; the empty file stays. Throws SQLite errors if the lock cannot be made.
 */
export function tryLock(file: string): Lock | null {
  try {
    return openDatabase(file, {}, (lock) => {
      // A journal in memory: a full disk does not prevent a lock that exists.
      lock.exec(
        'PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE',
      );
      return { release: () => lock.close() };
    });
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode === BUSY) return null;
    throw error;
  }
}
