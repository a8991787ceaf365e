import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFile } from '../../common/folder.ts';
import { type Lock, tryLock } from '../../common/lock.ts';
import { reasonOf, StateFileError } from './file.ts';

/** Another process counts on the folder. Any other StateFileError of a lock has another cause. */
export class FolderInUse extends StateFileError {
  override name = 'FolderInUse';
}

/**
 * Makes this process the only counting gateway on `folder`: two gateways would admit twice the
 * limits. The lock ends with the process, even after a crash. Throws FolderInUse, and
 * StateFileError if the lock cannot be made.
 */
export function lockFolder(folder: string): Lock {
  const lock = tryLockIn(folder);
  if (lock) return lock;
  throw new FolderInUse(
    `another gateway is running on the data folder ${folder}`,
  );
}

/** `lockFolder` for a command that changes the folder of a stopped gateway. */
export function lockStoppedFolder(folder: string): Lock {
  const lock = tryLockIn(folder);
  if (lock) return lock;
  throw new FolderInUse(
    `Stop the gateway that uses ${folder} first: nothing was changed.`,
  );
}

/** `null`: another process holds the lock. Throws StateFileError if it cannot be made. */
function tryLockIn(folder: string): Lock | null {
  const file = join(folder, 'gateway.lock');
  try {
    createPrivateFile(file);
    accessSync(file, constants.R_OK | constants.W_OK);
    return tryLock(file);
  } catch (cause) {
    throw new StateFileError(
      `cannot lock the data folder ${folder} with ${file}: ${reasonOf(cause)}`,
      { cause },
    );
  }
}
