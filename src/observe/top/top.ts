import { HOUR, MINUTE, notFuture, SECOND } from '../../common/time.ts';
import type { Event, RequestEvent } from '../events.ts';
import { FrequentItems, mergeSummaries, type Summary } from './summary.ts';

/** Milliseconds. A window is kept in slices of `span`, which expire whole. */
const WINDOWS = {
  minute: { length: MINUTE, span: 10 * SECOND },
  hour: { length: HOUR, span: 10 * MINUTE },
  day: { length: 24 * HOUR, span: HOUR },
} as const;

export type TopWindow = keyof typeof WINDOWS;
export const TOP_WINDOWS = Object.keys(WINDOWS) as readonly TopWindow[];

const SHORTEST = WINDOWS.minute.span;

/** The number of counters per ranking; a count is too high by at most that part of all. */
export const COUNTERS = {
  requests: 256,
  refused: 128,
  near: 128,
  strikes: 64,
  deprecated: 64,
  operations: 64,
} as const;

export type TopBy = keyof typeof COUNTERS;
export const TOP_BY = Object.keys(COUNTERS) as readonly TopBy[];

export interface Counting {
  readonly keyId: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly operation: string | null;
}

export interface TopCounts {
  /** Unix milliseconds; nothing older is counted. */
  readonly since: number;
  readonly summary: Summary<Counting>;
}

/** Unlike labels of metrics it may name keys, because the number of counters is fixed. */
export class Top {
  readonly #clock: () => number;
  #begun: number;
  readonly #rankings = Object.fromEntries(
    TOP_BY.map((by) => [by, new Ranking(COUNTERS[by])]),
  ) as Record<TopBy, Ranking>;
  #start: number;

  /** `clock`: Unix milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
    this.#begun = clock();
    this.#start = startOf(this.#begun, SHORTEST);
  }

  readonly observe = (event: Event): void => {
    if (event.type === 'request') this.#count(event);
  };

  counts(window: TopWindow, by: TopBy): TopCounts {
    const now = this.#clock();
    this.#begun = notFuture(this.#begun, now);
    this.#turn(now);
    return {
      since: Math.max(beginOf(window, now), this.#begun),
      summary: this.#rankings[by].summary(window, now),
    };
  }

  #count(event: RequestEvent): void {
    const now = this.#clock();
    if (now < this.#start || now >= this.#start + SHORTEST) this.#turn(now);
    const { keyId, operation } = event;
    const refused = isRefused(event);
    if (refused)
      this.#rankings.operations.counters.add(operation, now).about ??= { ...NOTHING, operation };
    if (keyId === null) return;
    this.#note('requests', keyId, event, now);
    if (refused) this.#note('refused', keyId, event, now);
    if (event.nearLimit) this.#note('near', keyId, event, now);
    if (event.unheeding) this.#note('strikes', keyId, event, now);
    if (event.deprecated) {
      const item = this.#rankings.deprecated.counters.add(`${keyId} ${operation}`, now);
      item.about ??= { ...partyOf(event), operation };
    }
  }

  #note(by: TopBy, keyId: string, event: RequestEvent, now: number): void {
    this.#rankings[by].counters.add(keyId, now).about ??= partyOf(event);
  }

  #turn(now: number): void {
    const start = startOf(now, SHORTEST);
    if (start === this.#start) return;
    for (const ranking of Object.values(this.#rankings)) ranking.end(this.#start);
    this.#start = start;
  }
}

interface Slice {
  readonly start: number;
  readonly summary: Summary<Counting>;
}

/**
 * Counts in slices of ten seconds and merges ended ones into each window, so memory is bounded to
 * 39 summaries.
 */
class Ranking {
  readonly #size: number;
  readonly #slices: Readonly<Record<TopWindow, Slice[]>> = { minute: [], hour: [], day: [] };
  counters: FrequentItems<Counting>;

  /** `size`: counters per summary. */
  constructor(size: number) {
    this.#size = size;
    this.counters = new FrequentItems(size);
  }

  /** Begins the next slice; `start` is that of the ended one. */
  end(start: number): void {
    const summary = this.counters.summary();
    if (summary.total === 0) return;
    this.counters = new FrequentItems(this.#size);
    for (const window of TOP_WINDOWS)
      this.#add(window, startOf(start, WINDOWS[window].span), summary);
  }

  /** Includes the older part of the window's first slice. */
  summary(window: TopWindow, now: number): Summary<Counting> {
    const begin = beginOf(window, now);
    const inside = this.#slices[window].filter(({ start }) => start >= begin && start <= now);
    return mergeSummaries(
      [...inside.map(({ summary }) => summary), this.counters.summary()],
      this.#size,
    );
  }

  #add(window: TopWindow, start: number, summary: Summary<Counting>): void {
    const { length, span } = WINDOWS[window];
    const slices = this.#slices[window];
    const last = slices.at(-1);
    if (last?.start === start) {
      slices[slices.length - 1] = {
        start,
        summary: mergeSummaries([last.summary, summary], this.#size),
      };
    } else {
      slices.push({ start, summary });
      if (slices.length > length / span + 1) slices.shift();
    }
  }
}

const NOTHING: Counting = { keyId: null, account: null, plan: null, operation: null };

const partyOf = ({ keyId, account, plan }: RequestEvent): Counting => ({
  keyId,
  account,
  plan,
  operation: null,
});

const startOf = (now: number, span: number): number => Math.floor(now / span) * span;

const beginOf = (window: TopWindow, now: number): number =>
  startOf(now - WINDOWS[window].length, WINDOWS[window].span);

/** Excludes outages, aborted requests and statuses of backends. */
function isRefused({ code, status }: RequestEvent): boolean {
  return code !== null && status >= 400 && status < 499;
}
