import { DAY, HOUR } from '../../common/time.ts';
import { placeOf } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';
import type { Event, RequestTrace } from '../events.ts';
import { HighestUses } from './highest.ts';

/** Weight of all tables of one hour: 24,000 windows, or one of each of 2400 keys. Some 450 KiB. */
const WEIGHT = 24_576;
/** Weight of what one process, and one gateway, tell at once: it stays below what gateways may say. */
export const MOST_WEIGHT = 24_000;

/** A window of a plan that is asked for, and how much must have been used of it to be told. */
export interface RequestedWindow extends Pick<Window, 'kind' | 'span'> {
  readonly above: number;
}

/** What is known of one window. `floor` as in HighestUses. */
export interface WindowUses {
  readonly floor: number;
  readonly rows: readonly (readonly [subject: string, readings: readonly number[]])[];
}

/** What a process knows of windows of a plan, in the order in which they were asked for. */
export interface PeakCounts {
  /** Unix milliseconds: requests before are not known here. */
  readonly since: number;
  /** Units of the costliest request that was admitted in this time; 0: none was. */
  readonly costliest: number;
  readonly windows: readonly WindowUses[];
}

/** By kind and span of the window. No name is put together for them: that would take as long as all the rest. */
type TablesOfPlan = Partial<Record<Window['kind'], Map<number, HighestUses>>>;

/** One hour: for each plan and window the highest uses that were read in it. */
interface Hour {
  readonly start: number;
  readonly tables: Map<string, TablesOfPlan>;
  weight: number;
  costliest: number;
}

/**
 * How much of their windows keys and accounts have used in the last day: from what admission reads anyway, so that a plan can be tried
 * on it. Holds a bounded number of readings for each hour, the highest ones, and knows what it lacks.
 */
export class Peaks {
  readonly #clock: () => number;
  readonly #budget: number;
  readonly #begun: number;
  #hours: Hour[] = [];
  #now: Hour;

  /** `clock`: Unix milliseconds. `budget`: weight of the tables of an hour. */
  constructor(clock: () => number, budget = WEIGHT) {
    this.#clock = clock;
    this.#budget = budget;
    this.#begun = clock();
    this.#now = this.#hourAt(this.#begun);
  }

  readonly observe = (event: Event): void => {
    if (event.type !== 'request' || event.verdict !== 'admitted' || event.plan === null || !event.trace) return;
    const now = this.#clock();
    if (now < this.#now.start || now >= this.#now.start + HOUR) this.#now = this.#hourAt(now);
    this.#note(event.plan, event.trace);
  };

  /** What was used of these windows of `plan` in the last day. */
  counts(plan: string, windows: readonly RequestedWindow[]): PeakCounts {
    const now = this.#clock();
    const begin = now - DAY;
    const hours = this.#hours.filter(({ start }) => start + HOUR > begin && start <= now);
    return {
      since: Math.max(this.#begun, begin),
      costliest: Math.max(0, ...hours.map(({ costliest }) => costliest)),
      windows: windows.map((window) => {
        const all = new HighestUses();
        for (const { tables } of hours) {
          const table = tables.get(plan)?.[window.kind]?.get(window.span);
          if (table) all.absorb(table, window.above);
        }
        all.shrink(MOST_WEIGHT / windows.length);
        return { floor: all.floor, rows: [...all.rows] };
      }),
    };
  }

  #note(plan: string, { admission, subject, cost }: RequestTrace): void {
    if (admission === null || subject === null) return;
    const hour = this.#now;
    if (cost > hour.costliest) hour.costliest = cost;
    for (const { window, remaining, resetAt } of admission.readings) {
      if (window.scope !== undefined) continue;
      const table = tableIn(hour, plan, window);
      hour.weight += table.note(subject, placeOf(window, resetAt, admission.now), window.limit - remaining);
    }
    if (hour.weight > this.#budget) makeRoom(hour, this.#budget);
  }

  /** The hour with this moment, which may have been there before: clocks are set back. */
  #hourAt(now: number): Hour {
    const start = Math.floor(now / HOUR) * HOUR;
    this.#hours = this.#hours.filter((hour) => hour.start > start - DAY - HOUR && hour.start < start + DAY);
    const known = this.#hours.find((hour) => hour.start === start);
    if (known) return known;
    const hour: Hour = { start, tables: new Map(), weight: 0, costliest: 0 };
    this.#hours.push(hour);
    return hour;
  }
}

function tableIn({ tables }: Hour, plan: string, { kind, span }: Window): HighestUses {
  const known = tables.get(plan)?.[kind]?.get(span);
  if (known !== undefined) return known;
  const ofPlan = tables.get(plan) ?? {};
  tables.set(plan, ofPlan);
  const table = new HighestUses();
  ofPlan[kind] ??= new Map();
  ofPlan[kind].set(span, table);
  return table;
}

/** The heaviest tables lose their lowest uses, so that one plan does not cost another its own. */
function makeRoom(hour: Hour, budget: number): void {
  const tables = [...hour.tables.values()].flatMap((kinds) =>
    Object.values(kinds).flatMap((spans) => [...spans.values()]),
  );
  const weight = () => tables.reduce((sum, table) => sum + table.weight, 0);
  while (weight() > 0.8 * budget) {
    const heaviest = tables.reduce((one, other) => (other.weight > one.weight ? other : one));
    heaviest.shrink(heaviest.weight / 2);
  }
  hour.weight = weight();
}
