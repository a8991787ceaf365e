import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../../common/lock.ts';
import type { Announcement } from '../storage.ts';
import { StateFileError } from './file.ts';

export interface FolderLock {
  /** Tells commands beside this gateway, for as long as the lock is held. */
  announce(announcement: Announcement): void;
  release(): void;
}

/**
 * Makes this process the only gateway that counts in `folder`: two of them would admit twice what a plan allows. The lock
 * ends with the process, however that ends. Throws StateFileError.
 */
export function lockFolder(folder: string): FolderLock {
  const lock = lockIn(folder);
  const file = fileIn(folder);
  // A gateway that crashed has left its announcement behind.
  rmSync(file, { force: true });
  return {
    announce: (announcement) => writeFileSync(file, JSON.stringify(announcement), { mode: 0o600 }),
    release() {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}

function lockIn(folder: string): { release(): void } {
  try {
    return lockFile(join(folder, 'gateway.lock'));
  } catch (error) {
    throw new StateFileError(`another gateway is running on the data folder ${folder}`, { cause: error });
  }
}

/** What the gateway that holds the lock has announced; `null` where there is none, or it has not yet done so. */
export function announcedIn(folder: string): Announcement | null {
  try {
    const { url, token } = JSON.parse(readFileSync(fileIn(folder), 'utf8')) as Partial<Announcement>;
    return typeof url === 'string' && typeof token === 'string' ? { url, token } : null;
  } catch {
    return null;
  }
}

const fileIn = (folder: string): string => join(folder, 'gateway.json');
