import type { DatabaseSync } from 'node:sqlite';
import type { Counters } from '../../limits/counters.ts';
import {
  type Compactor,
  type CurrentEntries,
  createCompactor,
} from '../journal/compactor.ts';
import { createJournal, type JournalOptions } from '../journal/journal.ts';
import { readJournal } from '../journal/read.ts';
import { replaceJournal } from '../journal/replace.ts';
import { syncsCommitsOf } from './commits.ts';
import {
  COUNTER_FILES as NAME,
  nameGenerations,
  refuseMissingCounterFiles,
} from './inventory.ts';
import { CounterPacker, CounterUnpacker } from './packing.ts';

/** Bytes of one batch when all counters are written at once. */
const BATCH = 1 << 20;

export interface StoredCounters extends Counters {
  /** The flush in which the entry was last marked; 0: never. */
  marked: number;
}

export type CounterStore = ReturnType<typeof countersInFolder>;

export interface CounterStoreEvents
  extends Pick<JournalOptions, 'unsaved' | 'saved'> {
  readonly damaged?: (damage: string) => void;
}

/**
 * This process must have locked `folder`; `db` is its state file. Throws JournalError, and
 * IncompleteFolder if files are missing.
 */
export function countersInFolder(
  folder: string,
  db: DatabaseSync,
  { damaged, unsaved, saved }: CounterStoreEvents = {},
  packer = new CounterPacker(),
) {
  const { reader, generations } = readChecked(folder, db, damaged);
  const sync = syncsCommitsOf(db);
  const journal = createJournal({
    folder,
    name: NAME,
    older: generations,
    async holds(generations) {
      nameGenerations(db, generations);
      await sync();
    },
    unsaved,
    saved,
  });
  let compactor: Compactor<StoredCounters>;
  return {
    /**
     * Returns the stored counters. Call it once; then `begin` sets the source of the counters to
     * store.
     */
    *load() {
      yield* reader.bySubject;
      reader.bySubject.clear();
    },
    begin: (bySubject: CurrentEntries<StoredCounters>) => {
      compactor = createCompactor<StoredCounters>(journal, bySubject, packer);
    },
    /** Called for every request. */
    mark(subject: string, counters: StoredCounters) {
      if (counters.marked === compactor.beat) return;
      counters.marked = compactor.beat;
      compactor.markEntry(subject, counters);
    },
    /**
     * Resolves when the current counters are on disk. Rejects with JournalWriteError; the counters
     * are then marked.
     */
    write: (subject: string) => compactor.write(subject),
    /** Rejects if the write fails. */
    close: () => compactor.close(),
  };
}

/**
 * The counters in the journal of a folder, even while a gateway uses it. `db` is its state file,
 * outside transactions. Throws JournalError, and IncompleteFolder if files are missing.
 */
export function readCounters(
  folder: string,
  db: DatabaseSync,
  damaged: (damage: string) => void = () => {},
): Map<string, Counters> {
  const found: string[] = [];
  const { bySubject } = readChecked(folder, db, (damage) =>
    found.push(damage),
  ).reader;
  if (found.length === 0) return bySubject;
  // A gateway may be writing the end of a file: damage stays.
  const again = readChecked(folder, db, (damage) => {
    if (found.includes(damage)) damaged(damage);
  });
  return again.reader.bySubject;
}

/**
 * The only way to the counters of a folder, for gateways, commands and copies: it includes the
 * check.
 */
function readChecked(
  folder: string,
  db: DatabaseSync,
  damaged?: (damage: string) => void,
) {
  refuseMissingCounterFiles(folder, db);
  return readJournal(folder, NAME, () => counterReader(damaged));
}

/**
 * Replaces the journal of a locked data folder with `bySubject`; the caller updates the state file.
 */
export function replaceCounters(
  folder: string,
  bySubject: ReadonlyMap<string, Counters>,
): void {
  replaceJournal(folder, NAME, packed(bySubject));
}

function counterReader(damaged: (damage: string) => void = () => {}) {
  const bySubject = new Map<string, Counters>();
  const unpacker = new CounterUnpacker();
  const put = (subject: string, counters: Counters) =>
    bySubject.set(subject, counters);
  return {
    bySubject,
    damaged,
    batch: (payload: Buffer, file: string) => unpacker.read(payload, file, put),
  };
}

function* packed(bySubject: ReadonlyMap<string, Counters>): Iterable<Buffer> {
  const packer = new CounterPacker();
  for (const [subject, counters] of bySubject) {
    packer.add(subject, counters);
    if (packer.size >= BATCH) yield packer.take();
  }
  if (packer.size > 0) yield packer.take();
}
