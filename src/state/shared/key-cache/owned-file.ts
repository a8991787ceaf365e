import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked, lockFile } from '../../../common/lock.ts';
import { KeyCacheFile } from './file.ts';
import { KEY_CACHE_LOCK } from './freshness.ts';

export interface OwnedFileOptions {
  readonly folder: string;
  /** See `KeySource.name`. */
  readonly source: string;
  readonly failed: (error: unknown) => void;
}

export class OwnedFile {
  readonly #options: OwnedFileOptions;
  #lock: { release(): void } | null = null;
  #file: KeyCacheFile | null = null;
  #changed: string[] = [];

  constructor(options: OwnedFileOptions) {
    this.#options = options;
  }

  /** `null`: another process owns it, or it is not open. */
  get file(): KeyCacheFile | null {
    return this.#file;
  }

  /** `false`: another process owns it. */
  open(): boolean {
    const { folder, source } = this.#options;
    this.#lock ??= lockIn(folder);
    if (this.#lock) this.#file = KeyCacheFile.open(folder, source);
    return this.#file !== null;
  }

  /** Removes the rows of a changed key, batched with all changes of this turn. */
  forgetSoon(hash: string): void {
    if (this.#changed.push(hash) === 1) setImmediate(() => this.#forget());
  }

  /** Reports the error, and deletes a file that cannot be written, because it would miss changes. */
  discard(error: unknown): void {
    this.#options.failed(error);
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
      this.discard(error);
    }
  }
}

/** `null`: another process owns the cache. */
function lockIn(folder: string): { release(): void } | null {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return lockFile(join(folder, KEY_CACHE_LOCK));
  } catch (error) {
    if (isLocked(error)) return null;
    throw error;
  }
}
