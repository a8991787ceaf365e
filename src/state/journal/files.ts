import { open, rm } from 'node:fs/promises';
import { syncFolder } from '../../common/folder.ts';

/** A file that is only ever appended to. */
export interface AppendFile {
  /** Rejects unless all of it was written. */
  append(parts: readonly Uint8Array[]): Promise<void>;
  /** Resolves once what was appended outlives lost power. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What a journal asks of the file system; tests make it fail. */
export interface JournalFiles {
  /** Rejects where the file exists. */
  create(file: string): Promise<AppendFile>;
  /** Does nothing where there is no such file. */
  remove(file: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

/** The files of this machine, readable for their owner alone. All work is done by the thread pool of libuv. */
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
