import { setImmediate } from 'node:timers/promises';
import type { MaybePromise } from '../common/maybe-promise.ts';
import {
  beginAfter,
  type Outbox,
  type StoredEvent,
} from '../records/outbox.ts';
import { pauseAfter, waitAfter } from './backoff.ts';
import type { Endpoint } from './endpoints.ts';
import type { DeliveryResult } from './send.ts';

/** Milliseconds. Much longer than an attempt. */
export const LEASE = 120_000;
/** Failed events of an endpoint that wait for another attempt. */
export const MOST_OPEN = 1_000;
const PAGE_SIZE = 20;

type Receiver = Pick<Endpoint, 'id' | 'wants'>;

/** Times are Unix milliseconds. */
interface Condition {
  failingSince: number | null;
  /** Failed attempts since the last success. */
  failures: number;
  error: string | null;
  deliveredAt: number | null;
  pausedUntil: number;
  isGone: boolean;
  lost: number;
}

/** The mark of an endpoint in the log of events. */
interface Cursor extends Condition {
  /** Time of the last change. */
  at: number;
  /** Events up to this number are delivered, unwanted, lost or open. */
  position: number;
  /** By number. */
  open: Attempt[];
  /** Until then, one process alone delivers. */
  leasedUntil: number;
}

/** An event that was tried, and is not accepted yet. */
interface Attempt {
  readonly number: number;
  count: number;
  /** Time of the next attempt. */
  due: number;
  /** It failed while the endpoint accepted other events, so a success does not make it due. */
  isRefused: boolean;
}

export interface EndpointState extends Readonly<Condition> {
  readonly waiting: number;
  readonly oldest: number | null;
}

const UP = {
  failingSince: null,
  failures: 0,
  error: null,
  pausedUntil: 0,
  isGone: false,
};
const NEW = {
  ...UP,
  deliveredAt: null,
  lost: 0,
  at: 0,
  position: 0,
  leasedUntil: 0,
};

/**
 * Leases the endpoint for its next event, if one is to be sent now. While the endpoint fails, this
 * is a new event, which shows best whether the endpoint refuses some events or all. `lost`: events
 * that were lost instead; if there are any, a further call may find an event.
 */
export async function takeNext(
  outbox: Outbox,
  { id, wants }: Receiver,
  retryFor: number,
  local: number,
) {
  const taken = await change(outbox, id, local, async (cursor, now) => {
    const { isGone, pausedUntil, leasedUntil, failures, lost } = cursor;
    if (isGone || Math.max(pausedUntil, leasedUntil) > now) return null;
    const since = now - retryFor;
    const dueNow = () => cursor.open.filter(({ due }) => due <= now);
    if (failures > 0 || dueNow().length === 0)
      await openNext(outbox, cursor, wants, since);
    for (const attempt of dueNow().sort((a, b) => a.due - b.due)) {
      const [event] = await outbox.read(attempt.number - 1, 1);
      if (event?.number === attempt.number && event.at > since) {
        attempt.count++;
        attempt.due = now + LEASE;
        cursor.leasedUntil = attempt.due;
        return { event, failures, lost: cursor.lost - lost };
      }
      close(cursor, attempt);
      cursor.lost++;
    }
    return { event: null, failures, lost: cursor.lost - lost };
  });
  return taken ?? { event: null, failures: 0, lost: 0 };
}

async function openNext(
  outbox: Outbox,
  cursor: Cursor,
  wants: Receiver['wants'],
  since: number,
): Promise<void> {
  for (;;) {
    const events = await outbox.read(cursor.position, PAGE_SIZE);
    for (const { number, type, at } of events) {
      // The log has dropped the events in between.
      cursor.lost += number - 1 - cursor.position;
      cursor.position = number;
      if (wants(type) && at > since) {
        cursor.open.push({ number, count: 0, due: 0, isRefused: false });
        const over = cursor.open.splice(0, cursor.open.length - MOST_OPEN);
        cursor.lost += over.length;
        return;
      }
      cursor.lost += Number(wants(type));
    }
    if (events.length < PAGE_SIZE) return;
    await setImmediate();
  }
}

/** `null`: there is no result. */
export async function settle(
  outbox: Outbox,
  endpoint: string,
  { number }: StoredEvent,
  result: DeliveryResult | null,
  local: number,
): Promise<void> {
  await change(outbox, endpoint, local, (cursor, now) => {
    const attempt = cursor.open.find((one) => one.number === number);
    // Another process has settled it after the lease.
    if (!attempt) return;
    cursor.leasedUntil = 0;
    attempt.due = 0;
    if (result === null) return;
    if (result.delivered) {
      close(cursor, attempt);
      markUp(cursor, now);
      return;
    }
    const { error, isGone, retryAfter } = result;
    const wait = waitAfter(attempt.count, retryAfter, Math.random());
    attempt.due = now + wait;
    attempt.isRefused = cursor.failures === 0;
    cursor.failures++;
    const pause = pauseAfter(cursor.failures, retryAfter, Math.random());
    const failingSince = cursor.failingSince ?? now;
    const pausedUntil = now + pause;
    Object.assign(cursor, { error, isGone, failingSince, pausedUntil });
  });
}

/** An operator has seen that the endpoint is up: all its events become due. */
export async function resume(
  outbox: Outbox,
  endpoint: string,
  local: number,
): Promise<void> {
  await outbox.move(endpoint, null, beginAfter(await outbox.newest()));
  await change(outbox, endpoint, local, (cursor, now) => {
    for (const attempt of cursor.open) attempt.isRefused = false;
    markUp(cursor, now);
  });
}

function markUp(cursor: Cursor, now: number): void {
  Object.assign(cursor, UP, { deliveredAt: now });
  for (const attempt of cursor.open) if (!attempt.isRefused) attempt.due = 0;
}

function close(cursor: Cursor, attempt: Attempt): void {
  cursor.open = cursor.open.filter((one) => one !== attempt);
}

export async function stateOf(
  outbox: Outbox,
  { id, wants }: Receiver,
  local: number,
): Promise<EndpointState> {
  const [now, mark] = await Promise.all([outbox.time(local), outbox.mark(id)]);
  if (mark === null) return { ...NEW, waiting: 0, oldest: null };
  const cursor = cursorOf(mark, now);
  const { position, open } = cursor;
  const [counts, [first]] = await Promise.all([
    outbox.count(position),
    outbox.read((open[0]?.number ?? position + 1) - 1, 1),
  ]);
  // The log may have dropped events since the last attempt.
  const kept = open.filter((one) => first && one.number >= first.number);
  const unread = Math.max(0, (first?.number ?? 0) - 1 - position);
  const lost = cursor.lost + open.length - kept.length + unread;
  let waiting = kept.length;
  for (const [type, count] of counts) if (wants(type)) waiting += count;
  const oldest = waiting > 0 && first ? first.at : null;
  return { ...cursor, waiting, oldest, lost };
}

/**
 * Compare and set until no other process comes in between. Does nothing for an endpoint that had
 * no event yet.
 */
async function change<T>(
  outbox: Outbox,
  endpoint: string,
  local: number,
  work: (cursor: Cursor, now: number) => MaybePromise<T>,
): Promise<T | null> {
  for (;;) {
    const [now, mark] = await Promise.all([
      outbox.time(local),
      outbox.mark(endpoint),
    ]);
    if (mark === null) return null;
    const cursor = cursorOf(mark, now);
    const result = await work(cursor, now);
    if (JSON.stringify(cursor) === mark) return result;
    const text = JSON.stringify({ ...cursor, at: now });
    if (await outbox.move(endpoint, mark, text)) return result;
  }
}

function cursorOf(mark: string, now: number): Cursor {
  const cursor = { ...NEW, open: [], ...JSON.parse(mark) } as Cursor;
  // After the clock was set back, everything waits as long as it was to wait.
  const back = Math.max(0, cursor.at - now);
  cursor.leasedUntil -= back;
  cursor.pausedUntil -= back;
  for (const one of cursor.open) one.due -= back;
  return cursor;
}
