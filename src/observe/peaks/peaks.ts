import { DAY, HOUR, notFuture } from '../../common/time.ts';
import { placeOf } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';
import type { Event, RequestTrace } from '../events.ts';
import { HighestUses, type WindowUses } from './highest.ts';

/** Weight of all tables of one hour, some 450 KiB. */
const WEIGHT = 24_576;
/** Keeps an answer below the message limit between gateways. */
export const MOST_WEIGHT = 24_000;

export interface RequestedWindow extends Pick<Window, 'kind' | 'span'> {
  readonly above: number;
}

/** In the order of the requested windows. */
export interface PeakCounts {
  /** Unix milliseconds; nothing older is known. */
  readonly since: number;
  /** Units; 0: no request was admitted. */
  readonly costliest: number;
  readonly windows: readonly WindowUses[];
}

/** Nested, because joining a key would take as long as all the rest. */
type TablesOfPlan = Partial<Record<Window['kind'], Map<number, HighestUses>>>;

interface Hour {
  readonly start: number;
  readonly tables: Map<string, TablesOfPlan>;
  weight: number;
  costliest: number;
}

/**
 * The use of windows in the last day, taken from admission's readings, with which a plan can be
 * simulated. Memory is bounded per hour.
 */
export class Peaks {
  readonly #clock: () => number;
  readonly #budget: number;
  #begun: number;
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
    if (
      event.type !== 'request' ||
      event.verdict !== 'admitted' ||
      event.plan === null ||
      !event.trace
    )
      return;
    const now = this.#clock();
    if (now < this.#now.start || now >= this.#now.start + HOUR) this.#now = this.#hourAt(now);
    this.#note(event.plan, event.trace);
  };

  counts(plan: string, windows: readonly RequestedWindow[]): PeakCounts {
    const now = this.#clock();
    this.#begun = notFuture(this.#begun, now);
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
        return all.list(MOST_WEIGHT / windows.length);
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
      // What remains of a gateway's share does not show the use.
      if (admission.by === 'local') table.local = true;
      else
        hour.weight += table.note(
          subject,
          placeOf(window, resetAt, admission.now),
          window.limit - remaining,
        );
    }
    if (hour.weight > this.#budget) makeRoom(hour, this.#budget);
  }

  /** The hour may be an earlier one: clocks are set back. */
  #hourAt(now: number): Hour {
    const start = Math.floor(now / HOUR) * HOUR;
    this.#hours = this.#hours.filter(
      (hour) => hour.start > start - DAY - HOUR && hour.start < start + DAY,
    );
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

/** The heaviest tables shrink first, so that one plan does not displace another. */
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
