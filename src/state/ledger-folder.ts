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
import type { DatabaseSync } from 'node:sqlite';
import { ageClock } from '../common/age-clock.ts';
import { CoalescedWork } from '../common/coalesced-work.ts';
import {
  PRIVATE,
  replaceFile,
  syncFolder,
  syncFolderNow,
} from '../common/folder.ts';
import { transaction } from '../common/transaction.ts';
import { markerSlice } from '../ledger/moved-usage.ts';
import { blockIn, sliceIn } from '../ledger/names.ts';
import type { LedgerIndex, LedgerStore } from '../ledger/store.ts';
import {
  openRowFile,
  readRowFile,
  rowFileIn,
  rowsIn,
  rowWriterIn,
} from './rows/row-file.ts';
import {
  createRowWriter,
  RowWriteError,
  type RowWriter,
} from './rows/row-writer.ts';
import { createRows } from './rows/rows.ts';
import { type Slot, takeSlot } from './rows/slots.ts';

const FOLDER = 'usage';
const KIND = 'usage';
/** Of the slices of the only gateway on a folder. */
const FIRST = `${KIND}.1`;
/** Of an import that has not ended. */
const IMPORTING = 'usage.importing';
/** Includes gateways that are stopping, and workers. */
const SLOTS = { first: 1, step: 1, most: 300 };
/** Bytes of slices, if blocks cannot be written. */
const MOST_BYTES = 32 << 20;

/**
 * Slices are in memory and in rows, blocks are files. With Redis it has only slices of
 * outages. Everything is written by the thread pool, so a blocked disk blocks no request. Errors go
 * to `failed`.
 */
export function ledgerInFolder(
  data: string,
  writer: RowWriter,
  failed: (error: unknown) => void,
): LedgerStore {
  const folder = join(data, FOLDER);
  const sizes = knownSizes(folder, failed);
  const { slot, slices } = openSlices(data, failed);
  const rows =
    slot &&
    createRows<Buffer>(
      writer,
      slot.kind,
      { read: (name) => slices.get(name), rowOf: (slice) => slice },
      { unsaved: failed },
    );
  const turns = new CoalescedWork(async () => {
    await work?.(commit);
  });
  const age = ageClock(Date.now(), newestIn(slices.keys(), sizes.keys()));
  let work: Parameters<LedgerStore['inTurn']>[0] | null = null;
  let bytes = [...slices.values()].reduce((sum, { length }) => sum + length, 0);

  function forget(name: string) {
    bytes -= slices.get(name)?.length ?? 0;
    slices.delete(name);
    rows?.mark(name);
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
        rows?.mark(name);
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
      try {
        await rows?.close();
      } catch (error) {
        // It was reported.
        if (!(error instanceof RowWriteError)) throw error;
      } finally {
        slot?.release();
      }
    },
  };
}

/** The slices of a free slot; without one, or after an error, they are in memory alone. */
function openSlices(
  data: string,
  failed: (error: unknown) => void,
): { readonly slot: Slot | null; readonly slices: Map<string, Buffer> } {
  let slot: Slot | null = null;
  try {
    slot = takeSlot(data, KIND, SLOTS);
    const file = openRowFile(data);
    try {
      return { slot, slices: slicesIn(file, slot.kind) };
    } finally {
      file.close();
    }
  } catch (error) {
    slot?.release();
    failed(error);
    return { slot: null, slices: new Map() };
  }
}

function slicesIn(file: DatabaseSync, kind: string): Map<string, Buffer> {
  const slices = new Map<string, Buffer>();
  for (const [name, slice] of rowsIn(file, kind))
    slices.set(name, Buffer.from(slice as Uint8Array));
  return slices;
}

/** For commands, also while a gateway uses the folder. */
export function readLedgerIn(data: string): LedgerIndex {
  const folder = join(data, FOLDER);
  return {
    async slices() {
      const file = readRowFile(data);
      if (file === null) return new Map();
      try {
        return slicesIn(file, FIRST);
      } finally {
        file.close();
      }
    },
    sizes: async () => sizesIn(folder),
    read: (names) => readBlocks(folder, names),
  };
}

/** Notes in a folder that no gateway uses that usage until now is missing. */
export function noteMissingUsage(data: string, now: number): void {
  const [name, slice] = markerSlice(`missing rows#${randomUUID()}`, now, 1);
  const file = openRowFile(data);
  rowWriterIn(file)(FIRST, name, slice);
  file.close();
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
  let opened: { store: LedgerStore; writer: RowWriter } | null = null;
  let failure: unknown = null;

  async function close() {
    await opened?.store.close();
    await opened?.writer.close();
    opened = null;
  }

  async function discard() {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }

  return {
    open(): LedgerStore {
      if (opened === null) {
        // What an interrupted import has left there is not of this one.
        rmSync(folder, { recursive: true, force: true });
        const writer = createRowWriter(folder);
        const failed = (error: unknown) => {
          failure ??= error;
        };
        opened = { store: ledgerInFolder(folder, writer, failed), writer };
      }
      return opened.store;
    },
    /** Call it last: afterwards usage is in the data folder. Throws errors of the file system. */
    async place() {
      await close();
      if (failure !== null) throw failure;
      rmSync(join(data, FOLDER), { recursive: true, force: true });
      moveSlices(folder, data);
      if (!existsSync(join(folder, FOLDER))) return;
      renameSync(join(folder, FOLDER), join(data, FOLDER));
      syncFolderNow(data);
    },
    discard,
  };
}

/** In place of the slices of `data`. */
function moveSlices(folder: string, data: string): void {
  const file = openRowFile(data);
  try {
    const isThere = existsSync(rowFileIn(folder));
    if (isThere) file.prepare('ATTACH ? AS imported').run(rowFileIn(folder));
    transaction(file, () => {
      file.prepare('DELETE FROM rows WHERE kind = ?').run(FIRST);
      if (isThere)
        file.exec(
          `INSERT INTO rows SELECT * FROM imported.rows WHERE kind = '${FIRST}'`,
        );
    });
  } finally {
    file.close();
  }
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
