import { open, rm } from 'node:fs/promises';
import { syncFolder } from '../../common/folder.ts';

/** Tests make these fail. */
export type JournalFiles = typeof FILES;
export type AppendFile = Awaited<ReturnType<JournalFiles['create']>>;

/** Real files with access for their owner only. All work runs in the thread pool of libuv. */
export const FILES = {
  /** Rejects if the file exists. */
  async create(file: string) {
    const handle = await open(file, 'wx', 0o600);
    return {
      /** Rejects unless everything was written. */
      async append(parts: readonly Uint8Array[]): Promise<void> {
        const { bytesWritten } = await handle.writev([...parts]);
        const size = parts.reduce((sum, { length }) => sum + length, 0);
        if (bytesWritten !== size) throw new Error(`only ${bytesWritten} of ${size} bytes could be written`);
      },
      /** Resolves when appended data survives power loss. */
      sync: () => handle.datasync(),
      close: () => handle.close(),
    };
  },
  /** Ignores a missing file. */
  remove: (file: string) => rm(file, { force: true }),
  syncFolder,
};
