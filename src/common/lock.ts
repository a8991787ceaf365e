import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY. */
const BUSY = 5;

/**
 * Takes an exclusive lock on `file` among all processes of the machine, and creates the file if needed. The operating
 * system releases it when the process ends, so locks never become stale. Uses SQLite because Node has no file locks.
 * The file stays, empty. Throws SQLite errors: see `isLocked`.
 */
export function lockFile(file: string): { release(): void } {
  const lock = new DatabaseSync(file);
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw error;
  }
  return { release: () => lock.close() };
}

/** Whether `lockFile` threw because another process holds the lock. */
export function isLocked(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === BUSY;
}
