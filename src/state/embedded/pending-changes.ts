import type { Counters, StrikeState } from '../../limits/counters.ts';
import type { StoredCounters } from './counter-store.ts';

export type CounterChange = (counters: Counters) => void;

/**
 * Changes that are not on disk yet. Disk writes include them, and the live counters get each one only when it is on
 * disk, so a change whose write fails never takes effect.
 */
export class PendingChanges {
  readonly #bySubject = new Map<string, CounterChange[]>();

  get isEmpty(): boolean {
    return this.#bySubject.size === 0;
  }

  subjects(): Iterable<string> {
    return this.#bySubject.keys();
  }

  has(subject: string): boolean {
    return this.#bySubject.has(subject);
  }

  add(subject: string, change: CounterChange): void {
    const changes = this.#bySubject.get(subject);
    if (changes) changes.push(change);
    else this.#bySubject.set(subject, [change]);
  }

  remove(subject: string, change: CounterChange): void {
    const left = this.#bySubject.get(subject)!.filter((one) => one !== change);
    if (left.length > 0) this.#bySubject.set(subject, left);
    else this.#bySubject.delete(subject);
  }

  /**
   * The counters after all pending changes, or `counters` itself without one. A subject without counters starts with
   * empty ones.
   */
  after(subject: string, counters: StoredCounters | undefined): StoredCounters | undefined {
    const changes = this.#bySubject.get(subject);
    if (!changes) return counters;
    const changed = counters ? copyOf(counters) : { windows: [], cells: [], strikeState: null, marked: 0 };
    for (const change of changes) change(changed);
    return changed;
  }
}

function copyOf({ windows, cells, strikeState, marked }: StoredCounters): StoredCounters {
  return { windows, cells: [...cells], strikeState: strikeState && copyOfStrikeState(strikeState), marked };
}

const copyOfStrikeState = (state: StrikeState): StrikeState => ({ ...state, strikes: [...state.strikes] });
