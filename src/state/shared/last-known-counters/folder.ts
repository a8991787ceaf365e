import { Compactor, type CurrentEntries } from '../../journal/compactor.ts';
import { openSlot } from '../../journal/slot.ts';
import { type LastKnownEntry, withoutOutdated } from './entries.ts';
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

export type LastKnownCounters = NonNullable<ReturnType<typeof lastKnownCountersIn>>;

/** Last-known counters in files of this process; `null`: no free slot. */
export function lastKnownCountersIn(options: LastKnownCountersOptions, now = Date.now()) {
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
    /** The stored entries; call it once. Then `begin` sets the source of the entries to store. */
    *load(): Iterable<readonly [subject: string, kept: LastKnownEntry]> {
      for (const [subject, entry] of loaded) {
        const left = withoutOutdated(entry, now);
        if (left) yield [subject, left] as const;
      }
      loaded.clear();
    },
    begin: (living: CurrentEntries<LastKnownEntry>) => {
      compactor = new Compactor(slot.journal, living, new LastKnownPacker());
    },
    /** Called for every request. */
    mark: (subject: string) => compactor?.mark(subject),
    close: () => slot.close(compactor),
  };
}
