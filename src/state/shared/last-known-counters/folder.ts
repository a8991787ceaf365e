import { Compactor } from '../../journal/compactor.ts';
import { Journal } from '../../journal/journal.ts';
import { atPlace, leavePlace, type Place } from '../../journal/place.ts';
import { inWords, readJournal } from '../../journal/read.ts';
import type { LastKnownCounters, LastKnownEntry } from './entries.ts';
import { stillTrue } from './entries.ts';
import { LastKnownPacker, unpackLastKnown } from './packing.ts';

/** Processes that may keep standings in one folder, beside as many that are about to end. */
const PLACES = 4;

export interface LastKnownCountersOptions {
  readonly folder: string;
  /** From 1; and how many workers there are. */
  readonly worker: number;
  readonly workers: number;
  /** Told what went wrong; the gateway goes on without. */
  readonly failed: (error: unknown) => void;
}

/** Standings in files of this process alone; `null`: it has no place for them. */
export function lastKnownCountersIn(options: LastKnownCountersOptions, now = Date.now()): LastKnownCounters | null {
  const { folder, worker, workers, failed } = options;
  // A process that is about to end may still have this worker's.
  const numbers = { first: worker, step: workers, most: PLACES * workers };
  return atPlace(
    { folder, kind: 'standings', numbers },
    (place) => lastKnownCountersAt(folder, place, failed, now),
    failed,
  );
}

function lastKnownCountersAt(
  folder: string,
  place: Place,
  failed: (error: unknown) => void,
  now: number,
): LastKnownCounters {
  let keeper: Compactor<LastKnownEntry> | null = null;
  let loaded = new Map<string, LastKnownEntry>();
  const { generations } = readJournal(folder, place.name, () => {
    loaded = new Map();
    return {
      batch: (payload: Buffer, file: string) =>
        unpackLastKnown(payload, file, (subject, kept) => void loaded.set(subject, kept)),
      damaged: (damage) => failed(new Error(inWords(damage))),
    };
  });
  const journal = new Journal({ folder, name: place.name, older: generations, unsaved: failed });
  return {
    *load() {
      for (const [subject, kept] of loaded) {
        const left = stillTrue(kept, now);
        if (left) yield [subject, left] as const;
      }
      loaded = new Map();
    },
    begin: (living) => {
      keeper = new Compactor(journal, living, new LastKnownPacker());
    },
    mark: (subject) => keeper?.mark(subject),
    close: () => leavePlace(place, keeper),
  };
}
