import type { DatabaseSync } from 'node:sqlite';
import type { Counters } from '../../limits/counters.ts';
import { Compactor, type CurrentEntries } from '../journal/compactor.ts';
import { Journal, type JournalOptions } from '../journal/journal.ts';
import { type Damage, readJournal } from '../journal/read.ts';
import { replaceJournal } from '../journal/replace.ts';
import { syncsCommitsOf } from './commits.ts';
import { countersInFile, dropCountersInFile } from './file.ts';
import { COUNTER_FILES as NAME, nameGenerations, refuseMissingCounterFiles } from './inventory.ts';
import { CounterPacker, CounterUnpacker } from './packing.ts';

/** Bytes of one batch when all ledgers are written at once. */
const BATCH = 1 << 20;

/** A ledger in the memory of an embedded state. */
export interface StoredCounters extends Counters {
  /** The beat in which it was last marked; 0: never. */
  marked: number;
}

/** Keeps the ledgers of one state while no process has them. */
export interface CounterStore {
  /** What was kept, to be called once. Then `begin` says where the ledgers are that are to be kept from now on. */
  load(): Iterable<readonly [subject: string, ledger: Counters]>;
  begin(ledgers: CurrentEntries<StoredCounters>): void;
  /** The ledger has changed, and is to be written soon. Called for every request. */
  mark(subject: string, ledger: StoredCounters): void;
  /** Resolves once the ledger as it is now is on disk. Rejects with NotWritten; then it is marked. */
  write(subject: string): Promise<void>;
  /** Writes what is left. Rejects if that cannot be. */
  close(): Promise<void>;
}

/** What is told of keeping ledgers. */
export interface CounterStoreEvents extends Pick<JournalOptions, 'unsaved' | 'saved'> {
  readonly damaged?: (damage: Damage) => void;
}

/**
 * The ledgers in `folder`, which this process has locked; `db` is its state file. A measurement brings its own `packer`. Throws
 * JournalError, and IncompleteFolder where files are missing.
 */
export function countersInFolder(
  folder: string,
  db: DatabaseSync,
  { damaged, unsaved, saved }: CounterStoreEvents = {},
  packer = new CounterPacker(),
): CounterStore {
  refuseMissingCounterFiles(folder, db);
  moveOutOfFile(folder, db);
  const { reader, generations } = readJournal(folder, NAME, () => new CounterReader(damaged));
  const sync = syncsCommitsOf(db);
  const journal = new Journal({
    ...{ folder, name: NAME, older: generations },
    async holds(generations) {
      nameGenerations(db, generations);
      await sync();
    },
    ...(unsaved && { unsaved }),
    ...(saved && { saved }),
  });
  let loaded: Map<string, Counters> | null = reader.ledgers;
  let compactor: Compactor<StoredCounters>;
  return {
    load() {
      const ledgers = loaded ?? new Map<string, Counters>();
      loaded = null;
      return ledgers;
    },
    begin: (ledgers) => {
      compactor = new Compactor<StoredCounters>(journal, ledgers, packer);
    },
    mark(subject, ledger) {
      if (ledger.marked === compactor.beat) return;
      ledger.marked = compactor.beat;
      compactor.markEntry(subject, ledger);
    },
    write: (subject) => compactor.write(subject),
    close: () => compactor.close(),
  };
}

/**
 * Calls `each` with the ledgers in the journal of a data folder, without holding them: one comes once for each time that it was
 * written, the newest last. `begin` makes `each`, for another one if reading begins again. Throws JournalError.
 */
export function readEachSubject(folder: string, begin: () => (subject: string, ledger: Counters) => void): void {
  readJournal(folder, NAME, () => {
    const [each, unpacker] = [begin(), new CounterUnpacker()];
    return { batch: (payload: Buffer, file: string) => unpacker.read(payload, file, each) };
  });
}

/** Makes `ledgers` all that the journal of a data folder holds; the state file is the caller's. It has locked the folder. */
export function replaceCounters(folder: string, ledgers: Iterable<readonly [subject: string, ledger: Counters]>): void {
  replaceJournal(folder, NAME, packed(ledgers));
}

/** Versions before the journal kept ledgers in the state file. Those are older than anything in the journal. */
function moveOutOfFile(folder: string, db: DatabaseSync): void {
  const older = new Map(countersInFile(db));
  if (older.size === 0) return;
  const { reader } = readJournal(folder, NAME, () => new CounterReader());
  replaceJournal(folder, NAME, packed(new Map([...older, ...reader.ledgers])));
  dropCountersInFile(db);
}

class CounterReader {
  readonly ledgers = new Map<string, Counters>();
  readonly damaged: (damage: Damage) => void;
  readonly #unpacker = new CounterUnpacker();

  constructor(damaged: (damage: Damage) => void = () => {}) {
    this.damaged = damaged;
  }

  batch(payload: Buffer, file: string): void {
    this.#unpacker.read(payload, file, (subject, ledger) => this.ledgers.set(subject, ledger));
  }
}

function* packed(ledgers: Iterable<readonly [subject: string, ledger: Counters]>): Iterable<Buffer> {
  const packer = new CounterPacker();
  let isEmpty = true;
  for (const [subject, ledger] of ledgers) {
    packer.add(subject, ledger);
    isEmpty = packer.size >= BATCH;
    if (isEmpty) yield packer.take();
  }
  if (!isEmpty) yield packer.take();
}
