import { notFuture } from '../../common/time.ts';
import { DEFAULT_API } from '../../config/apis.ts';
import { type Event, outcomeCode, type RequestEvent } from '../events.ts';
import {
  type Call,
  type Explained,
  isIn,
  type ListedRequest,
  type Memory,
  newestOf,
  type RequestFilter,
  type RequestView,
} from '../peers/requests.ts';
import { createLastCalls } from './last-calls.ts';
import { createRefusalLog } from './refusals.ts';
import { createSuccessBuffer } from './successes.ts';
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

/** Bounds notes of requests that never end. */
const MOST_NOTED = 10_000;

/**
 * Listens to events. Successes never displace refusals and failures. `worker` `null`: the only
 * process of the gateway.
 */
export function createRecentRequests(
  initially: RecentSettings,
  {
    worker,
    clock = Date.now,
  }: { readonly worker: number | null; readonly clock?: () => number },
) {
  const noted = new Map<string, Notes>();
  const refused = createRefusalLog(refusedPart(initially));
  const good = createSuccessBuffer(goodPart(initially));
  const lastCalls = createLastCalls();
  let settings = initially;
  let due = 0;
  let goodBegan = clock();
  let refusedBegan = goodBegan;

  /** Keeps what fits into the new sizes. */
  function use(next: RecentSettings): void {
    const { bufferSize, sampleRate } = settings;
    settings = next;
    if (next.bufferSize === 0) lastCalls.clear();
    if (bufferSize === 0) refusedBegan = clock();
    if (bufferSize === 0 || sampleRate !== next.sampleRate) goodBegan = clock();
    if (bufferSize === next.bufferSize) return;
    goodBegan = Math.max(goodBegan, good.since);
    good.use(goodPart(next));
    refused.use(refusedPart(next));
  }

  function observe(event: Event): void {
    if (settings.bufferSize === 0) return;
    switch (event.type) {
      case 'request':
        keep(event);
        break;
      case 'contract.fault':
        notesOf(event.id).faults.push(reportedFaults(event));
        break;
      case 'retry':
        notesOf(event.id).retries++;
        break;
      case 'outage':
        notesOf(event.id).outage = kindsOf(event.error);
        break;
    }
  }

  function explain(id: string): Explained {
    const kept = refused.find(id) ?? good.find(id);
    return {
      request: kept && viewOf(inOrder([kept], clock())[0]!),
      memory: memory(),
    };
  }

  /** Newest first, those whose number is above `after`. */
  function refusals(
    { key, account, api, code, limit, ...period }: RequestFilter,
    after = 0,
  ): ListedRequest[] {
    const kept = refused.newestFirst(code, after);
    const fitting = inOrder(kept, clock())
      .filter(
        ({ event }) =>
          (key === null || key === event.keyId) &&
          (account === null || account === event.account) &&
          (api ?? event.api ?? DEFAULT_API) === (event.api ?? DEFAULT_API),
      )
      .map((kept) => ({ kept, at: beganAt(kept), id: kept.event.id }))
      .filter((place) => isIn(place, period));
    return newestOf([fitting], limit).map(({ kept }) => listed(viewOf(kept)));
  }

  /** Successful calls of a key. */
  const calls = (key: string): Call[] =>
    lastCalls.of(key).map((call) => ({ ...call, worker }));

  function viewOf(kept: RequestLogEntry): RequestView {
    return requestView(kept, worker);
  }

  function keep(event: RequestEvent): void {
    const { id, status } = event;
    let notes: Notes | null = null;
    if (noted.size > 0) {
      notes = noted.get(id) ?? null;
      noted.delete(id);
    }
    const now = clock();
    if (outcomeCode(event) !== null || status >= 500) {
      refused.put(event, notes, now);
      return;
    }
    lastCalls.put(event, now);
    if (isSampled()) good.put(event, notes, now);
  }

  function isSampled(): boolean {
    due += settings.sampleRate;
    if (due < 1) return false;
    due -= 1;
    return true;
  }

  function notesOf(id: string): Notes {
    const existing = noted.get(id);
    if (existing) return existing;
    if (noted.size >= MOST_NOTED) noted.clear();
    const made: Notes = { faults: [], retries: 0, outage: null };
    noted.set(id, made);
    return made;
  }

  function memory(): Memory {
    const { bufferSize, sampleRate } = settings;
    const now = clock();
    goodBegan = notFuture(goodBegan, now);
    refusedBegan = notFuture(refusedBegan, now);
    refused.since = notFuture(refused.since, now);
    return {
      requests: bufferSize,
      sample: good.capacity === 0 ? 0 : sampleRate * good.share,
      goodSince: Math.max(goodBegan, notFuture(good.since, now)),
      othersSince: Math.max(refusedBegan, refused.since),
    };
  }

  return {
    use,
    observe,
    explain,
    refusals,
    calls,
    /** The number of the newest refusal that was kept. */
    get upTo() {
      return refused.upTo;
    },
  };
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
