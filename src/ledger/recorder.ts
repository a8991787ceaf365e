import { randomUUID } from 'node:crypto';
import { MINUTE, SECOND } from '../common/time.ts';
import type { Plans } from '../limits/plans.ts';
import {
  type Event,
  outcomeCode,
  type RequestEvent,
} from '../observe/events.ts';
import { addTo, COLUMNS, countIn, placesOf } from '../observe/traffic/row.ts';
import { startOf } from './names.ts';
import { createTrafficTable } from './traffic.ts';
import { UsageNames, UsageTable } from './usage-table.ts';
import { UsesTables } from './uses.ts';
import { POLICIES } from './value.ts';

/** Clients that are remembered between minutes. */
const MOST_CLIENTS = 131_072;
/** Rows that are stored together, as a power of two. */
const PART_BITS = 8;
export const PART_ROWS = 2 ** PART_BITS;

/** Clients cause these with methods, transfer codings and versions that no request may have. */
const OF_CLIENTS: ReadonlySet<number> = new Set([501, 505]);

/** What a process counts in a minute. */
export class OpenMinute {
  /** Unix milliseconds. */
  readonly start: number;
  /** From 1; rises, also if the clock is set back. */
  readonly number: number;
  readonly usage: UsageTable;
  readonly traffic = createTrafficTable();
  readonly uses = new UsesTables();
  /** Requests: all, with 5xx, and refused by limits. */
  readonly figures = { requests: 0, failed: 0, refused: 0 };
  policies: number;
  /** Requests that could not be stored, as this minute reports. */
  dropped = 0;
  /** Rises whenever parts are read. */
  #moment = 1;
  /** The moment of the last change of each part. */
  readonly #changes: number[] = [];

  constructor(
    { start, number }: Pick<OpenMinute, 'start' | 'number'>,
    names: UsageNames,
    policies: number,
  ) {
    this.start = start;
    this.number = number;
    this.usage = new UsageTable(names);
    this.policies = policies;
  }

  count(event: RequestEvent, now: number): void {
    const { operation, plan, verdict, status, trace } = event;
    countIn(this.traffic.row(plan, operation), placesOf(event));
    if (verdict === 'admitted' && plan !== null && trace)
      this.uses.note(plan, trace);
    this.#countUsage(event, now);
    this.figures.requests++;
    if (status >= 500 && !OF_CLIENTS.has(status)) this.figures.failed++;
    if (verdict === 'limited' || verdict === 'banned') this.figures.refused++;
  }

  #countUsage(event: RequestEvent, now: number): void {
    const { keyId, account, plan, operation, status, verdict } = event;
    const { nearLimit, unheeding, duration, deprecated, trace } = event;
    const { usage } = this;
    const code = outcomeCode(event);
    const row = usage.row(
      usage.names.client({ key: keyId, account, plan }),
      usage.names.operation(operation),
      usage.names.outcome({ status, code, verdict, deprecated }),
    );
    const second = Math.floor(now / SECOND);
    usage.count(row, duration, nearLimit || unheeding, second);
    if (trace) {
      const units = verdict === 'admitted' ? trace.cost : 0;
      usage.amount(row, units, trace.received, trace.sent);
    }
    this.#changes[row >> PART_BITS] = this.#moment;
  }

  hasChangedSince(moment: number): boolean {
    return this.#changes.some((change) => change >= moment);
  }

  /** The parts that have changed since `moment`, and the moment from which others will. */
  changedSince(moment: number): { parts: number[]; moment: number } {
    const parts = [...this.#changes.keys()].filter(
      (part) => this.#changes[part]! >= moment,
    );
    return { parts, moment: ++this.#moment };
  }
}

/**
 * Counts requests of this process by minute. `ended` gets each minute that has ended, `changed` is
 * called after each change of the open one. `clock`: Unix milliseconds.
 */
export function createRecorder(
  clock: () => number,
  ended: (minute: OpenMinute) => void,
  changed: () => void = () => {},
) {
  const id = randomUUID();
  const before = new Float64Array(COLUMNS);
  let names = new UsageNames();
  let policy = 0;
  let lastNumber = 0;
  let last: OpenMinute | null = null;
  let minute = newMinute(clock());
  let second = { number: 0, requests: 0 };
  let most = 0;

  function newMinute(now: number) {
    const name = { start: startOf(now, MINUTE), number: ++lastNumber };
    return new OpenMinute(name, names, policy);
  }

  const observe = (event: Event) => {
    switch (event.type) {
      case 'request':
        count(event, turn());
        break;
      case 'state.outage':
        turn();
        policy = bitOf(event.policy);
        minute.policies |= policy;
        changed();
        break;
      case 'state.recovered':
        turn();
        policy = 0;
        break;
    }
  };

  /** Ends the minute if its time is over. Returns the time. */
  function turn() {
    const now = clock();
    if (now < minute.start || now >= minute.start + MINUTE) {
      for (const [, , row] of minute.traffic.rows()) addTo(before, row);
      ended(minute);
      last = minute;
      if (names.clients.length > MOST_CLIENTS) names = new UsageNames();
      minute = newMinute(now);
    }
    return now;
  }

  function count(event: RequestEvent, now: number) {
    minute.count(event, now);
    const number = Math.floor(now / SECOND);
    if (number !== second.number) second = { number, requests: 0 };
    second.requests++;
    most = Math.max(most, second.requests);
    changed();
  }

  return {
    observe,
    /** Of the plans in force from now on. */
    countWindows({ plans }: Plans) {
      minute.uses.noteWindows(id, clock(), plans);
    },
    /** All requests since the start, without plan and operation. */
    get total(): Float64Array {
      const total = before.slice();
      for (const [, , row] of minute.traffic.rows()) addTo(total, row);
      return total;
    },
    /** Requests of the last minute, from the open one and the one before. */
    get recent(): OpenMinute['figures'] {
      const now = turn();
      const isNext = last?.start === minute.start - MINUTE;
      const part = isNext ? 1 - (now - minute.start) / MINUTE : 0;
      const figure = (name: keyof OpenMinute['figures']) =>
        minute.figures[name] +
        Math.ceil(part * (last === null ? 0 : last.figures[name]));
      return {
        requests: figure('requests'),
        failed: figure('failed'),
        refused: figure('refused'),
      };
    },
    /** Requests of the busiest second. */
    get most() {
      return most;
    },
    /** The open minute. */
    get minute() {
      turn();
      return minute;
    },
  };
}

export type Recorder = ReturnType<typeof createRecorder>;

function bitOf(policy: string): number {
  const place = (POLICIES as readonly string[]).indexOf(policy);
  return place < 0 ? 0 : 1 << place;
}
