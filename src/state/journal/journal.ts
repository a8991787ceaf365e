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
      async append(parts: readonly Uint8Array[]): Promise<void> {
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
export class Journal {
  readonly #options: JournalOptions;
  readonly #files: JournalFiles;
  #older: Generation[];
  #newest: number;
  #current: Current | null = null;
  #beginsFile = false;
  #queue: Batch[] = [];
  #isFailing = false;
  #unsynced: Batch[] = [];
  /** Number of losses, so that a caller that waits for a sync detects its own. */
  #losses = 0;
  readonly #writes = new CoalescedWork(() => this.#write());
  readonly #syncs = new CoalescedWork(() => this.#sync());

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#files = options.files ?? FILES;
    this.#older = [...options.older];
    this.#newest = options.older.at(-1)?.number ?? 0;
  }

  get size(): number {
    return this.#older.reduce(
      (sum, { size }) => sum + size,
      this.#current?.size ?? 0,
    );
  }

  get older(): number {
    return this.#older.length;
  }

  /** Adds `payload` to the next commit. `lost` is called if it fails. */
  push(payload: Uint8Array, lost: () => void): void {
    this.#queue.push({ payload, lost });
  }

  /**
   * Resolves when pushed batches survive a process crash. Rejects with JournalWriteError if a batch
   * was lost.
   */
  write(): Promise<void> {
    return this.#writes.next();
  }

  /**
   * Resolves when pushed batches survive power loss. Rejects with JournalWriteError if a batch was
   * lost.
   */
  async commit(): Promise<void> {
    await this.#writes.next();
    const losses = this.#losses;
    await this.#syncs.next();
    if (losses !== this.#losses)
      throw new JournalWriteError('the journal cannot be synced');
  }

  begin(): void {
    this.#beginsFile = true;
  }

  /**
   * Removes all files before the current one, which must contain all their data. Each removal is
   * durable before the next one: a file that reappeared without its successors would contain
   * outdated data.
   */
  async dropOlder(): Promise<void> {
    // First, because a file that is synced meanwhile names the older files that are needed.
    const older = this.#older.splice(0);
    try {
      // Without a synced current file, no data is needed.
      await this.#options.holds?.(
        this.#current?.holds ? [this.#current.number] : [],
      );
      while (older[0]) {
        await this.#remove(older[0].number);
        older.shift();
      }
    } catch (error) {
      // The files stay until the next complete rewrite.
      this.#older.unshift(...older);
      this.#fails(error);
    }
  }

  /** Closes the journal. Batches that were never committed are lost. */
  async close(): Promise<void> {
    await this.#writes.idle();
    await this.#syncs.idle();
    await this.#current?.file.close();
    this.#current = null;
  }

  async #write(): Promise<void> {
    const batches = this.#queue.splice(0);
    if (batches.length === 0) return;
    try {
      const current = await this.#file();
      await current.file.append(
        batches.flatMap(({ payload }) => [headOf(payload), payload]),
      );
      current.size += batches.reduce(
        (sum, { payload }) => sum + HEAD_SIZE + payload.length,
        0,
      );
      // A sync failed meanwhile.
      if (current !== this.#current)
        throw new JournalWriteError('the file was given up');
      this.#unsynced.push(...batches);
    } catch (error) {
      throw await this.#lose(batches, error);
    }
  }

  async #sync(): Promise<void> {
    const [current, batches] = [this.#current, this.#unsynced];
    if (!current || batches.length === 0) return;
    this.#unsynced = [];
    try {
      await current.file.sync();
      if (!current.holds) {
        await this.#files.syncFolder(this.#options.folder);
        const header = headerOf(this.#options.name).length;
        const older = this.#older
          .filter(({ size }) => size >= header)
          .map(({ number }) => number);
        current.holds = true;
        await this.#options.holds?.([...older, current.number]);
      }
    } catch (error) {
      throw await this.#lose(batches, error);
    }
    if (this.#isFailing) this.#options.saved?.();
    this.#isFailing = false;
  }

  async #lose(
    batches: readonly Batch[],
    error: unknown,
  ): Promise<JournalWriteError> {
    this.#losses += 1;
    for (const { lost } of [...batches, ...this.#unsynced.splice(0)]) lost();
    this.#fails(error);
    await this.#abandon();
    return new JournalWriteError('the journal cannot be written', {
      cause: error,
    });
  }

  async #file(): Promise<Current> {
    if (this.#beginsFile) {
      // The sync itself rejects for its callers.
      await this.#syncs.next().catch(() => {});
      await this.#leave();
    }
    this.#beginsFile = false;
    if (this.#current) return this.#current;
    const number = ++this.#newest;
    const file = await this.#files.create(this.#path(number));
    const header = headerOf(this.#options.name);
    this.#current = { number, file, size: header.length, holds: false };
    await file.append([header]);
    return this.#current;
  }

  async #leave(): Promise<void> {
    const left = this.#current;
    this.#current = null;
    if (!left) return;
    this.#older.push({ number: left.number, size: left.size });
    await left.file.close();
  }

  /**
   * After a failed write the end of the file is undefined, so nothing is appended. A file that was
   * never synced is removed.
   */
  async #abandon(): Promise<void> {
    const left = this.#current;
    try {
      await this.#leave();
      if (!left || left.holds) return;
      await this.#remove(left.number);
      this.#older = this.#older.filter(({ number }) => number !== left.number);
    } catch (error) {
      this.#fails(error);
    }
  }

  async #remove(number: number): Promise<void> {
    await this.#files.remove(this.#path(number));
    await this.#files.syncFolder(this.#options.folder);
  }

  #path(number: number): string {
    return join(
      this.#options.folder,
      generationFile(this.#options.name, number),
    );
  }

  #fails(error: unknown): void {
    if (!this.#isFailing) this.#options.unsaved?.(error);
    this.#isFailing = true;
  }
}
