import { hash, randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { ExpectedError } from '../../common/expected-error.ts';
import { remembered } from '../../common/remembered.ts';
import { transaction } from '../../common/transaction.ts';
import type { Counters } from '../../limits/counters.ts';
import type { Window } from '../../limits/limits.ts';
import {
  identityOf,
  openRowFile,
  ROW_FILE,
  readRowFile,
  rowFileIn,
  rowsIn,
  rowWriterIn,
  setIdentity,
} from '../rows/row-file.ts';
import { RowWriteError, type RowWriter } from '../rows/row-writer.ts';
import { createRows, type RowEvents, type Rows } from '../rows/rows.ts';
import { reasonOf, StateFileError } from './file.ts';
import {
  COUNTERS,
  nameRowFile,
  noteRowLog,
  refuseMissingRows,
} from './inventory.ts';

/** Kind of the rows of the lists of windows that counters are of. */
const WINDOWS = 'windows';

export interface StoredCounters extends Counters {
  /** The flush in which the entry was last marked; 0: never. */
  marked: number;
}

/** The kind of a row that only shows whether the disk can be written. */
const PROBE = 'probe';
/** Milliseconds. */
const PROBE_INTERVAL = 10_000;

export type CounterStore = ReturnType<typeof countersInFolder>;

export interface CounterStoreEvents extends RowEvents {
  /** Receives a sentence for each row that is not valid, which is left out. */
  readonly damaged?: (damage: string) => void;
}

/** Text of the row of a subject: its list of windows, its cells, its strike state. */
type Row = readonly [
  list: string,
  cells: number[],
  strikeState: Counters['strikeState'],
];

const listText = remembered((windows: readonly Window[]) =>
  JSON.stringify(windows),
);
const listName = remembered((windows: readonly Window[]) =>
  hash('sha256', listText(windows), 'base64url').slice(0, 16),
);

function rowOf({ windows, cells, strikeState }: Counters): string {
  const row: Row = [listName(windows), cells, strikeState];
  return JSON.stringify(row);
}

/**
 * This process must have locked `folder`; `db` is its state file. Throws IncompleteFolder if the
 * counters are missing.
 */
export function countersInFolder(
  folder: string,
  db: DatabaseSync,
  writer: RowWriter,
  { damaged, unsaved, saved }: CounterStoreEvents = {},
  probeInterval = PROBE_INTERVAL,
) {
  refuseMissingRows(folder, db);
  const { id, stored } = opened(folder, damaged);
  nameRowFile(db, id);
  const names = new Set<string>();
  let rows: Rows | null = null;
  let hasLog = false;
  let probed = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Without requests nothing else would find that the disk is full. */
  function probe(all: Rows) {
    const done = () => {
      probed = all.beat;
    };
    if (probed !== all.beat) return done();
    writer.put(PROBE, [PROBE], [`${Date.now()}`]);
    all.flush().then(done, (error: unknown) => {
      // It was reported.
      if (!(error instanceof RowWriteError)) throw error;
      done();
    });
  }

  function noteLog() {
    if (!hasLog) noteRowLog(db, true);
    hasLog = true;
  }

  return {
    /** Returns the stored counters. Call it once; then `begin` sets where counters are read. */
    *load() {
      yield* stored;
      stored.clear();
    },
    begin(read: (subject: string) => Counters | undefined) {
      const source = {
        read,
        rowOf(counters: Counters) {
          putList(counters.windows);
          return rowOf(counters);
        },
        lost: () => names.clear(),
      };
      const all = createRows<Counters>(writer, COUNTERS, source, {
        unsaved,
        saved,
        stored: noteLog,
      });
      rows = all;
      probed = all.beat;
      timer = setInterval(() => probe(all), probeInterval).unref();
    },
    /** Called for every request. */
    mark(subject: string, counters: StoredCounters) {
      if (counters.marked === rows!.beat) return;
      counters.marked = rows!.beat;
      rows!.markOnce(subject);
    },
    /** The subject has no counters any more. */
    remove: (subject: string) => rows!.mark(subject),
    /** Resolves when the current counters are on disk. Rejects with RowWriteError. */
    write: (subject: string) => rows!.write(subject),
    /** Rejects with RowWriteError. Close the writer next: it leaves no log. */
    async close() {
      clearInterval(timer);
      try {
        await rows?.close();
      } finally {
        if (db.isOpen) noteRowLog(db, false);
      }
    },
  };

  /** Before the first counters that it is of. */
  function putList(windows: readonly Window[]) {
    const name = listName(windows);
    if (names.has(name)) return;
    names.add(name);
    writer.put(WINDOWS, [name], [listText(windows)]);
  }
}

function opened(folder: string, damaged?: (damage: string) => void) {
  try {
    const file = openRowFile(folder);
    try {
      const id = identityOf(file) ?? randomUUID();
      setIdentity(file, id);
      return { id, stored: countersIn(file, damaged) };
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw new StateFileError(
      `cannot use ${rowFileIn(folder)}: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/**
 * The counters of a folder, even while a gateway uses it. `db` is its state file. Throws
 * IncompleteFolder if they are missing.
 */
export function readCounters(
  folder: string,
  db: DatabaseSync,
  damaged?: (damage: string) => void,
): Map<string, Counters> {
  refuseMissingRows(folder, db);
  const file = readRowFile(folder);
  if (file === null) return new Map();
  try {
    return countersIn(file, damaged);
  } finally {
    file.close();
  }
}

/** Replaces the counters of a locked data folder; `db` is its state file. */
export function replaceCounters(
  folder: string,
  db: DatabaseSync,
  bySubject: ReadonlyMap<string, Counters>,
): void {
  const file = openRowFile(folder);
  try {
    const id = identityOf(file) ?? randomUUID();
    const write = rowWriterIn(file);
    transaction(file, () => {
      file
        .prepare('DELETE FROM rows WHERE kind IN (?, ?)')
        .run(COUNTERS, WINDOWS);
      setIdentity(file, id);
      const lists = new Map<string, string>();
      for (const [subject, counters] of bySubject) {
        const { windows } = counters;
        lists.set(listName(windows), listText(windows));
        write(COUNTERS, subject, rowOf(counters));
      }
      for (const [name, text] of lists) write(WINDOWS, name, text);
    });
    nameRowFile(db, id);
  } finally {
    file.close();
  }
}

function countersIn(
  file: DatabaseSync,
  damaged: (damage: string) => void = () => {},
): Map<string, Counters> {
  const lists = new Map<string, readonly Window[]>();
  const bySubject = new Map<string, Counters>();
  const read = (name: string, text: unknown, use: (value: never) => void) => {
    try {
      use(JSON.parse(String(text)) as never);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      damaged(
        `${file.location() ?? ROW_FILE} has a damaged row, which is left out: ${name}`,
      );
    }
  };
  for (const [name, text] of rowsIn(file, WINDOWS))
    read(name, text, (windows) => {
      lists.set(name, windows);
    });
  for (const [subject, text] of rowsIn(file, COUNTERS)) {
    read(subject, text, ([list, cells, strikeState]: Row) => {
      const windows = lists.get(list);
      if (!windows) throw new SyntaxError('its windows are missing');
      bySubject.set(subject, { windows, cells, strikeState });
    });
  }
  return bySubject;
}
