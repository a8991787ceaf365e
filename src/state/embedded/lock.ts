import {
  accessSync,
  constants,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createPrivateFile } from '../../common/folder.ts';
import { tryLock } from '../../common/lock.ts';
import type { Announcement } from '../state.ts';
import { reasonOf, StateFileError } from './file.ts';

const FILE = 'gateway.json';

export type FolderLock = ReturnType<typeof lockFolder>;

/** Another process counts on the folder. Any other StateFileError of a lock has another cause. */
export class FolderInUse extends StateFileError {
  override name = 'FolderInUse';
}

/**
 * Makes this process the only counting gateway on `folder`: two gateways would admit twice the
 * limits. The lock ends with the process, even after a crash. Throws FolderInUse, and
 * StateFileError if the lock cannot be made.
 */
export function lockFolder(folder: string) {
  const lock = lockIn(folder);
  const file = join(folder, FILE);
  // Left by a crashed gateway.
  rmSync(file, { force: true });
  return {
    /** Publishes the address of this gateway for commands while the lock is held. */
    announce(announcement: Announcement): void {
      const next = `${file}.new`;
      writeFileSync(next, JSON.stringify(announcement), { mode: 0o600 });
      renameSync(next, file);
    },
    release() {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}

function lockIn(folder: string): NonNullable<ReturnType<typeof tryLock>> {
  const file = join(folder, 'gateway.lock');
  let lock: ReturnType<typeof tryLock>;
  try {
    createPrivateFile(file);
    accessSync(file, constants.R_OK | constants.W_OK);
    lock = tryLock(file);
  } catch (error) {
    const reason = reasonOf(error);
    throw new StateFileError(
      `cannot lock the data folder ${folder} with ${file}: ${reason}`,
      {
        cause: error,
      },
    );
  }
  if (lock) return lock;
  throw new FolderInUse(
    `another gateway is running on the data folder ${folder}`,
  );
}

/**
 * The announcement of the gateway that holds the lock; `null`: no gateway, or not announced yet.
 * Removes the announcement of a crashed gateway. Throws StateFileError if the lock cannot be tried.
 */
export function announcedIn(folder: string): Announcement | null {
  const announced = readAnnouncement(join(folder, FILE));
  return announced !== null && isLocked(folder) ? announced : null;
}

function readAnnouncement(file: string): Announcement | null {
  try {
    const { url, token, certificates } = JSON.parse(
      readFileSync(file, 'utf8'),
    ) as Partial<Announcement>;
    const isWhole =
      typeof url === 'string' &&
      typeof token === 'string' &&
      Array.isArray(certificates);
    return isWhole ? { url, token, certificates } : null;
  } catch {
    return null;
  }
}

function isLocked(folder: string): boolean {
  try {
    lockFolder(folder).release();
    return false;
  } catch (error) {
    if (error instanceof FolderInUse) return true;
    throw error;
  }
}
