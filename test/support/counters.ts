import { type Counters, staleAt } from '../../src/limits/counters.ts';
import { readCounters } from '../../src/state/embedded/counter-store.ts';
import { readStateFile } from '../../src/state/embedded/file.ts';

/**
 * The counters in the journal that still matter at `now`. A running gateway may be using the
 * folder.
 */
export function storedCounters(folder: string, now = Date.now()): Map<string, Counters> {
  const db = readStateFile(folder);
  try {
    return new Map([...readCounters(folder, db)].filter(([, counters]) => staleAt(counters) > now));
  } finally {
    db.close();
  }
}
