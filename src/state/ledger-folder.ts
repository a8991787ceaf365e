import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ageClock } from '../common/age-clock.ts';
import { CoalescedWork } from '../common/coalesced-work.ts';
import {
  PRIVATE,
  replaceFile,
  syncFolder,
  syncFolderNow,
} from '../common/folder.ts';
import { markerSlice } from '../ledger/moved-usage.ts';
import { blockIn, sliceIn } from '../ledger/names.ts';
import type { LedgerIndex, LedgerStore } from '../ledger/store.ts';
import { NotPacked, Packing, Unpacking } from '../observe/traffic/packing.ts';
import { createCompactor, type Packer } from './journal/compactor.ts';
import { generationFile } from './journal/format.ts';
import { generationsIn, readJournal } from './journal/read.ts';
import { listFile, openSlot } from './journal/slot.ts';

const FOLDER = 'usage';
const KIND = 'usage';
/** Of the slices of the only gateway on a folder. */
const JOURNAL = `${KIND}.1`;
/** Of an import that has not ended. */
const IMPORTING = 'usage.importing';
/** Includes gateways that are stopping, and workers. */
const SLOTS = { first: 1, step: 1, most: 300 };
/** Bytes of slices, if blocks cannot be written. */
const MOST_BYTES = 32 << 20;

/**
 * Slices are in memory and in a journal, blocks are files. With Redis it has only slices of
 * outages. Everything is written by the thread pool, so a blocked disk blocks no request. Errors go
 * to `failed`.
 */
export function ledgerInFolder(
  data: string,
  failed: (error: unknown) => void,
): LedgerStore {
  const folder = join(data, FOLDER);
  const slices = new Map<string, Buffer>();
  const sizes = knownSizes(folder, failed);
  const slot = openSlot(
    { folder: data, kind: KIND, numbers: SLOTS, failed, isListed: true },
    () => {
      slices.clear();
      return { batch: (payload: Buffer) => readBatch(payload, slices) };
    },
  );
  const compactor =
    slot &&
    createCompactor<Buffer>(slot.journal, entriesOf(slices), new SlicePacker());
  const turns = new CoalescedWork(async () => {
    await work?.(commit);
  });
  const age = ageClock(Date.now(), newestIn(slices.keys(), sizes.keys()));
  for (const file of slot?.missing ?? []) {
    failed(
      new Error(
        `${join(data, file)} is missing or empty, with the last usage: put it back, or reports lack it`,
      ),
    );
    const [name, slice] = markerSlice(
      `missing ${file}#${randomUUID()}`,
      Date.now(),
      1,
    );
    slices.set(name, slice);
    compactor?.mark(name);
  }
  let work: Parameters<LedgerStore['inTurn']>[0] | null = null;
  let bytes = [...slices.values()].reduce((sum, { length }) => sum + length, 0);

  function forget(name: string) {
    bytes -= slices.get(name)?.length ?? 0;
    slices.delete(name);
  }

  async function commit(
    blocks: ReadonlyMap<string, Buffer | null>,
    merged: readonly string[],
  ) {
    if (blocks.size > 0) mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [name, block] of blocks) {
      if (block === null) await rm(join(folder, name), { force: true });
      else await replaceFile(join(folder, name), block, PRIVATE);
      if (block === null) sizes.delete(name);
      else sizes.set(name, block.length);
    }
    if (blocks.size > 0) await syncFolder(folder);
    for (const name of merged) forget(name);
  }

  return {
    async add(added) {
      const before = slices.size;
      for (const [name, slice] of added) {
        if (slices.has(name)) continue;
        slices.set(name, slice);
        bytes += slice.length;
        compactor?.mark(name);
      }
      const count = slices.size - before;
      for (const name of slices.keys()) {
        if (bytes <= MOST_BYTES) break;
        failed(
          new Error('usage was dropped, because the disk cannot be written'),
        );
        forget(name);
      }
      return count;
    },
    slices: async () => new Map(slices),
    sizes: async () => new Map(sizes),
    read: (names) => readBlocks(folder, names),
    now: age,
    async inTurn(given) {
      work = given;
      await turns.next();
    },
    async close() {
      await turns.idle();
      await slot?.close(compactor);
    },
  };
}

/** For commands, also while a gateway uses the folder. Throws JournalError. */
export function readLedgerIn(data: string): LedgerIndex {
  const folder = join(data, FOLDER);
  return {
    async slices() {
      const begin = () => {
        const slices = new Map<string, Buffer>();
        return {
          slices,
          batch: (payload: Buffer) => readBatch(payload, slices),
        };
      };
      return readJournal(data, JOURNAL, begin).reader.slices;
    },
    sizes: async () => sizesIn(folder),
    read: (names) => readBlocks(folder, names),
  };
}

/** When the newest of what is stored begins, Unix milliseconds; `null`: nothing is stored. */
function newestIn(
  slices: Iterable<string>,
  blocks: Iterable<string>,
): number | null {
  const starts = [
    ...[...slices].map((name) => sliceIn(name)?.minute ?? 0),
    ...[...blocks].map((name) => blockIn(name)!.start),
  ];
  return starts.length === 0 ? null : Math.max(...starts);
}

/**
 * A ledger in place of that of a data folder, which this process has locked. `place` puts it there;
 * until then it is in a folder that `discard` removes.
 */
export function importLedgerInto(data: string) {
  const folder = join(data, IMPORTING);
  let opened: LedgerStore | null = null;
  let failure: unknown = null;

  async function close() {
    await opened?.close();
    opened = null;
  }

  async function discard() {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }

  return {
    open(): LedgerStore {
      // What an interrupted import has left there is not of this one.
      if (opened === null) rmSync(folder, { recursive: true, force: true });
      opened ??= ledgerInFolder(folder, (error) => {
        failure ??= error;
      });
      return opened;
    },
    /** Call it last: afterwards usage is in the data folder. Throws errors of the file system. */
    async place() {
      await close();
      if (failure !== null) throw failure;
      rmSync(join(data, FOLDER), { recursive: true, force: true });
      rmSync(join(data, listFile(JOURNAL)), { force: true });
      for (const generation of generationsIn(data, JOURNAL))
        rmSync(join(data, generationFile(JOURNAL, generation)));
      if (!existsSync(folder)) return;
      const journals = generationsIn(folder, JOURNAL).map((generation) =>
        generationFile(JOURNAL, generation),
      );
      for (const name of [...journals, listFile(JOURNAL), FOLDER])
        if (existsSync(join(folder, name)))
          renameSync(join(folder, name), join(data, name));
      syncFolderNow(data);
    },
    discard,
  };
}

function knownSizes(
  folder: string,
  failed: (error: unknown) => void,
): Map<string, number> {
  try {
    return sizesIn(folder);
  } catch (error) {
    failed(error);
    return new Map();
  }
}

function sizesIn(folder: string): Map<string, number> {
  try {
    const files = readdirSync(folder).filter((name) => blockIn(name) !== null);
    return new Map(
      files.map((name) => [name, statSync(join(folder, name)).size]),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return new Map();
  }
}

function readBlocks(
  folder: string,
  names: readonly string[],
): Promise<(Buffer | null)[]> {
  return Promise.all(
    names.map((name) =>
      readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return null;
      }),
    ),
  );
}

/** Ignores a batch that is not understood: the journal has checked its content. */
function readBatch(payload: Buffer, slices: Map<string, Buffer>): void {
  try {
    const batch = new Unpacking(payload);
    while (!batch.isAtEnd) {
      const name = batch.text();
      slices.set(name, Buffer.from(batch.part()));
    }
  } catch (error) {
    if (!(error instanceof NotPacked)) throw error;
  }
}

function entriesOf(slices: ReadonlyMap<string, Buffer>) {
  return {
    get size() {
      return slices.size;
    },
    names: () => slices.keys(),
    read: (name: string) => slices.get(name),
  };
}

class SlicePacker implements Packer<Buffer> {
  #packing = new Packing();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(name: string, slice: Buffer): void {
    this.#packing.part(Buffer.from(name));
    this.#packing.part(slice);
    this.#size += slice.length + name.length;
  }

  take(): Buffer {
    const { bytes } = this.#packing;
    this.#packing = new Packing();
    this.#size = 0;
    return bytes;
  }
}
