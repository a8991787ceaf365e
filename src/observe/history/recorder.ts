import { MINUTE } from '../../common/time.ts';
import type { Event, RequestEvent } from '../events.ts';
import { ALL, operationRow, POLICIES, packMinute, planRow } from './minute.ts';
import { addTo, COLUMNS, countIn, type Places, placesOf, type Row } from './row.ts';

/** Rows per process; further names count as `other`. */
export const MOST_OPERATIONS = 100;
export const MOST_PLANS = 20;
export const OTHER = 'other';

export class Recorder {
  readonly #clock: () => number;
  readonly #ended: (minute: Buffer) => void;
  #timer: NodeJS.Timeout | undefined;
  readonly #all = new Uint32Array(COLUMNS);
  readonly #before = new Float64Array(COLUMNS);
  readonly #operations = new Rows(MOST_OPERATIONS);
  readonly #plans = new Rows(MOST_PLANS);
  #start: number;
  #policy = 0;
  #policies = 0;

  /** `clock`: Unix milliseconds. */
  constructor(clock: () => number, ended: (minute: Buffer) => void) {
    this.#clock = clock;
    this.#ended = ended;
    this.#start = minuteOf(clock());
  }

  readonly observe = (event: Event): void => {
    switch (event.type) {
      case 'request':
        this.turn();
        this.#count(event);
        break;
      case 'state.outage':
        this.turn();
        this.#policy = bitOf(event.policy);
        this.#policies |= this.#policy;
        break;
      case 'state.recovered':
        this.turn();
        this.#policy = 0;
        break;
    }
  };

  /** Minutes also end without requests. */
  watch(): void {
    const wait = Math.min(Math.max(this.#start + MINUTE - this.#clock(), 1), MINUTE);
    this.#timer = setTimeout(() => {
      this.turn();
      this.watch();
    }, wait).unref();
  }

  turn(): void {
    const now = this.#clock();
    if (now < this.#start || now >= this.#start + MINUTE) this.#end(minuteOf(now));
  }

  get total(): Float64Array {
    const total = this.#before.slice();
    addTo(total, this.#all);
    return total;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#end(this.#start);
  }

  #count(event: RequestEvent): void {
    const places = placesOf(event);
    countIn(this.#all, places);
    this.#operations.count(event.operation, places);
    if (event.plan !== null) this.#plans.count(event.plan, places);
  }

  #end(next: number): void {
    const rows = new Map<string, Row>([[ALL, this.#all]]);
    for (const [name, row] of this.#operations.take()) rows.set(operationRow(name), row);
    for (const [name, row] of this.#plans.take()) rows.set(planRow(name), row);
    const minute = packMinute({ start: this.#start, policies: this.#policies, rows });
    addTo(this.#before, this.#all);
    this.#all.fill(0);
    this.#start = next;
    this.#policies = this.#policy;
    this.#ended(minute);
  }
}

const minuteOf = (now: number): number => Math.floor(now / MINUTE) * MINUTE;

function bitOf(policy: string): number {
  const place = (POLICIES as readonly string[]).indexOf(policy);
  return place < 0 ? 0 : 1 << place;
}

class Rows {
  readonly #most: number;
  readonly #rows = new Map<string, Uint32Array>();
  readonly #others = new Uint32Array(COLUMNS);

  constructor(most: number) {
    this.#most = most;
    // A name equal to `OTHER` shares the row.
    this.#rows.set(OTHER, this.#others);
  }

  count(name: string, places: Places): void {
    countIn(this.#rowOf(name), places);
  }

  /** Returns the rows with counts and empties them. */
  take(): [string, Row][] {
    const counted = [...this.#rows].filter(([, row]) => row.some((count) => count > 0));
    return counted.map(([name, row]) => {
      const copy = row.slice();
      row.fill(0);
      return [name, copy];
    });
  }

  #rowOf(name: string): Uint32Array {
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    if (this.#rows.size > this.#most) return this.#others;
    const row = new Uint32Array(COLUMNS);
    this.#rows.set(name, row);
    return row;
  }
}
