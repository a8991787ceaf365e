import type { Event, RequestEvent } from '../events.ts';
import { beginOf, SHORTEST, Slices, type TopWindow } from './slices.ts';
import type { Summary } from './summary.ts';

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
  readonly #begun: number;
  readonly #counted: Readonly<Record<TopBy, Slices<Counting>>> = {
    requests: new Slices(COUNTERS.requests),
    refused: new Slices(COUNTERS.refused),
    near: new Slices(COUNTERS.near),
    strikes: new Slices(COUNTERS.strikes),
    deprecated: new Slices(COUNTERS.deprecated),
    operations: new Slices(COUNTERS.operations),
  };
  #start: number;

  /** `clock`: Unix milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
    this.#begun = clock();
    this.#start = startAt(this.#begun);
  }

  readonly observe = (event: Event): void => {
    if (event.type === 'request') this.#count(event);
  };

  counts(window: TopWindow, by: TopBy): TopCounts {
    const now = this.#clock();
    this.#turn(now);
    return { since: Math.max(beginOf(window, now), this.#begun), summary: this.#counted[by].summary(window, now) };
  }

  #count(event: RequestEvent): void {
    const now = this.#clock();
    if (now < this.#start || now >= this.#start + SHORTEST) this.#turn(now);
    const { keyId, operation } = event;
    const refused = isRefused(event);
    if (refused) this.#counted.operations.add(operation, now).about ??= { ...NOTHING, operation };
    if (keyId === null) return;
    this.#note('requests', keyId, event, now);
    if (refused) this.#note('refused', keyId, event, now);
    if (event.nearLimit) this.#note('near', keyId, event, now);
    if (event.unheeding) this.#note('strikes', keyId, event, now);
    if (event.deprecated) {
      this.#counted.deprecated.add(`${keyId} ${operation}`, now).about ??= { ...partyOf(event), operation };
    }
  }

  #note(by: TopBy, keyId: string, event: RequestEvent, now: number): void {
    const place = this.#counted[by].add(keyId, now);
    if (place.about === null) place.about = partyOf(event);
  }

  #turn(now: number): void {
    const start = startAt(now);
    if (start === this.#start) return;
    for (const slices of Object.values(this.#counted)) slices.end(this.#start);
    this.#start = start;
  }
}

const NOTHING: Counting = { keyId: null, account: null, plan: null, operation: null };

const partyOf = ({ keyId, account, plan }: RequestEvent): Counting => ({ keyId, account, plan, operation: null });

const startAt = (now: number): number => Math.floor(now / SHORTEST) * SHORTEST;

/** Excludes outages, aborted requests and statuses of backends. */
function isRefused({ code, status }: RequestEvent): boolean {
  return code !== null && status >= 400 && status < 499;
}
