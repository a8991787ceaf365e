import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY. */
const BUSY = 5;

/**
 * Locks `file`, made where it is missing, for this call alone among all processes of the machine. The operating system
 * unlocks it when the process ends, so no lock outlives a crash and nobody has to judge whether one is stale. SQLite does
 * the locking, because Node has no file locks. The file stays, empty. Throws what SQLite throws: see `isLocked`.
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

/** Whether `lockFile` threw because somebody else holds the lock. */
export function isLocked(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === BUSY;
}
