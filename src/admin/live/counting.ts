import type { LiveProcess } from '../../observe/peers/live.ts';
import { rowIn } from '../../observe/traffic/packing.ts';
import { addTo, COLUMNS, sumOf } from '../../observe/traffic/row.ts';

/** A single tick has too few durations for a 99th percentile. */
const LATELY = 5;
/** Milliseconds until a unresponsive process is dropped; it may only be busy. */
const REMEMBERED = 10_000;

export interface Counted {
  /** Milliseconds; 0: the first tick, without counts. */
  readonly span: number;
  /** A row as in observe/traffic. */
  readonly row: Float64Array;
  readonly rows: readonly Float64Array[];
  /** The last ticks and their milliseconds. */
  readonly lately: { readonly span: number; readonly row: Float64Array };
}

/**
 * Differences of the processes' counters between ticks. An unknown process counts from now on
 * unless it has just started, so counts can be missing, but a difference is never negative or the
 * total of a whole life.
 */
export class Counting {
  readonly #known = new Map<
    string,
    { readonly total: Float64Array; readonly upTo: number; readonly at: number }
  >();
  #began: number | null = null;
  #before: number | null = null;
  #lately: { readonly span: number; readonly row: Float64Array }[] = [];

  /** `now`: milliseconds of a monotonic clock. */
  count(
    lists: readonly (readonly Omit<LiveProcess, 'status'>[])[],
    now: number,
  ): Counted {
    this.#began ??= now;
    const moment = Math.min(REMEMBERED, now - this.#began);
    const span = this.#before === null ? 0 : now - this.#before;
    const rows = lists.map((processes) => {
      const sum = new Float64Array(COLUMNS);
      for (const { id, age, counted, upTo } of processes) {
        const total = rowIn(counted);
        const before =
          this.#known.get(id)?.total ??
          (age <= moment ? new Float64Array(COLUMNS) : total);
        this.#known.set(id, { total, upTo, at: now });
        // Counters only rise; otherwise it is another process.
        const added = total.map((count, i) => count - before[i]!);
        if (added.every((count) => count >= 0)) addTo(sum, added);
      }
      return sum;
    });
    for (const [id, { at }] of this.#known)
      if (now - at > REMEMBERED) this.#known.delete(id);
    this.#before = now;
    const row = sumOf(rows);
    if (span > 0)
      this.#lately = [...this.#lately.slice(1 - LATELY), { span, row }];
    const lately = {
      span: this.#lately.reduce((sum, { span }) => sum + span, 0),
      row: sumOf(this.#lately.map(({ row }) => row)),
    };
    return { span, row, rows, lately };
  }

  /** The last `upTo` by process id. */
  get after(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      [...this.#known].map(([id, { upTo }]) => [id, upTo]),
    );
  }
}
