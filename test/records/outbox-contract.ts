import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Addition, Outbox, StoredEvent } from '../../src/records/outbox.ts';
import {
  type EndpointState,
  LEASE,
  MOST_OPEN,
  resume,
  settle,
  stateOf,
  takeNext,
} from '../../src/webhooks/cursors.ts';

const T = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RETRY_FOR = 3 * DAY;

const NEW: EndpointState = {
  waiting: 0,
  oldest: null,
  failingSince: null,
  failures: 0,
  error: null,
  deliveredAt: null,
  pausedUntil: 0,
  isGone: false,
  lost: 0,
};

/**
 * The promises of `Outbox`, and those that receivers get with it, held against whatever implements
 * it. `open`: an empty one, as two processes see it that share it.
 */
export function keepsThePromisesOfOutbox(
  open: () => Promise<{ readonly one: Outbox; readonly other: Outbox }>,
): void {
  let one: Outbox;
  let other: Outbox;
  beforeEach(async () => {
    ({ one, other } = await open());
  });

  const addition = (name: string, more: Partial<Addition> = {}): Addition => ({
    message: { id: `msg_${name}`, type: 'test', body: `{"name":"${name}"}` },
    endpoints: ['a'],
    once: { name, since: 0, until: T + DAY },
    most: 100,
    now: T,
    ...more,
  });
  const failure = (more: { isGone?: boolean; retryAfter?: number } = {}) => ({
    delivered: false as const,
    status: 500,
    error: 'HTTP 500',
    retryAfter: null,
    isGone: false,
    ...more,
  });
  const endpoint = (id: string, types?: readonly string[]) => ({
    id,
    wants: (type: string) => types?.includes(type) ?? true,
  });
  const accepted = (outbox: Outbox, id: string, event: StoredEvent, now: number) =>
    settle(outbox, id, event, { delivered: true, status: 200 }, now);
  const next = (now: number, from = one, to = endpoint('a')) => takeNext(from, to, RETRY_FOR, now);
  const take = async (now: number, from = one) => (await next(now, from)).event;
  const taken = async (now: number, from = one): Promise<StoredEvent> => (await take(now, from))!;
  async function stateAt(now: number, to = endpoint('a')): Promise<EndpointState> {
    const state = await stateOf(one, to, now);
    const names = Object.keys(NEW) as (keyof EndpointState)[];
    return Object.fromEntries(names.map((name) => [name, state[name]])) as never;
  }
  /** Takes the next event, which fails. */
  async function fail(now: number, more?: Parameters<typeof failure>[0]): Promise<string> {
    const event = await taken(now);
    await settle(one, 'a', event, failure(more), now);
    return event.id;
  }

  /** The ids of all that is due, in their order; all of it is accepted. */
  async function drained(now: number, to = endpoint('a')): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const { event, lost } = await next(now, one, to);
      if (event !== null) {
        ids.push(event.id);
        await accepted(one, to.id, event, now);
      } else if (lost === 0) {
        return ids;
      }
    }
  }

  describe('the log', () => {
    test('has each event as it is, in the order in which events came', async () => {
      for (const name of ['x', 'y', 'z']) expect(await one.add(addition(name))).toBe(true);
      expect(await other.read(0, 2)).toEqual(
        ['x', 'y'].map((name, i) => ({ ...addition(name).message, number: i + 1, at: T })),
      );
      expect((await other.read(2, 9)).map(({ number }) => number)).toEqual([3]);
      expect(await other.read(3, 9)).toEqual([]);
    });

    test('has an event once, however many gateways add it at once', async () => {
      expect(await one.newest()).toBe(0);
      const all = Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other));
      const added = await Promise.all(all.map(async (outbox) => await outbox.add(addition('x'))));
      expect(added.filter(Boolean)).toEqual([true]);
      expect(await other.add(addition('x', { now: T + DAY }))).toBe(false);
      expect(await one.newest()).toBe(1);
    });

    test('has it again when its name is forgotten, or was stored before the event began', async () => {
      await one.add(addition('x'));
      expect(await one.add(addition('x', { now: T + DAY + 1 }))).toBe(true);
      const later = { name: 'x', since: T + 2 * DAY, until: T + 9 * DAY };
      expect(await one.add(addition('x', { once: later, now: T + 3 * DAY }))).toBe(true);
      expect(await one.add(addition('x', { once: later, now: T + 4 * DAY }))).toBe(false);
    });

    test('lets an end make the next begin a new event', async () => {
      const down = addition('down');
      const once = { name: 'back', since: T, until: T + DAY, ends: 'down' };
      const back = addition('back', { once });
      expect(await one.add(down)).toBe(true);
      expect(await other.add(down)).toBe(false);
      expect(await one.add({ ...back, now: T + 10 })).toBe(true);
      expect(await other.add({ ...back, now: T + 20 })).toBe(false);
      expect(await other.add({ ...down, now: T + 30 })).toBe(true);
      expect(await one.add({ ...back, once: { ...once, since: T + 30 }, now: T + 40 })).toBe(true);
      expect(await drained(T + 50)).toEqual(['msg_down', 'msg_back', 'msg_down', 'msg_back']);
    });

    test('keeps the newest events, whose numbers stay, also when fewer are to be kept', async () => {
      for (let i = 1; i <= 7; i++) await one.add(addition(`${i}`, { most: 5 }));
      expect((await one.read(0, 9)).map(({ number }) => number)).toEqual([3, 4, 5, 6, 7]);
      await one.add(addition('8', { most: 2 }));
      expect((await one.read(0, 9)).map(({ number }) => number)).toEqual([7, 8]);
      expect(await one.count(0)).toEqual(new Map([['test', 2]]));
      expect(await one.newest()).toBe(8);
    });

    test('counts events by type', async () => {
      for (const type of ['ban', 'quota', 'ban', 'quota', 'quota'])
        await one.add(
          addition(`${await one.newest()}`, { message: { id: 'm', type, body: '{}' } }),
        );
      expect(await other.count(0)).toEqual(new Map(Object.entries({ ban: 2, quota: 3 })));
      expect(await other.count(3)).toEqual(new Map([['quota', 2]]));
      expect(await other.count(5)).toEqual(new Map());
    });

    test('keeps text of any script', async () => {
      const message = { id: 'msg_x', type: 'test', body: '{"é":"𝄞 – \\u0000"}' };
      await one.add(addition('x', { message }));
      expect(await one.read(0, 1)).toEqual([{ ...message, number: 1, at: T }]);
    });
  });

  describe('a receiver', () => {
    test('gets each event in the order in which events came, from its first one on', async () => {
      for (const name of ['x', 'y', 'z'])
        await one.add(addition(name, { endpoints: name === 'x' ? ['a'] : ['a', 'b'] }));
      expect(await drained(T)).toEqual(['msg_x', 'msg_y', 'msg_z']);
      expect(await drained(T, endpoint('b'))).toEqual(['msg_y', 'msg_z']);
      expect(await drained(T, endpoint('c'))).toEqual([]);
      expect(await stateAt(T, endpoint('b'))).toEqual({ ...NEW, deliveredAt: T });
      expect(await stateAt(T, endpoint('c'))).toEqual(NEW);
    });

    test('gets only the types that it wants, which alone wait for it', async () => {
      for (let i = 0; i < 250; i++) {
        const type = i === 200 ? 'ban' : 'quota';
        const message = { id: `msg_${i}`, type, body: '{}' };
        await one.add(addition(`${i}`, { message, most: 500, now: T + i }));
      }
      const bans = endpoint('a', ['ban']);
      expect(await stateAt(T + DAY, bans)).toMatchObject({ waiting: 1 });
      const { event } = await next(T + DAY, one, bans);
      expect(event).toMatchObject({ id: 'msg_200', at: T + 200 });
      expect(await stateAt(T + DAY, bans)).toMatchObject({ waiting: 1, oldest: T + 200 });
      await accepted(one, 'a', event!, T + DAY);
      expect(await drained(T + DAY, bans)).toEqual([]);
      expect(await one.count(249)).toEqual(new Map([['quota', 1]]));
      expect(await stateAt(T + DAY, bans)).toEqual({ ...NEW, deliveredAt: T + DAY });
    });

    test('loses the oldest events where too many wait, which are counted', async () => {
      for (let i = 0; i < 7; i++) await one.add(addition(`${i}`, { most: 5, now: T + i }));
      expect(await stateAt(T + 9)).toMatchObject({ waiting: 5, oldest: T + 2, lost: 2 });
      const { event, lost } = await next(T + 9);
      expect([event!.id, lost]).toEqual(['msg_2', 2]);
      await accepted(one, 'a', event!, T + 9);
      expect(await drained(T + 9)).toEqual(['msg_3', 'msg_4', 'msg_5', 'msg_6']);
      expect(await stateAt(T + 9)).toMatchObject({ waiting: 0, oldest: null, lost: 2 });
    });

    test('loses failed events too where too many wait', async () => {
      await one.add(addition('0'));
      await fail(T);
      for (let i = 1; i <= 7; i++) await one.add(addition(`${i}`, { most: 5, now: T + i }));
      expect(await stateAt(T + HOUR)).toMatchObject({ waiting: 5, oldest: T + 3, lost: 3 });
      expect(await drained(T + HOUR)).toEqual(['msg_3', 'msg_4', 'msg_5', 'msg_6', 'msg_7']);
      expect(await stateAt(T + HOUR)).toMatchObject({ waiting: 0, oldest: null, lost: 3 });
    });

    test('loses events that are too old, new and failed ones, which are counted once', async () => {
      await one.add(addition('x'));
      await fail(T);
      await one.add(addition('y'));
      await one.add(addition('z', { now: T + 1 }));
      const { event, lost } = await next(T + RETRY_FOR);
      expect([event!.id, lost]).toEqual(['msg_z', 1]);
      await accepted(one, 'a', event!, T + RETRY_FOR);
      expect(await next(T + RETRY_FOR)).toEqual({ event: null, failures: 0, lost: 1 });
      expect(await next(T + RETRY_FOR)).toEqual({ event: null, failures: 0, lost: 0 });
      expect(await stateAt(T + RETRY_FOR)).toMatchObject({ waiting: 0, lost: 2, failures: 0 });
    });
  });

  describe('taking', () => {
    test('gives an event to one of many takers, and the next event to nobody meanwhile', async () => {
      for (let i = 0; i < 5; i++) await one.add(addition(`${i}`));
      const takers = Array.from({ length: 12 }, (_, i) => (i % 2 ? one : other));
      const events = await Promise.all(takers.map((outbox) => take(T, outbox)));
      const ids = events.filter((event) => event !== null).map(({ id }) => id);
      expect(ids).toEqual(['msg_0']);
      expect((await stateAt(T)).waiting).toBe(5);
    });

    test('gives it to the next when its taker said nothing until its lease ended', async () => {
      await one.add(addition('x'));
      await taken(T);
      expect(await take(T + LEASE - 1, other)).toBeNull();
      expect(await taken(T + LEASE, other)).toMatchObject({ id: 'msg_x' });
      expect((await stateAt(T + LEASE)).waiting).toBe(1);
    });

    test('gives it to the next at once when its taker gives it back', async () => {
      await one.add(addition('x'));
      await settle(one, 'a', await taken(T), null, T);
      expect(await taken(T, other)).toMatchObject({ id: 'msg_x' });
    });

    test('forgets an event that is accepted, also where its taker was too slow', async () => {
      for (const name of ['x', 'y', 'z']) await one.add(addition(name));
      const slow = await taken(T);
      const now = T + LEASE;
      await accepted(other, 'a', await taken(now, other), now);
      const held = await taken(now, other);
      expect(held.id).toBe('msg_y');
      await accepted(one, 'a', slow, now);
      await settle(one, 'a', slow, failure(), now);
      await settle(one, 'a', slow, null, now);
      expect(await take(now)).toBeNull();
      expect(await stateAt(now)).toMatchObject({ waiting: 2, failures: 0 });
      await accepted(other, 'a', held, now);
      expect(await drained(now)).toEqual(['msg_z']);
      expect(await take(T + DAY)).toBeNull();
    });
  });

  describe('a receiver that fails', () => {
    test('is left alone for a while, and then gets what was never tried before what failed', async () => {
      for (const name of ['x', 'y']) await one.add(addition(name));
      expect(await fail(T)).toBe('msg_x');
      const { pausedUntil, ...state } = await stateAt(T);
      expect({ ...state, pausedUntil: 0 }).toEqual({
        ...NEW,
        waiting: 2,
        oldest: T,
        failingSince: T,
        failures: 1,
        error: 'HTTP 500',
      });
      expect(Math.abs(pausedUntil - T - 5 * SECOND)).toBeLessThanOrEqual(SECOND / 2);
      expect(await take(pausedUntil - 1, other)).toBeNull();
      expect(await next(pausedUntil, other)).toMatchObject({
        event: { id: 'msg_y' },
        failures: 1,
      });
      await settle(other, 'a', (await one.read(1, 1))[0]!, failure(), pausedUntil);
      const later = await stateAt(pausedUntil);
      expect(later).toMatchObject({ failingSince: T, failures: 2 });
      expect(later.pausedUntil - pausedUntil).toBeGreaterThanOrEqual(9 * SECOND);
      expect(await taken(later.pausedUntil)).toMatchObject({ id: 'msg_x' });
    });

    test('is left alone for as long as it asks', async () => {
      await one.add(addition('x'));
      await fail(T, { retryAfter: HOUR });
      expect((await stateAt(T)).pausedUntil).toBe(T + HOUR);
      expect(await take(T + HOUR - 1)).toBeNull();
      expect(await drained(T + HOUR)).toEqual(['msg_x']);
    });

    test('gets all that failed meanwhile at once when it is up again, in order', async () => {
      const names = ['0', '1', '2', '3', '4'];
      for (const name of names) await one.add(addition(name));
      let now = T;
      for (let i = 0; i < 12; i++) {
        await fail(now);
        now += HOUR;
      }
      await one.add(addition('last', { now }));
      expect(await drained(now)).toEqual(['msg_last', ...names.map((name) => `msg_${name}`)]);
      expect(await stateAt(now)).toEqual({ ...NEW, deliveredAt: now });
    });

    test('gets all at once that failed, also what it refused, when an operator says so', async () => {
      for (const name of ['x', 'y']) await one.add(addition(name));
      for (let i = 0; i < 3; i++) {
        await fail(T + i * HOUR);
        await accepted(one, 'a', await taken(T + i * HOUR + MINUTE), T + i * HOUR + MINUTE);
        await one.add(addition(`more ${i}`, { now: T + i * HOUR + MINUTE }));
      }
      const now = T + 2 * HOUR + 2 * MINUTE;
      expect(await drained(now)).toEqual(['msg_more 2']);
      await resume(other, 'a', now);
      expect(await drained(now)).toEqual(['msg_x']);
    });

    test('and wants nothing any more gets nothing until an operator says so', async () => {
      await one.add(addition('x'));
      await fail(T, { isGone: true });
      await one.add(addition('y'));
      expect((await stateAt(T)).isGone).toBe(true);
      expect(await take(T + DAY)).toBeNull();
      await resume(other, 'a', T + DAY);
      expect(await drained(T + DAY)).toEqual(['msg_x', 'msg_y']);
    });

    test('does not hold up the others', async () => {
      await one.add(addition('x', { endpoints: ['a', 'b'] }));
      await fail(T);
      expect(await drained(T, endpoint('b'))).toEqual(['msg_x']);
      expect(await stateAt(T, endpoint('b'))).toEqual({ ...NEW, deliveredAt: T });
      expect(await stateAt(T)).toMatchObject({ waiting: 1, failures: 1 });
    });

    test('that an operator has tested before its first event begins with the next event', async () => {
      await one.add(addition('x'));
      await resume(one, 'b', T);
      expect(await stateAt(T, endpoint('b'))).toEqual({ ...NEW, deliveredAt: T });
      await one.add(addition('y', { endpoints: ['b'] }));
      expect(await drained(T, endpoint('b'))).toEqual(['msg_y']);
    });
  });

  describe('events that a receiver always refuses', () => {
    const refuses = (id: string) => id.includes('bad');

    /** Offers what is due, and passes time while nothing is. */
    async function deliver(begin: number, end: number): Promise<[id: string, at: number][]> {
      const attempts: [string, number][] = [];
      for (let now = begin; now < end; ) {
        const event = await take(now);
        if (event === null) {
          now += SECOND;
        } else {
          attempts.push([event.id, now]);
          if (refuses(event.id)) await settle(one, 'a', event, failure(), now);
          else await accepted(one, 'a', event, now);
        }
      }
      return attempts;
    }

    test('delay the others by seconds each, and are retried by their own schedule', async () => {
      const names = ['bad 1', 'bad 2', 'bad 3', 'good 1', 'bad 4', 'good 2', 'good 3'];
      for (const name of names) await one.add(addition(name));
      const attempts = await deliver(T, T + 3 * MINUTE);
      const good = attempts.filter(([id]) => !refuses(id));
      expect(good.map(([id]) => id)).toEqual(['msg_good 1', 'msg_good 2', 'msg_good 3']);
      expect(good.at(-1)![1] - T).toBeLessThan(2 * MINUTE);
      await one.add(addition('good 4', { now: T + 3 * MINUTE }));
      const later = await deliver(T + 3 * MINUTE, T + 10 * MINUTE);
      expect(later.some(([id]) => id === 'msg_good 4')).toBe(true);
      const first = [...attempts, ...later].filter(([id]) => id === 'msg_bad 1');
      expect(first.length).toBeLessThanOrEqual(5);
    });

    test('are lost, the oldest first, where very many were tried', async () => {
      for (let i = 0; i <= MOST_OPEN; i++) await one.add(addition(`${i}`, { most: 5_000 }));
      let lost = 0;
      for (let i = 0; i <= MOST_OPEN; i++) {
        const now = T + i * 6 * MINUTE;
        const found = await takeNext(one, endpoint('a'), 30 * DAY, now);
        expect(found.event!.id).toBe(`msg_${i}`);
        lost += found.lost;
        await settle(one, 'a', found.event!, failure(), now);
      }
      expect(lost).toBe(1);
      expect(await stateAt(T)).toMatchObject({ waiting: MOST_OPEN, lost: 1 });
    });
  });

  describe('after the clock was set back by an hour', () => {
    const BEFORE = T - HOUR;

    test('an event is due again when its lease ends', async () => {
      await one.add(addition('x'));
      await taken(T);
      expect(await take(BEFORE, other)).toBeNull();
      expect(await take(BEFORE + LEASE - 1, other)).toBeNull();
      expect(await taken(BEFORE + LEASE, other)).toMatchObject({ id: 'msg_x' });
    });

    test('events that wait are due at once, in their order', async () => {
      for (const name of ['x', 'y']) await one.add(addition(name));
      expect(await drained(BEFORE)).toEqual(['msg_x', 'msg_y']);
    });

    test('a failed event and the pause of its receiver end when they were to end', async () => {
      await one.add(addition('x'));
      await fail(T, { retryAfter: MINUTE });
      expect(await take(BEFORE)).toBeNull();
      expect((await stateAt(BEFORE)).pausedUntil).toBe(BEFORE + MINUTE);
      await one.add(addition('y', { now: BEFORE }));
      expect(await take(BEFORE + MINUTE - 1)).toBeNull();
      expect(await drained(BEFORE + MINUTE)).toEqual(['msg_y', 'msg_x']);
    });

    test('a name is remembered as long as it was to be', async () => {
      const once = { name: 'x', since: 0, until: T + 10 * MINUTE };
      await one.add(addition('x', { once }));
      const again = (now: number) =>
        addition('x', { once: { ...once, until: now + 10 * MINUTE }, now });
      expect(await one.add(again(BEFORE))).toBe(false);
      expect(await one.add(again(BEFORE + 10 * MINUTE))).toBe(false);
      expect(await one.add(again(BEFORE + 10 * MINUTE + 1))).toBe(true);
    });

    test('it is followed again from there', async () => {
      await one.add(addition('x'));
      await fail(T);
      expect(await take(BEFORE)).toBeNull();
      await accepted(one, 'a', await taken(BEFORE + MINUTE), BEFORE + MINUTE);
      await one.add(addition('y', { now: BEFORE + MINUTE }));
      await taken(BEFORE + MINUTE);
      expect(await take(BEFORE)).toBeNull();
      expect(await take(BEFORE + LEASE - 1)).toBeNull();
      expect(await drained(BEFORE + LEASE)).toEqual(['msg_y']);
    });
  });

  test('a mark is moved by one of those who want to move it from the same place', async () => {
    expect(await one.mark('audit')).toBeNull();
    const moves = await Promise.all(
      [one, other, one].map(async (outbox, i) => await outbox.move('audit', null, `${i + 1}`)),
    );
    expect(moves.filter(Boolean)).toHaveLength(1);
    const at = (await other.mark('audit'))!;
    expect(await one.move('audit', `${at}0`, '9')).toBe(false);
    expect(await other.move('audit', at, '9')).toBe(true);
    expect(await one.mark('audit')).toBe('9');
    expect(await one.mark('other')).toBeNull();
  });
}
