import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  openSync,
  type Stats,
} from 'node:fs';
import { lstat, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Only then is a new, renamed or removed file durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The content of a file survives power loss. */
export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

export function syncFolderNow(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** As in the status of a file. */
type FileAccess = Pick<Stats, 'mode' | 'uid' | 'gid'>;

/** Only for this process: -1 leaves the owner as it is. */
export const PRIVATE: FileAccess = { mode: 0o600, uid: -1, gid: -1 };

/**
 * Atomic and durable: readers see the old content or the new one, and it resolves after the data is on
 * disk. A symbolic link stays, and the file that it leads to is replaced; rejects if that file is
 * missing. Another hard link keeps the old content, as a backup made of them needs. Only root can
 * give a file to another owner.
 */
export async function replaceFile(
  name: string,
  content: string | Uint8Array,
  { mode, uid, gid }: FileAccess,
): Promise<void> {
  const file = await targetOf(name);
  const beside = `${file}.${process.pid}.new`;
  try {
    const handle = await open(beside, 'w', PRIVATE.mode);
    try {
      await handle.writeFile(content);
      if (process.getuid?.() === 0) await handle.chown(uid, gid);
      // The umask limits the mode of a new file.
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } finally {
    await rm(beside, { force: true });
  }
  await syncFolder(dirname(file));
}

/** The file that a name leads to; a missing name leads to itself. */
async function targetOf(name: string): Promise<string> {
  try {
    return await realpath(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (await isThere(name)) throw error;
    return name;
  }
}

const isThere = (name: string): Promise<boolean> =>
  lstat(name).then(
    () => true,
    () => false,
  );

/**
 * Creates a missing file. An existing file is not opened: closing a descriptor drops the SQLite
 * locks of this process on it. Only root can give a file to another owner. Throws errors of the
 * file system.
 */
export function createFile(file: string, { mode, uid, gid }: FileAccess): void {
  if (existsSync(file)) return;
  try {
    const fd = openSync(file, 'wx', mode);
    if (process.getuid?.() === 0) fchownSync(fd, uid, gid);
    closeSync(fd);
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** With access for its owner only. */
export const createPrivateFile = (file: string): void =>
  createFile(file, PRIVATE);
