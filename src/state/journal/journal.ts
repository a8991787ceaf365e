import { join } from 'node:path';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import { type AppendFile, FILES, type JournalFiles } from './files.ts';
import { generationFile, HEAD_SIZE, headerOf, headOf } from './format.ts';
import type { Generation } from './read.ts';

export interface JournalOptions {
  readonly folder: string;
  readonly name: string;
  /** The files that are there already, oldest first. Nothing is ever appended to them: their end may be torn. */
  readonly older: readonly Generation[];
  readonly files?: JournalFiles;
  /** Notes which files hold what was pushed: when there is another one, and before others are removed. */
  readonly holds?: (generations: readonly number[]) => Promise<void>;
  /** Called when writing begins to fail, and when it works again. */
  readonly unsaved?: (error: unknown) => void;
  readonly saved?: () => void;
}

/** Batches could not be put on disk. Whoever pushed them was told, and the next ones go to a new file. */
export class JournalWriteError extends Error {
  override name = 'JournalWriteError';
}

interface Batch {
  readonly payload: Uint8Array;
  readonly lost: () => void;
}

/** The file that is appended to. `holds`: whether a sync of it has ever succeeded. */
interface Current {
  readonly number: number;
  readonly file: AppendFile;
  size: number;
  holds: boolean;
}

/**
 * The writing side of a journal. Batches lie in the files in the order in which they were pushed. Whoever waits at the same time
 * shares one write, and one sync. A write does not wait for the sync before it: a disk that is slow to sync must not make the
 * crash of a process cost more.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #files: JournalFiles;
  #older: Generation[];
  #newest: number;
  #current: Current | null = null;
  #beginsAnew = false;
  #queue: Batch[] = [];
  #isFailing = false;
  /** Written, and not synced yet. */
  #unsynced: Batch[] = [];
  /** How often batches were lost: whoever waits for a sync learns that its own were among them. */
  #losses = 0;
  readonly #writes = new CoalescedWork(() => this.#write());
  readonly #syncs = new CoalescedWork(() => this.#sync());

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#files = options.files ?? FILES;
    this.#older = [...options.older];
    this.#newest = options.older.at(-1)?.number ?? 0;
  }

  /** Bytes in all files. */
  get size(): number {
    return this.#older.reduce((sum, { size }) => sum + size, this.#current?.size ?? 0);
  }

  /** Files before the one that is appended to. */
  get older(): number {
    return this.#older.length;
  }

  /** Has `payload` written with the next commit. `lost` is called if that fails. */
  push(payload: Uint8Array, lost: () => void): void {
    this.#queue.push({ payload, lost });
  }

  /** Resolves once all that was pushed before outlives the process. Rejects with NotWritten if a batch was lost. */
  write(): Promise<void> {
    return this.#writes.next();
  }

  /** Resolves once all that was pushed before outlives lost power. Rejects with NotWritten if a batch was lost. */
  async commit(): Promise<void> {
    await this.#writes.next();
    const losses = this.#losses;
    await this.#syncs.next();
    if (losses !== this.#losses) throw new JournalWriteError('the journal cannot be synced');
  }

  /** What is pushed from now on goes to a new file. */
  begin(): void {
    this.#beginsAnew = true;
  }

  /**
   * Removes all files but the one that is appended to, whose batches must say all that theirs do. Each is gone for good
   * before the next one goes: one that came back without its successors would tell what is no longer true.
   */
  async dropOlder(): Promise<void> {
    try {
      // Without a file to append to, nothing is left to be said.
      await this.#options.holds?.(this.#current ? [this.#current.number] : []);
      for (const old of [...this.#older]) {
        await this.#remove(old.number);
        this.#older = this.#older.filter((one) => one !== old);
      }
    } catch (error) {
      // They stay until everything is written anew the next time.
      this.#fails(error);
    }
  }

  /** Ends writing. What was pushed and never committed is lost. */
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
      await current.file.append(batches.flatMap(({ payload }) => [headOf(payload), payload]));
      current.size += batches.reduce((sum, { payload }) => sum + HEAD_SIZE + payload.length, 0);
      // A sync that failed meanwhile has given the file up.
      if (current !== this.#current) throw new JournalWriteError('the file was given up');
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
        const older = this.#older.filter(({ size }) => size >= header).map(({ number }) => number);
        await this.#options.holds?.([...older, current.number]);
      }
      current.holds = true;
    } catch (error) {
      throw await this.#lose(batches, error);
    }
    if (this.#isFailing) this.#options.saved?.();
    this.#isFailing = false;
  }

  /** Gives up the file with all that is not synced in it. */
  async #lose(batches: readonly Batch[], error: unknown): Promise<JournalWriteError> {
    this.#losses += 1;
    for (const { lost } of [...batches, ...this.#unsynced.splice(0)]) lost();
    this.#fails(error);
    await this.#abandon();
    return new JournalWriteError('the journal cannot be written', { cause: error });
  }

  async #file(): Promise<Current> {
    if (this.#beginsAnew) {
      // Whoever pushed what it cannot sync is told.
      await this.#syncs.next().catch(() => {});
      await this.#leave();
    }
    this.#beginsAnew = false;
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

  /** After a failed write nobody knows how the file ends, so nothing follows there. One that holds nothing is removed. */
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
    return join(this.#options.folder, generationFile(this.#options.name, number));
  }

  #fails(error: unknown): void {
    if (!this.#isFailing) this.#options.unsaved?.(error);
    this.#isFailing = true;
  }
}
