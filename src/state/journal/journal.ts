import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import { syncFolder } from '../../common/folder.ts';
import { generationFile, HEAD_SIZE, headerOf, headOf } from './format.ts';
import type { Generation } from './read.ts';

/** Tests make these fail. */
export type JournalFiles = typeof FILES;

/** Real files with access for their owner only. All work runs in the thread pool of libuv. */
export const FILES = {
  /** Rejects if the file exists. */
  async create(file: string) {
    const handle = await open(file, 'wx', 0o600);
    return {
      /** Rejects unless everything was written. */
      async append(parts: readonly Uint8Array[]) {
        const { bytesWritten } = await handle.writev([...parts]);
        const size = parts.reduce((sum, { length }) => sum + length, 0);
        if (bytesWritten !== size)
          throw new Error(
            `only ${bytesWritten} of ${size} bytes could be written`,
          );
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

export interface JournalOptions {
  readonly folder: string;
  readonly name: string;
  /** Existing files, oldest first. They are never appended to: their end may be torn. */
  readonly older: readonly Generation[];
  readonly files?: JournalFiles;
  /** Called after a file is created, and before others are removed. */
  readonly holds?: (generations: readonly number[]) => Promise<void>;
  /** Called when writes begin to fail, and when they recover. */
  readonly unsaved?: ((error: unknown) => void) | undefined;
  readonly saved?: (() => void) | undefined;
}

/** Batches could not be written. Later batches go to a new file. */
export class JournalWriteError extends Error {
  override name = 'JournalWriteError';
}

/** The journal has reported a JournalWriteError. Any other error is a bug. */
export function ignoreWriteError(error: unknown): void {
  if (!(error instanceof JournalWriteError)) throw error;
}

interface Batch {
  readonly payload: Uint8Array;
  readonly lost: () => void;
}

/** `holds`: whether a sync has ever succeeded. */
interface Current {
  readonly number: number;
  readonly file: Awaited<ReturnType<JournalFiles['create']>>;
  size: number;
  holds: boolean;
}

/**
 * Writes batches in the order of `push`. Concurrent callers share one write and one sync. A write
 * does not wait for the previous sync, so a slow disk does not increase the loss in a process
 * crash.
 */
export function createJournal({
  files = FILES,
  older,
  holds,
  folder,
  name,
  saved,
  unsaved,
}: JournalOptions) {
  let active: Current | null = null;
  let beginsFile = false;
  const queue: Batch[] = [];
  let isFailing = false;
  let unsynced: Batch[] = [];
  /** Number of losses, so that a caller that waits for a sync detects its own. */
  let losses = 0;
  const writes = new CoalescedWork(append);
  const syncs = new CoalescedWork(syncAppended);
  let olderFiles = [...older];
  let newest = older.at(-1)?.number ?? 0;

  async function append() {
    const batches = queue.splice(0);
    if (batches.length === 0) return;
    try {
      const current = await file();
      await current.file.append(
        batches.flatMap(({ payload }) => [headOf(payload), payload]),
      );
      current.size += batches.reduce(
        (sum, { payload }) => sum + HEAD_SIZE + payload.length,
        0,
      );
      // A sync failed meanwhile.
      if (current !== active)
        throw new JournalWriteError('the file was given up');
      unsynced.push(...batches);
    } catch (error) {
      throw await lose(batches, error);
    }
  }

  async function syncAppended() {
    const [current, batches] = [active, unsynced];
    if (!current || batches.length === 0) return;
    unsynced = [];
    try {
      await current.file.sync();
      if (!current.holds) {
        await files.syncFolder(folder);
        const header = headerOf(name).length;
        const older = olderFiles
          .filter(({ size }) => size >= header)
          .map(({ number }) => number);
        current.holds = true;
        await holds?.([...older, current.number]);
      }
    } catch (error) {
      throw await lose(batches, error);
    }
    if (isFailing) saved?.();
    isFailing = false;
  }

  async function lose(
    batches: readonly Batch[],
    error: unknown,
  ): Promise<JournalWriteError> {
    losses += 1;
    for (const { lost } of [...batches, ...unsynced.splice(0)]) lost();
    fails(error);
    await abandon();
    return new JournalWriteError('the journal cannot be written', {
      cause: error,
    });
  }

  async function file(): Promise<Current> {
    if (beginsFile) {
      // The sync itself rejects for its callers.
      await syncs.next().catch(() => {});
      await leave();
    }
    beginsFile = false;
    if (active) return active;
    const number = ++newest;
    const file = await files.create(path(number));
    const header = headerOf(name);
    active = { number, file, size: header.length, holds: false };
    await file.append([header]);
    return active;
  }

  async function leave() {
    const left = active;
    active = null;
    if (!left) return;
    olderFiles.push({ number: left.number, size: left.size });
    await left.file.close();
  }

  /**
   * After a failed write the end of the file is undefined, so nothing is appended. A file that was
   * never synced is removed.
   */
  async function abandon() {
    const left = active;
    try {
      await leave();
      if (!left || left.holds) return;
      await remove(left.number);
      olderFiles = olderFiles.filter(({ number }) => number !== left.number);
    } catch (error) {
      fails(error);
    }
  }

  async function remove(number: number) {
    await files.remove(path(number));
    await files.syncFolder(folder);
  }

  function path(number: number) {
    return join(folder, generationFile(name, number));
  }

  function fails(error: unknown) {
    if (!isFailing) unsaved?.(error);
    isFailing = true;
  }

  return {
    get size() {
      return olderFiles.reduce(
        (sum, { size }) => sum + size,
        active?.size ?? 0,
      );
    },
    get older() {
      return olderFiles.length;
    },
    /** Adds `payload` to the next commit. `lost` is called if it fails. */
    push(payload: Uint8Array, lost: () => void) {
      queue.push({ payload, lost });
    },
    /**
     * Resolves when pushed batches survive a process crash. Rejects with JournalWriteError if a batch
     * was lost.
     */
    write() {
      return writes.next();
    },
    /**
     * Resolves when pushed batches survive power loss. Rejects with JournalWriteError if a batch was
     * lost.
     */
    async commit() {
      await writes.next();
      const before = losses;
      await syncs.next();
      if (before !== losses)
        throw new JournalWriteError('the journal cannot be synced');
    },
    begin() {
      beginsFile = true;
    },
    /**
     * Removes all files before the current one, which must contain all their data. Each removal is
     * durable before the next one: a file that reappeared without its successors would contain
     * outdated data.
     */
    async dropOlder() {
      // First, because a file that is synced meanwhile names the older files that are needed.
      const older = olderFiles.splice(0);
      try {
        // Without a synced current file, no data is needed.
        await holds?.(active?.holds ? [active.number] : []);
        while (older[0]) {
          await remove(older[0].number);
          older.shift();
        }
      } catch (error) {
        // The files stay until the next complete rewrite.
        olderFiles.unshift(...older);
        fails(error);
      }
    },
    /** Closes the journal. Batches that were never committed are lost. */
    async close() {
      await writes.idle();
      await syncs.idle();
      await active?.file.close();
      active = null;
    },
  };
}

export type Journal = ReturnType<typeof createJournal>;
