import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked, lockFile } from '../../../common/lock.ts';
import { KeyCacheFile } from './file.ts';
import { KEY_CACHE_LOCK } from './freshness.ts';

export interface OwnedFileOptions {
  readonly folder: string;
  /** Names the backend, see `KeySource.name`. */
  readonly source: string;
  /** Told that rows of changed keys cannot be removed. */
  readonly unforgotten: (error: unknown) => void;
  /** Told that the file cannot be deleted. */
  readonly failed: (error: unknown) => void;
}

/** The file of the copy while this process is the one that writes it. */
export class OwnedFile {
  readonly #options: OwnedFileOptions;
  #lock: { release(): void } | null = null;
  #file: KeyCacheFile | null = null;
  /** Changed keys whose rows are to be removed. */
  #changed: string[] = [];

  constructor(options: OwnedFileOptions) {
    this.#options = options;
  }

  /** `null`: another process has it, or it is to be opened (again). */
  get file(): KeyCacheFile | null {
    return this.#file;
  }

  /** Opens the file, and returns `false` if another process has it. */
  open(): boolean {
    const { folder, source } = this.#options;
    this.#lock ??= lockIn(folder);
    if (this.#lock) this.#file = KeyCacheFile.open(folder, source);
    return this.#file !== null;
  }

  /** Removes the rows of a key that was changed, together with those of all keys that are changed in this turn. */
  forgetSoon(hash: string): void {
    if (this.#changed.push(hash) === 1) setImmediate(() => this.#forget());
  }

  /** Deletes a file that cannot be written: it would not tell of changes. */
  discard(): void {
    this.#file?.close();
    this.#file = null;
    this.#changed = [];
    if (!this.#lock) return;
    try {
      KeyCacheFile.discard(this.#options.folder);
    } catch (undeleted) {
      this.#options.failed(undeleted);
    }
  }

  close(): void {
    this.#forget();
    this.#file?.close();
    this.#file = null;
    this.#lock?.release();
    this.#lock = null;
  }

  #forget(): void {
    const hashes = this.#changed;
    this.#changed = [];
    if (hashes.length === 0 || !this.#file) return;
    try {
      this.#file.forget(hashes);
    } catch (error) {
      this.#options.unforgotten(error);
    }
  }
}

/** `null`: another process keeps the copy. */
function lockIn(folder: string): { release(): void } | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return lockFile(join(folder, KEY_CACHE_LOCK));
  } catch (error) {
    if (isLocked(error)) return null;
    throw error;
  }
}
