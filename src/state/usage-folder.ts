import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { ageClock } from '../common/age-clock.ts';
import { createCoalescedWork } from '../common/coalesced-work.ts';
import { transaction } from '../common/transaction.ts';
import { markerPart } from '../ledger/moved-usage.ts';
import { partIn, sumIn } from '../ledger/names.ts';
import type { StoredPart, UsageSource, UsageStore } from '../ledger/store.ts';
import {
  openRowFile,
  readRowFile,
  rowFileIn,
  rowWriterIn,
  valuesIn,
} from './rows/row-file.ts';
import { createRowWriter, type RowWriter } from './rows/row-writer.ts';
import { type Slot, takeSlot } from './rows/slots.ts';

const KIND = 'usage';
/** Of the only gateway on a folder. */
const FIRST = `${KIND}.1`;
/** Of an import that has not ended. */
const IMPORTING = 'usage.importing';
/** Includes gateways that are stopping, and workers. */
const SLOTS = { first: 1, step: 1, most: 300 };

/**
 * Usage as rows of a data folder, which a thread writes and reads, so a blocked disk blocks no
 * request. With Redis it has only parts of outages. Without a free slot it is in memory alone, which
 * `failed` gets.
 */
export function usageInFolder(
  data: string,
  writer: RowWriter,
  failed: (error: unknown) => void,
): UsageStore {
  const { slot, parts, sizes } = openRows(data, failed);
  const unsaved = new Map<string, Buffer>();
  const turns = createCoalescedWork(async () => {
    await work?.(commit);
  });
  const age = ageClock(
    Date.now(),
    newestIn([...parts.keys(), ...sizes.keys()]),
  );
  let work: Parameters<UsageStore['inTurn']>[0] | null = null;
  let running: Promise<unknown> = Promise.resolve();

  function write(rows: ReadonlyMap<string, Buffer | null>): Promise<void> {
    if (slot === null) {
      for (const [name, bytes] of rows)
        if (bytes === null) unsaved.delete(name);
        else unsaved.set(name, bytes);
      return Promise.resolve();
    }
    const writing = writer.write(slot.kind, rows);
    running = writing.catch(() => {});
    return writing;
  }

  async function commit(
    sums: ReadonlyMap<string, Buffer | null>,
    taken: ReadonlyMap<string, unknown>,
  ) {
    const gone = [...taken.keys()].map((name) => [name, null] as const);
    await write(new Map([...sums, ...gone]));
    for (const [name, bytes] of sums)
      if (bytes === null) sizes.delete(name);
      else sizes.set(name, bytes.length);
    for (const name of taken.keys()) parts.delete(name);
  }

  return {
    mayLose: 0,
    async put(given, isLast = false) {
      await write(given);
      for (const [name, bytes] of given)
        parts.set(name, { bytes, age: isLast ? Number.POSITIVE_INFINITY : 0 });
      return { taken: [], added: new Set() };
    },
    index: async () => ({ parts: new Map(parts), sizes: new Map(sizes) }),
    read: async (names) =>
      slot === null
        ? names.map((name) => unsaved.get(name) ?? null)
        : await writer.read(slot.kind, names),
    now: age,
    async inTurn(given) {
      work = given;
      await turns.next();
    },
    async close() {
      await turns.idle();
      await running;
      slot?.release();
    },
  };
}

interface Stored {
  readonly parts: Map<string, StoredPart>;
  readonly sizes: Map<string, number>;
}

/** The rows of a free slot, whose earlier processes have ended. */
function openRows(
  data: string,
  failed: (error: unknown) => void,
): Stored & { readonly slot: Slot | null } {
  let slot: Slot | null = null;
  try {
    slot = takeSlot(data, KIND, SLOTS);
    const file = openRowFile(data);
    try {
      return { slot, ...storedIn(file, slot.kind) };
    } finally {
      file.close();
    }
  } catch (error) {
    slot?.release();
    failed(error);
    return { slot: null, parts: new Map(), sizes: new Map() };
  }
}

function storedIn(file: DatabaseSync, kind: string): Stored {
  const [parts, sizes] = [new Map<string, StoredPart>(), new Map()];
  const names = file.prepare(
    'SELECT name, length(value) AS size FROM rows WHERE kind = ?',
  );
  const all = names.all(kind) as { name: string; size: number }[];
  for (const { name, size } of all)
    if (sumIn(name) !== null) sizes.set(name, size);
  const named = all.filter(({ name }) => partIn(name) !== null);
  const found = valuesIn(
    file,
    kind,
    named.map(({ name }) => name),
  );
  for (const [i, { name }] of named.entries())
    parts.set(name, { bytes: found[i]!, age: Number.POSITIVE_INFINITY });
  return { parts, sizes };
}

/** For commands, also while a gateway uses the folder. */
export function readUsageIn(data: string): UsageSource {
  const read = <T>(nothing: T, of: (file: DatabaseSync) => T): T => {
    const file = readRowFile(data);
    if (file === null) return nothing;
    try {
      return of(file);
    } finally {
      file.close();
    }
  };
  return {
    index: async () =>
      read<Stored>({ parts: new Map(), sizes: new Map() }, (file) =>
        storedIn(file, FIRST),
      ),
    read: async (names) =>
      read<(Buffer | null)[]>([], (file) => valuesIn(file, FIRST, names)),
  };
}

/** Notes in a folder that no gateway uses that usage until now is missing. */
export function noteMissingUsage(data: string, now: number): void {
  const [name, bytes] = markerPart(`missing rows#${randomUUID()}`, now, 1);
  const file = openRowFile(data);
  rowWriterIn(file)(FIRST, name, bytes);
  file.close();
}

/** When the newest begins, Unix milliseconds; `null`: nothing is stored. */
function newestIn(names: readonly string[]): number | null {
  const starts = names.map(
    (name) => sumIn(name)?.start ?? partIn(name)?.minute ?? 0,
  );
  return starts.length === 0
    ? null
    : starts.reduce((one, other) => Math.max(one, other));
}

/**
 * Usage in place of that of a data folder, which this process has locked. `place` puts it there;
 * until then it is in a folder that `discard` removes.
 */
export function importUsageInto(data: string) {
  const folder = join(data, IMPORTING);
  let opened: { store: UsageStore; writer: RowWriter } | null = null;
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
    open(): UsageStore {
      if (opened === null) {
        // What an interrupted import has left there is not of this one.
        rmSync(folder, { recursive: true, force: true });
        const writer = createRowWriter(folder);
        const failed = (error: unknown) => {
          failure ??= error;
        };
        opened = { store: usageInFolder(folder, writer, failed), writer };
      }
      return opened.store;
    },
    /** Call it last: afterwards usage is in the data folder. Throws errors of the file system. */
    async place() {
      await close();
      if (failure !== null) throw failure;
      placeRows(folder, data);
    },
    discard,
  };
}

/** In place of the usage of `data`. */
function placeRows(folder: string, data: string): void {
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
