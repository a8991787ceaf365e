import { addTo, COLUMNS } from '../../observe/history/row.ts';
import { type LiveProcess, unpackCounted } from '../../observe/peers/live.ts';

/** Ticks whose durations are told together: those of one are too few for a 99th percentile. */
const LATELY = 5;
/** Milliseconds for which a process is remembered that is not heard: it may only be busy. */
const REMEMBERED = 10_000;

/** What happened since the tick before. */
export interface Counted {
  /** Milliseconds since then; 0: there was none, and nothing is counted. */
  readonly span: number;
  /** A row as in observe/history. */
  readonly row: Float64Array;
  /** The same for each list of processes. */
  readonly rows: readonly Float64Array[];
  /** The last few ticks together, and their milliseconds. */
  readonly lately: { readonly span: number; readonly row: Float64Array };
}

interface Known {
  readonly total: Float64Array;
  readonly upTo: number;
  /** When it was heard. */
  readonly at: number;
}

/**
 * Subtracts what processes had counted when they were last heard from what they have counted now. One that is not known counts from
 * now on, unless it began a moment ago: what a process counted before it ended, or in a long silence, is missing, and no number is ever
 * below 0 or that of a whole life.
 */
export class Counting {
  readonly #known = new Map<string, Known>();
  #began: number | null = null;
  #before: number | null = null;
  #lately: { readonly span: number; readonly row: Float64Array }[] = [];

  /** `now`: milliseconds of a clock that never jumps. */
  count(lists: readonly (readonly Omit<LiveProcess, 'status'>[])[], now: number): Counted {
    this.#began ??= now;
    const moment = Math.min(REMEMBERED, now - this.#began);
    const span = this.#before === null ? 0 : now - this.#before;
    const rows = lists.map((processes) => {
      const sum = new Float64Array(COLUMNS);
      for (const { id, age, counted, upTo } of processes) {
        const total = unpackCounted(counted);
        const before = this.#known.get(id)?.total ?? (age <= moment ? new Float64Array(COLUMNS) : total);
        this.#known.set(id, { total, upTo, at: now });
        // A process counts up; what does not is none that is known here.
        if (total.every((count, i) => count >= before[i]!))
          addTo(
            sum,
            total.map((count, i) => count - before[i]!),
          );
      }
      return sum;
    });
    for (const [id, { at }] of this.#known) if (now - at > REMEMBERED) this.#known.delete(id);
    this.#before = now;
    const row = sumOf(rows);
    if (span > 0) this.#lately = [...this.#lately.slice(1 - LATELY), { span, row }];
    return { span, row, rows, lately: this.#sumOfLately() };
  }

  /** By the ids of the processes that it knows the `upTo` of each. */
  get after(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#known].map(([id, { upTo }]) => [id, upTo]));
  }

  /** Forgets what it knows, after a time in which nobody listened. */
  reset(): void {
    this.#known.clear();
    this.#began = null;
    this.#before = null;
    this.#lately = [];
  }

  #sumOfLately(): Counted['lately'] {
    return {
      span: this.#lately.reduce((sum, { span }) => sum + span, 0),
      row: sumOf(this.#lately.map(({ row }) => row)),
    };
  }
}

function sumOf(rows: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(COLUMNS);
  for (const row of rows) addTo(sum, row);
  return sum;
}
