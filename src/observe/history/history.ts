import { setImmediate } from 'node:timers/promises';
import { MINUTE } from '../../common/time.ts';
import { addMinute, mergeMinutes, policiesIn, unpackMinute, withoutParts } from './minute.ts';
import { joinOutages, type StateOutage } from './outages.ts';
import { COLUMNS } from './row.ts';

const MOST = 24 * 60;
/** Bytes. Above it the oldest minutes lose their operations and plans. */
const BUDGET = 16 << 20;
/** Minutes read before other work gets its turn. */
const AT_ONCE = 60;

export interface Span {
  /** Unix milliseconds. */
  readonly start: number;
  readonly minutes: number;
  readonly policies: number;
  readonly row: Float64Array;
}

export class History {
  readonly #budget: number;
  readonly #minutes = new Map<number, Buffer>();
  /** Without the map's own. */
  bytes = 0;

  constructor(budget = BUDGET) {
    this.#budget = budget;
  }

  /** Packed, by start. */
  get minutes(): ReadonlyMap<number, Buffer> {
    return this.#minutes;
  }

  /** The begin of the oldest minute, Unix milliseconds; `null`: the history is empty. */
  get since(): number | null {
    return this.#minutes.size === 0 ? null : Math.min(...this.#minutes.keys());
  }

  /** Merges a packed minute and returns its start. Throws NotPacked, and changes nothing then. */
  add(minute: Uint8Array): number {
    const { start } = unpackMinute(minute);
    const known = this.#minutes.get(start);
    this.#set(start, known ? mergeMinutes(known, minute) : minute);
    if (this.#minutes.size > MOST) this.#drop(this.since!);
    if (this.bytes > this.#budget) this.#shrink();
    return start;
  }

  /**
   * The row `name` from `from` until before `to` in steps of `step` milliseconds, oldest first.
   * Steps without data are missing.
   */
  async read(
    name: string,
    { from, to, step }: { from: number; to: number; step: number },
  ): Promise<Span[]> {
    const spans = new Map<number, Span>();
    let read = 0;
    for (const [start, bytes] of [...this.#minutes]) {
      if (start < from || start >= to) continue;
      const at = Math.floor(start / step) * step;
      const before = spans.get(at) ?? {
        start: at,
        minutes: 0,
        policies: 0,
        row: new Float64Array(COLUMNS),
      };
      const { policies } = addMinute(before.row, bytes, name);
      spans.set(at, {
        ...before,
        minutes: before.minutes + 1,
        policies: before.policies | policies,
      });
      if (++read % AT_ONCE === 0) await setImmediate();
    }
    return [...spans.values()].sort((one, other) => one.start - other.start);
  }

  /** From `from` until before `to`, oldest first. */
  outages({ from, to }: { from: number; to: number }): StateOutage[] {
    const minutes = [...this.#minutes].filter(([start]) => start >= from && start < to);
    const all = minutes.map(([start, bytes]) => ({
      begin: start,
      end: start + MINUTE,
      policies: policiesIn(bytes),
    }));
    return joinOutages(all.filter(({ policies }) => policies > 0));
  }

  /** Shrinks a tenth below the budget, so that it runs rarely. */
  #shrink(): void {
    for (const start of [...this.#minutes.keys()].sort((a, b) => a - b)) {
      if (this.bytes <= 0.9 * this.#budget) return;
      this.#set(start, withoutParts(this.#minutes.get(start)!));
    }
  }

  #set(start: number, bytes: Uint8Array): void {
    this.bytes += bytes.length - (this.#minutes.get(start)?.length ?? 0);
    // A slice of the shared buffer pool would retain the whole pool.
    const own = Buffer.alloc(bytes.length);
    own.set(bytes);
    this.#minutes.set(start, own);
  }

  #drop(start: number): void {
    this.bytes -= this.#minutes.get(start)!.length;
    this.#minutes.delete(start);
  }
}
