import { open, rm } from 'node:fs/promises';
import { syncFolder } from '../../common/folder.ts';

export interface AppendFile {
  /** Rejects unless everything was written. */
  append(parts: readonly Uint8Array[]): Promise<void>;
  /** Resolves when appended data survives power loss. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Tests make these fail. */
export interface JournalFiles {
  /** Rejects if the file exists. */
  create(file: string): Promise<AppendFile>;
  /** Ignores a missing file. */
  remove(file: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

/** Real files with access for their owner only. All work runs in the thread pool of libuv. */
export const FILES: JournalFiles = {
  async create(file) {
    const handle = await open(file, 'wx', 0o600);
    return {
      async append(parts) {
        const { bytesWritten } = await handle.writev([...parts]);
        const size = parts.reduce((sum, { length }) => sum + length, 0);
        if (bytesWritten !== size) throw new Error(`only ${bytesWritten} of ${size} bytes could be written`);
      },
      sync: () => handle.datasync(),
      close: () => handle.close(),
    };
  },
  remove: (file) => rm(file, { force: true }),
  syncFolder,
};
