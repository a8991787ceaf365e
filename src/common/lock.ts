import { openDatabase } from './open-database.ts';

/** SQLITE_BUSY. */
const BUSY = 5;

/**
 * An exclusive lock among all processes of the machine. The system releases it when the process ends, so it never
 * becomes stale. Uses SQLite because Node has no file locks; the empty file stays. Throws SQLite errors.
 */
export function lockFile(file: string): { release(): void } {
  return openDatabase(file, {}, (lock) => {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return { release: () => lock.close() };
  });
}

/** As `lockFile`, but returns `null` if another process holds the lock. */
export function tryLock(file: string): { release(): void } | null {
  try {
    return lockFile(file);
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode === BUSY) return null;
    throw error;
  }
}
