import { Compactor } from '../../journal/compactor.ts';
import { openSlot } from '../../journal/slot.ts';
import { type LastKnownCounters, type LastKnownEntry, withoutOutdated } from './entries.ts';
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
  const slot = openSlot({ folder, kind: 'standings', numbers, failed }, () => {
    const loaded = new Map<string, LastKnownEntry>();
    const note = (subject: string, entry: LastKnownEntry) => void loaded.set(subject, entry);
    return { loaded, batch: (payload: Buffer, file: string) => unpackLastKnown(payload, file, note) };
  });
  if (!slot) return null;
  let compactor: Compactor<LastKnownEntry> | null = null;
  const { loaded } = slot.reader;
  return {
    *load() {
      for (const [subject, entry] of loaded) {
        const left = withoutOutdated(entry, now);
        if (left) yield [subject, left] as const;
      }
      loaded.clear();
    },
    begin: (living) => {
      compactor = new Compactor(slot.journal, living, new LastKnownPacker());
    },
    mark: (subject) => compactor?.mark(subject),
    close: () => slot.close(compactor),
  };
}
