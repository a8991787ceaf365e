import { type Counters, staleAt } from '../../src/limits/counters.ts';
import { readEachSubject } from '../../src/state/embedded/counter-store.ts';

/** The counters in the journal that still matter at `now`. A running gateway may be using the folder. */
export function storedCounters(folder: string, now = Date.now()): Map<string, Counters> {
  let found = new Map<string, Counters>();
  readEachSubject(folder, () => {
    found = new Map();
    return (subject, counters) => void found.set(subject, counters);
  });
  return new Map([...found].filter(([, counters]) => staleAt(counters, undefined) > now));
}
