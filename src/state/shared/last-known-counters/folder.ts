import { Compactor } from '../../journal/compactor.ts';
import { Journal } from '../../journal/journal.ts';
import { formatDamage, readJournal } from '../../journal/read.ts';
import { closeSlot, type JournalSlot, openInSlot } from '../../journal/slot.ts';
import type { LastKnownCounters, LastKnownEntry } from './entries.ts';
import { withoutOutdated } from './entries.ts';
import { LastKnownPacker, unpackLastKnown } from './packing.ts';

/** Slots per worker in one folder, including those of ending processes. */
const MAX_SLOTS = 4;

export interface LastKnownCountersOptions {
  readonly folder: string;
  /** From 1; and the number of workers. */
  readonly worker: number;
  readonly workers: number;
  /** Called with errors; the gateway continues without the files. */
  readonly failed: (error: unknown) => void;
}

/** Last-known counters in files of this process; `null`: no free slot. */
export function lastKnownCountersIn(options: LastKnownCountersOptions, now = Date.now()): LastKnownCounters | null {
  const { folder, worker, workers, failed } = options;
  // An ending process may still hold this worker's slot.
  const numbers = { first: worker, step: workers, most: MAX_SLOTS * workers };
  return openInSlot(
    { folder, kind: 'standings', numbers },
    (slot) => lastKnownCountersAt(folder, slot, failed, now),
    failed,
  );
}

function lastKnownCountersAt(
  folder: string,
  slot: JournalSlot,
  failed: (error: unknown) => void,
  now: number,
): LastKnownCounters {
  let compactor: Compactor<LastKnownEntry> | null = null;
  let loaded = new Map<string, LastKnownEntry>();
  const { generations } = readJournal(folder, slot.name, () => {
    loaded = new Map();
    return {
      batch: (payload: Buffer, file: string) =>
        unpackLastKnown(payload, file, (subject, entry) => void loaded.set(subject, entry)),
      damaged: (damage) => failed(new Error(formatDamage(damage))),
    };
  });
  const journal = new Journal({ folder, name: slot.name, older: generations, unsaved: failed });
  return {
    *load() {
      for (const [subject, entry] of loaded) {
        const left = withoutOutdated(entry, now);
        if (left) yield [subject, left] as const;
      }
      loaded = new Map();
    },
    begin: (living) => {
      compactor = new Compactor(journal, living, new LastKnownPacker());
    },
    mark: (subject) => compactor?.mark(subject),
    close: () => closeSlot(slot, compactor),
  };
}
