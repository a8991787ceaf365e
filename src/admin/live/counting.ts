import { type LiveProcess, unpackCounted } from '../../fleet/live.ts';
import { addTo, COLUMNS } from '../../observe/history/row.ts';

/** Ticks whose durations are told together: those of one are too few for a 99th percentile. */
const LATELY = 5;

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

/**
 * Subtracts what processes had counted at the tick before from what they have counted now. A process that was not heard then counts
 * from this tick on, unless it began since: what ended in between, or was silent, is missing, and no number is ever below 0 or those
 * of a whole life.
 */
export class Counting {
  #known: ReadonlyMap<string, Float64Array> = new Map();
  #before: number | null = null;
  #lately: { readonly span: number; readonly row: Float64Array }[] = [];

  /** `now`: milliseconds of a clock that never jumps. */
  count(lists: readonly (readonly Pick<LiveProcess, 'id' | 'age' | 'counted'>[])[], now: number): Counted {
    const span = this.#before === null ? 0 : now - this.#before;
    const known = new Map<string, Float64Array>();
    const rows = lists.map((processes) => {
      const sum = new Float64Array(COLUMNS);
      for (const { id, age, counted } of processes) {
        const total = unpackCounted(counted);
        known.set(id, total);
        const before = this.#known.get(id) ?? (age <= span ? new Float64Array(COLUMNS) : total);
        // A process counts up; what does not is none that is known here.
        if (total.every((count, i) => count >= before[i]!))
          addTo(
            sum,
            total.map((count, i) => count - before[i]!),
          );
      }
      return sum;
    });
    this.#known = known;
    this.#before = now;
    const row = sumOf(rows);
    if (span > 0) this.#lately = [...this.#lately.slice(1 - LATELY), { span, row }];
    return { span, row, rows, lately: this.#sumOfLately() };
  }

  /** Forgets what it knows, after a time in which nobody listened. */
  reset(): void {
    this.#known = new Map();
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
