import type { Conduct, Ledger } from '../../limits/ledger.ts';
import type { KeptLedger } from './ledgers.ts';

/** A change of one ledger that an operator asked for. */
export type LedgerChange = (ledger: Ledger) => void;

/**
 * Changes that are not on disk yet. What is written of a subject has them, and the living ledger gets each one when it is on
 * disk: so a change that cannot be written has never held.
 */
export class PendingChanges {
  readonly #bySubject = new Map<string, LedgerChange[]>();

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  subjects(): Iterable<string> {
    return this.#bySubject.keys();
  }

  has(subject: string): boolean {
    return this.#bySubject.has(subject);
  }

  add(subject: string, change: LedgerChange): void {
    const changes = this.#bySubject.get(subject);
    if (changes) changes.push(change);
    else this.#bySubject.set(subject, [change]);
  }

  remove(subject: string, change: LedgerChange): void {
    const left = this.#bySubject.get(subject)!.filter((one) => one !== change);
    if (left.length > 0) this.#bySubject.set(subject, left);
    else this.#bySubject.delete(subject);
  }

  /** The ledger as it will be; the one that is given where nothing is pending. A subject without one has an empty one then. */
  after(subject: string, ledger: KeptLedger | undefined): KeptLedger | undefined {
    const changes = this.#bySubject.get(subject);
    if (!changes) return ledger;
    const changed = ledger ? copyOf(ledger) : { windows: [], cells: [], conduct: null, marked: 0 };
    for (const change of changes) change(changed);
    return changed;
  }
}

function copyOf({ windows, cells, conduct, marked }: KeptLedger): KeptLedger {
  return { windows, cells: [...cells], conduct: conduct && copyOfConduct(conduct), marked };
}

const copyOfConduct = (conduct: Conduct): Conduct => ({ ...conduct, strikes: [...conduct.strikes] });
