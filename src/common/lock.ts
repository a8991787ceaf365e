import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY. */
const BUSY = 5;

/**
 * An exclusive lock among all processes of the machine. The system releases it when the process ends, so it never
 * becomes stale. Uses SQLite because Node has no file locks; the empty file stays. Throws SQLite errors: see
 * `isLocked`.
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

export function isLocked(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === BUSY;
}
