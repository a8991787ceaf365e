import { oneByte } from '@storegate/http1';
import { Cache } from '../../common/cache.ts';
import { notFuture } from '../../common/time.ts';
import { type Event, outcomeCode, type RequestEvent } from '../events.ts';
import {
  type Explained,
  isIn,
  type ListedRequest,
  type Memory,
  newestOf,
  type RequestFilter,
  type RequestView,
} from '../peers/requests.ts';
import { RefusalLog } from './refusals.ts';
import { SuccessBuffer } from './ring-buffer.ts';
import {
  beganAt,
  kindsOf,
  listed,
  type Notes,
  type RequestLogEntry,
  reportedFaults,
  requestView,
} from './view.ts';

interface RecentSettings {
  /** Half for successes, half for refusals and failures. 0: none. */
  readonly bufferSize: number;
  /** The kept share of successes, 0 to 1. */
  readonly sampleRate: number;
}

/** Addresses whose text is stored once. */
const ADDRESSES = 1_000;
/** Bounds notes of requests that never end. */
const MOST_NOTED = 10_000;

/** Listens to events. Successes never displace refusals and failures. */
export class RecentRequests {
  readonly #worker: number | null;
  readonly #clock: () => number;
  readonly #notes = new Map<string, Notes>();
  readonly #addresses = new Cache<string>(ADDRESSES);
  readonly #refused: RefusalLog;
  #settings: RecentSettings;
  #good: SuccessBuffer;
  #due = 0;
  #goodBegan: number;
  #refusedBegan: number;

  /** `worker` `null`: the only process of the gateway. */
  constructor(
    settings: RecentSettings,
    {
      worker,
      clock = Date.now,
    }: { readonly worker: number | null; readonly clock?: () => number },
  ) {
    this.#settings = settings;
    this.#worker = worker;
    this.#clock = clock;
    this.#good = new SuccessBuffer(goodPart(settings));
    this.#refused = new RefusalLog(refusedPart(settings));
    this.#goodBegan = clock();
    this.#refusedBegan = this.#goodBegan;
  }

  /** Keeps what fits into the new sizes. */
  use(settings: RecentSettings): void {
    const { bufferSize, sampleRate } = this.#settings;
    this.#settings = settings;
    if (bufferSize === 0) this.#refusedBegan = this.#clock();
    if (bufferSize === 0 || sampleRate !== settings.sampleRate)
      this.#goodBegan = this.#clock();
    if (bufferSize === settings.bufferSize) return;
    this.#goodBegan = Math.max(this.#goodBegan, this.#good.since);
    const before = this.#good;
    this.#good = new SuccessBuffer(goodPart(settings));
    for (const { event, notes, endedAt } of before.oldestFirst())
      this.#good.put(event, event.address, notes, endedAt);
    this.#refused.use(refusedPart(settings));
  }

  readonly observe = (event: Event): void => {
    if (this.#settings.bufferSize === 0) return;
    switch (event.type) {
      case 'request':
        this.#keep(event);
        break;
      case 'contract.fault':
        this.#notesOf(event.id).faults.push(reportedFaults(event));
        break;
      case 'retry':
        this.#notesOf(event.id).retries++;
        break;
      case 'outage':
        this.#notesOf(event.id).outage = kindsOf(event.error);
        break;
    }
  };

  explain(id: string): Explained {
    const kept = this.#refused.find(id) ?? this.#good.find(id);
    return {
      request: kept && this.#viewOf(inOrder([kept], this.#clock())[0]!),
      memory: this.#memory(),
    };
  }

  /** Newest first, those whose number is above `after`. */
  refusals(
    { key, account, code, limit, ...period }: RequestFilter,
    after = 0,
  ): ListedRequest[] {
    const kept = this.#refused.newestFirst(code, after);
    const fitting = inOrder(kept, this.#clock())
      .filter(
        ({ event }) =>
          (key === null || key === event.keyId) &&
          (account === null || account === event.account),
      )
      .map((kept) => ({ kept, at: beganAt(kept), id: kept.event.id }))
      .filter((place) => isIn(place, period));
    return newestOf([fitting], limit).map(({ kept }) =>
      listed(this.#viewOf(kept)),
    );
  }

  /** The number of the newest refusal that was kept. */
  get upTo(): number {
    return this.#refused.upTo;
  }

  #viewOf(kept: RequestLogEntry): RequestView {
    return requestView(kept, this.#worker);
  }

  #keep(event: RequestEvent): void {
    const { id, status } = event;
    let notes: Notes | null = null;
    if (this.#notes.size > 0) {
      notes = this.#notes.get(id) ?? null;
      this.#notes.delete(id);
    }
    const address = this.#lasting(event.address);
    if (outcomeCode(event) !== null || status >= 500)
      this.#refused.put(event, address, notes, this.#clock());
    else if (this.#isSampled())
      this.#good.put(event, address, notes, this.#clock());
  }

  #isSampled(): boolean {
    this.#due += this.#settings.sampleRate;
    if (this.#due < 1) return false;
    this.#due -= 1;
    return true;
  }

  /** An address may be a slice of the headers and would retain them. */
  #lasting(address: string): string {
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const copy = oneByte(address);
    this.#addresses.set(copy, copy);
    return copy;
  }

  #notesOf(id: string): Notes {
    const known = this.#notes.get(id);
    if (known) return known;
    if (this.#notes.size >= MOST_NOTED) this.#notes.clear();
    const made: Notes = { faults: [], retries: 0, outage: null };
    this.#notes.set(id, made);
    return made;
  }

  #memory(): Memory {
    const { bufferSize, sampleRate } = this.#settings;
    const now = this.#clock();
    this.#goodBegan = notFuture(this.#goodBegan, now);
    this.#refusedBegan = notFuture(this.#refusedBegan, now);
    this.#refused.since = notFuture(this.#refused.since, now);
    return {
      requests: bufferSize,
      sample: this.#good.capacity === 0 ? 0 : sampleRate,
      goodSince: Math.max(this.#goodBegan, notFuture(this.#good.since, now)),
      othersSince: Math.max(this.#refusedBegan, this.#refused.since),
    };
  }
}

/**
 * Newest first: an entry that ended after a newer one, or in the future, is from before the clock
 * was set back.
 */
function inOrder(
  entries: readonly RequestLogEntry[],
  now: number,
): RequestLogEntry[] {
  let latest = now;
  return entries.map((entry) => {
    latest = Math.min(latest, entry.endedAt);
    return latest === entry.endedAt ? entry : { ...entry, endedAt: latest };
  });
}

/** Refusals get the odd one. */
const goodPart = ({ bufferSize }: RecentSettings) => Math.floor(bufferSize / 2);
const refusedPart = ({ bufferSize }: RecentSettings) =>
  Math.ceil(bufferSize / 2);
