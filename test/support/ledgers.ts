import { type Ledger, staleAt } from '../../src/limits/ledger.ts';
import { readEachLedger } from '../../src/state/embedded/ledgers.ts';

/** The ledgers that the journal of a data folder has, those that still say something at `now`. A gateway may be counting there. */
export function ledgersIn(folder: string, now = Date.now()): Map<string, Ledger> {
  let found = new Map<string, Ledger>();
  readEachLedger(folder, () => {
    found = new Map();
    return (subject, ledger) => void found.set(subject, ledger);
  });
  return new Map([...found].filter(([, ledger]) => staleAt(ledger, undefined) > now));
}
