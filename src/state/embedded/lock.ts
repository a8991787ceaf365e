import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile } from '../../common/lock.ts';
import type { Announcement } from '../storage.ts';
import { StateFileError } from './file.ts';

const FILE = 'gateway.json';

export type FolderLock = ReturnType<typeof lockFolder>;

/**
 * Makes this process the only counting gateway on `folder`: two gateways would admit twice the limits. The lock ends
 * with the process, even after a crash. Throws StateFileError.
 */
export function lockFolder(folder: string) {
  let lock: ReturnType<typeof lockFile>;
  try {
    lock = lockFile(join(folder, 'gateway.lock'));
  } catch (error) {
    throw new StateFileError(`another gateway is running on the data folder ${folder}`, { cause: error });
  }
  const file = join(folder, FILE);
  // Left by a crashed gateway.
  rmSync(file, { force: true });
  return {
    /** Publishes the address of this gateway for commands while the lock is held. */
    announce: (announcement: Announcement) => writeFileSync(file, JSON.stringify(announcement), { mode: 0o600 }),
    release() {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}

/** The announcement of the gateway that holds the lock; `null`: no gateway, or not announced yet. */
export function announcedIn(folder: string): Announcement | null {
  try {
    const { url, token } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Partial<Announcement>;
    return typeof url === 'string' && typeof token === 'string' ? { url, token } : null;
  } catch {
    return null;
  }
}
