import { EventEmitter } from 'node:events';
import * as files from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { COPY_FILE } from '../../../src/records/redis/copy.ts';
import { type CopyRequest, openCopyWriter } from '../../../src/records/redis/copy-writer.ts';
import { pendingRowsIn, type RowRequest } from '../../../src/state/rows/pending-rows.ts';
import { rowFileIn } from '../../../src/state/rows/row-file.ts';
import type { Replaced } from './globals.ts';
import type { Process } from './machine.ts';
import type { World } from './world.ts';

const require = createRequire(import.meta.url);
const threads: object = require('node:worker_threads');
const zlib: Record<string, unknown> = require('node:zlib');
const callbacks: Record<string, unknown> = require('node:fs');
const promises: Record<string, (...args: never[]) => unknown> = require('node:fs/promises');

/** Milliseconds of an operation, and of a sync. */
const USUAL_DELAY = 0.05;
const SYNC_DELAY = 2;
/** One commit of so many is the last one that a loss of power leaves of a copy of records. */
const DURABLE_EVERY = 8;
/** Beside the folder of a machine: what a loss of power brings back. */
const DURABLE = 'durable';

/**
 * A file that was created or removed since its folder was synced, or written since it was synced.
 */
interface Written {
  synced: number;
  isInFolder: boolean;
}

/**
 * The disks of all machines: a folder of real files, whose asynchronous operations take virtual
 * time. It knows what was synced. Databases are real SQLite files; of a database with a sync of its
 * log, a loss of power keeps that moment; of the copy of the records, which is not synced, the
 * moment after one of its last commits.
 */
export class Disk {
  readonly #world: World;
  readonly #root: string;
  readonly #written = new Map<string, Written>();
  readonly #removed = new Map<string, string>();
  #names = 0;
  syncDelay = SYNC_DELAY;

  constructor(world: World, root: string) {
    this.#world = world;
    this.#root = root;
    files.mkdirSync(join(root, DURABLE), { recursive: true });
  }

  folderOf(machine: string): string {
    const folder = join(this.#root, machine);
    files.mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Only what was synced is left of the files of a machine. */
  losePower(folder: string): void {
    for (const [file, { synced, isInFolder }] of this.#written) {
      if (dirname(file) !== folder || !files.existsSync(file)) continue;
      if (isInFolder) files.truncateSync(file, synced);
      else files.rmSync(file);
    }
    for (const [file, copy] of this.#removed)
      if (dirname(file) === folder) files.renameSync(copy, file);
    for (const name of files.readdirSync(folder))
      if (name.endsWith('.db')) this.#restore(join(folder, name));
    for (const existing of [this.#written, this.#removed])
      for (const file of existing.keys()) if (dirname(file) === folder) existing.delete(file);
  }

  replacements(): Replaced[] {
    const real = { ...promises } as unknown as Record<string, (...args: unknown[]) => unknown>;
    const here = (name: string, work: (path: string, ...args: never[]) => unknown): Replaced => ({
      of: promises,
      name,
      value: (path: unknown, ...args: unknown[]) =>
        String(path).startsWith(this.#root)
          ? work(String(path), ...(args as never[]))
          : real[name]!(path, ...args),
    });
    return [
      here('open', (path: string, flags: string, mode?: number) => this.#open(path, flags, mode)),
      here('rm', (path: string) => this.#after(USUAL_DELAY, () => this.#remove(path))),
      here('rename', (from: string, to: string) =>
        this.#after(USUAL_DELAY, () => files.renameSync(from, to)),
      ),
      here('writeFile', (path: string, content: string | Uint8Array) =>
        this.#after(USUAL_DELAY, () => files.writeFileSync(path, content)),
      ),
      here('realpath', (path: string) => this.#after(USUAL_DELAY, () => files.realpathSync(path))),
      here('lstat', (path: string) => this.#after(USUAL_DELAY, () => files.lstatSync(path))),
      here('readFile', (path: string) => this.#after(USUAL_DELAY, () => files.readFileSync(path))),
      { of: callbacks, name: 'fdatasync', value: this.#syncLater },
      ...this.#compression(),
      this.#threads(),
      ...followedDatabases(
        this.#world,
        (file) => this.#committed(file),
        (file) => file.startsWith(this.#root) && this.#keep(file),
      ),
    ];
  }

  readonly #syncLater = (_fd: number, done: (error: unknown) => void): void =>
    void this.#after(this.syncDelay, () => null).then(done, done);

  /** A thread that writes works in virtual time, and ends with its process. */
  #threads(): Replaced {
    const disk = this;
    class VirtualThread extends EventEmitter {
      readonly #owner = disk.#world.process;
      readonly #handle: (request: never) => object | null;
      readonly #rowFile: string | null;

      constructor(file: string, { workerData: given }: { workerData: string }) {
        super();
        if (basename(file) === 'copier.ts') {
          this.#rowFile = null;
          this.#handle = openCopyWriter(given).handle;
          return;
        }
        const rowFile = rowFileIn(given);
        this.#rowFile = rowFile;
        this.#handle = pendingRowsIn(given).handle;
        this.#owner?.whenEnded(() => disk.#keepLog(rowFile));
      }

      ref(): void {}

      unref(): void {}

      postMessage(request: RowRequest | CopyRequest): void {
        const isSynced = this.#rowFile !== null && request.type !== 'put';
        void disk.#after(isSynced ? disk.syncDelay : USUAL_DELAY, () => {
          const answer = this.#handle(request as never);
          if (answer === null) return;
          if (this.#rowFile !== null) disk.#keep(this.#rowFile);
          disk.#world.packet(0, this.#owner, () => this.emit('message', answer));
          if (request.type === 'close') disk.#world.packet(0, this.#owner, () => this.emit('exit'));
        });
      }
    }
    return { of: threads, name: 'Worker', value: VirtualThread };
  }

  /** A killed process leaves the log of its database, which the end of the last writer removes. */
  #keepLog(database: string): void {
    if (!files.existsSync(`${database}-wal`)) return;
    const reader = new DatabaseSync(database, { readOnly: true });
    reader.prepare('SELECT 1 FROM rows LIMIT 1').get();
    this.#world.packet(0, null, () => reader.close());
  }

  /** The thread pool works in virtual time. */
  #compression(): Replaced[] {
    return (['deflateRaw', 'inflateRaw'] as const).map((name) => {
      const atOnce = zlib[`${name}Sync`] as (bytes: Uint8Array) => Buffer;
      const value = (bytes: Uint8Array, ...rest: unknown[]) => {
        const done = rest.at(-1) as (error: unknown, found?: Buffer) => void;
        void this.#after(USUAL_DELAY, () => atOnce(bytes)).then((found) => done(null, found), done);
      };
      return { of: zlib, name, value };
    });
  }

  /** Resolves in virtual time, unless the process ends before. */
  #after<T>(delay: number, work: () => T): Promise<T> {
    const owner = this.#world.process;
    return new Promise((resolve, reject) => {
      this.#world.packet(delay, owner, () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  async #open(path: string, flags: string, mode?: number) {
    const owner = this.#world.process;
    const fd = await this.#after(USUAL_DELAY, () => files.openSync(path, flags, mode));
    if (flags === 'wx') this.#written.set(path, { synced: 0, isInFolder: false });
    return this.#handle(path, fd, owner);
  }

  #handle(path: string, fd: number, owner: Process | null) {
    const forget = owner?.whenEnded(() => files.closeSync(fd));
    return {
      writev: (parts: readonly Uint8Array[]) =>
        this.#after(USUAL_DELAY, () => ({ bytesWritten: files.writevSync(fd, parts) })),
      writeFile: (content: string | Uint8Array) =>
        this.#after(USUAL_DELAY, () => files.writeFileSync(fd, content)),
      chown: (uid: number, gid: number) =>
        this.#after(USUAL_DELAY, () => files.fchownSync(fd, uid, gid)),
      chmod: (mode: number) => this.#after(USUAL_DELAY, () => files.fchmodSync(fd, mode)),
      datasync: () => this.#after(this.syncDelay, () => this.#sync(path)),
      sync: () =>
        this.#after(this.syncDelay, () =>
          files.fstatSync(fd).isDirectory() ? this.#syncFolder(path) : this.#sync(path),
        ),
      close: () =>
        this.#after(USUAL_DELAY, () => {
          forget?.();
          files.closeSync(fd);
        }),
    };
  }

  #sync(path: string): void {
    if (path.endsWith('-wal')) this.#keep(path.slice(0, -'-wal'.length));
    const written = this.#written.get(path);
    if (written) written.synced = files.statSync(path).size;
  }

  #syncFolder(folder: string): void {
    for (const [file, written] of this.#written)
      if (dirname(file) === folder) written.isInFolder = true;
    for (const [file, copy] of this.#removed) {
      if (dirname(file) !== folder) continue;
      files.rmSync(copy);
      this.#removed.delete(file);
    }
  }

  #remove(path: string): void {
    if (!files.existsSync(path)) return;
    const written = this.#written.get(path);
    this.#written.delete(path);
    if (written && !written.isInFolder) {
      files.rmSync(path);
      return;
    }
    const copy = join(this.#root, DURABLE, `removed-${this.#names++}`);
    files.renameSync(path, copy);
    this.#removed.set(path, copy);
  }

  #durable(database: string, end: string): string {
    return join(this.#root, DURABLE, `${basename(dirname(database))}-${basename(database)}${end}`);
  }

  #committed(database: string): void {
    const isOwn = database.startsWith(this.#root) && basename(database) === COPY_FILE;
    if (isOwn && this.#world.random.isOnce(DURABLE_EVERY)) this.#keep(database);
  }

  #keep(database: string): void {
    for (const end of ['', '-wal']) {
      if (files.existsSync(database + end))
        files.copyFileSync(database + end, this.#durable(database, end));
      else files.rmSync(this.#durable(database, end), { force: true });
    }
  }

  #restore(database: string): void {
    if (!files.existsSync(this.#durable(database, ''))) return;
    for (const end of ['', '-wal', '-shm']) {
      files.rmSync(database + end, { force: true });
      const copy = this.#durable(database, end);
      if (files.existsSync(copy)) files.copyFileSync(copy, database + end);
    }
  }
}

/**
 * Connections of SQLite end with their process, with their locks. `committed` is called with the
 * file of each transaction, `synced` with that of a checkpoint. A class of `node:sqlite` cannot be replaced.
 */
function followedDatabases(
  world: World,
  committed: (file: string) => void,
  synced: (file: string) => void,
): Replaced[] {
  const owned = new WeakSet<DatabaseSync>();
  const own = (db: DatabaseSync) => {
    if (owned.has(db)) return;
    owned.add(db);
    world.process?.whenEnded(() => db.isOpen && db.close());
  };
  return (['exec', 'prepare'] as const).map((name) => {
    const real = DatabaseSync.prototype[name] as (
      this: DatabaseSync,
      ...args: unknown[]
    ) => unknown;
    const value = function (this: DatabaseSync, ...args: unknown[]) {
      own(this);
      const result = real.apply(this, args);
      if (args[0] === 'COMMIT') committed(this.location() ?? '');
      if (args[0] === 'PRAGMA wal_checkpoint') synced(this.location() ?? '');
      return result;
    };
    return { of: DatabaseSync.prototype, name, value };
  });
}
