import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Addition,
  DUE_BATCH,
  LEASE,
  NEW_ENDPOINT_STATE,
  type Outbox,
} from '../../src/records/outbox.ts';

const T = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;

/**
 * The promises of `Outbox`, held against whatever implements it. `open`: an empty one, as two
 * processes see it that share it.
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
  const failure = (now: number, wait: number, isGone = false) => ({
    now,
    again: now + wait,
    pausedUntil: now + wait / 2,
    error: 'HTTP 500',
    isGone,
  });
  const taken = async (now: number, from = one, endpoint = 'a') =>
    (await from.take(endpoint, now))!;
  const stateOf = async (endpoint = 'a') => (await one.states([endpoint]))[0]!;

  /** The ids of all that is due, in their order; all of it is done. */
  async function drained(now: number, endpoint = 'a'): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const job = await one.take(endpoint, now);
      if (job === null) return ids;
      ids.push(job.id);
      await one.done(job, now);
    }
  }

  describe('adding', () => {
    test('gives each receiver the event as it is, in the order in which events came', async () => {
      for (const name of ['x', 'y', 'z'])
        expect(await one.add(addition(name, { endpoints: ['a', 'b'] }))).toBe(0);
      const job = await taken(T);
      expect(job).toEqual({
        ...addition('x').message,
        endpoint: 'a',
        number: job.number,
        at: T,
        attempts: 1,
        failures: 0,
      });
      await one.done(job, T);
      expect(await drained(T)).toEqual(['msg_y', 'msg_z']);
      expect(await drained(T, 'b')).toEqual(['msg_x', 'msg_y', 'msg_z']);
      expect(await drained(T, 'c')).toEqual([]);
    });

    test('queues an event once, however many gateways add it at once', async () => {
      const all = Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other));
      const added = await Promise.all(all.map(async (outbox) => await outbox.add(addition('x'))));
      expect(added.filter((each) => each !== null)).toEqual([0]);
      expect(await drained(T)).toEqual(['msg_x']);
      expect(await other.add(addition('x', { now: T + DAY }))).toBeNull();
      expect(await drained(T + DAY)).toEqual([]);
    });

    test('queues it again when its name is forgotten, or was queued before the event began', async () => {
      await one.add(addition('x'));
      expect(await one.add(addition('x', { now: T + DAY + 1 }))).toBe(0);
      const later = { name: 'x', since: T + 2 * DAY, until: T + 9 * DAY };
      expect(await one.add(addition('x', { once: later, now: T + 3 * DAY }))).toBe(0);
      expect(await one.add(addition('x', { once: later, now: T + 4 * DAY }))).toBeNull();
    });

    test('lets an end make the next begin a new event', async () => {
      const down = addition('down');
      const back = addition('back', {
        once: { name: 'back', since: T, until: T + DAY, ends: 'down' },
      });
      expect(await one.add(down)).toBe(0);
      expect(await other.add(down)).toBeNull();
      expect(await one.add({ ...back, now: T + 10 })).toBe(0);
      expect(await other.add({ ...back, now: T + 20 })).toBeNull();
      expect(await other.add({ ...down, now: T + 30 })).toBe(0);
      expect(await one.add({ ...back, once: { ...back.once, since: T + 30 }, now: T + 40 })).toBe(
        0,
      );
      expect(await drained(T + 50)).toEqual(['msg_down', 'msg_back', 'msg_down', 'msg_back']);
    });

    test('keeps the newest where too many wait, says how many went, and counts them', async () => {
      for (let i = 0; i < 7; i++)
        expect(
          await one.add(addition(`${i}`, { endpoints: ['a', 'b'], most: 5, now: T + i })),
        ).toBe(i < 5 ? 0 : 2);
      expect(await stateOf()).toMatchObject({ waiting: 5, oldest: T + 2, lost: 2 });
      expect(await drained(T + 9, 'b')).toEqual(['msg_2', 'msg_3', 'msg_4', 'msg_5', 'msg_6']);
    });

    test('keeps text of any script', async () => {
      await one.add(
        addition('x', { message: { id: 'msg_x', type: 'test', body: '{"é":"𝄞 – \\u0000"}' } }),
      );
      expect((await taken(T)).body).toBe('{"é":"𝄞 – \\u0000"}');
    });
  });

  describe('taking', () => {
    test('gives a job to one of many takers', async () => {
      for (let i = 0; i < 5; i++) await one.add(addition(`${i}`));
      const takers = Array.from({ length: 12 }, (_, i) => (i % 2 ? one : other));
      const jobs = await Promise.all(takers.map(async (outbox) => await outbox.take('a', T)));
      const ids = jobs.filter((job) => job !== null).map(({ id }) => id);
      expect(ids.sort()).toEqual(['msg_0', 'msg_1', 'msg_2', 'msg_3', 'msg_4']);
    });

    test('gives it to the next when its taker said nothing for as long as it was its own', async () => {
      await one.add(addition('x'));
      await taken(T);
      expect(await other.take('a', T + LEASE - 1)).toBeNull();
      expect(await taken(T + LEASE, other)).toMatchObject({ id: 'msg_x', attempts: 2 });
      expect((await stateOf()).waiting).toBe(1);
    });

    test('forgets a job that is done, also where its taker was too slow', async () => {
      await one.add(addition('x'));
      const slow = await taken(T);
      const fast = await taken(T + LEASE, other);
      await other.done(fast, T + LEASE);
      await one.done(slow, T + LEASE + 1);
      await one.failed(slow, failure(T + LEASE + 2, 10));
      expect((await stateOf()).waiting).toBe(0);
      expect(await one.take('a', T + DAY)).toBeNull();
    });
  });

  describe('a receiver that fails', () => {
    test('is left alone for a while, and then gets what was never tried before what failed', async () => {
      for (const name of ['x', 'y']) await one.add(addition(name));
      await one.failed(await taken(T), failure(T, 1_000));
      expect(await stateOf()).toEqual({
        ...NEW_ENDPOINT_STATE,
        waiting: 2,
        oldest: T,
        failingSince: T,
        failures: 1,
        error: 'HTTP 500',
        pausedUntil: T + 500,
      });
      expect(await other.take('a', T + 499)).toBeNull();
      const next = await taken(T + 500, other);
      expect(next).toMatchObject({ id: 'msg_y', attempts: 1, failures: 1 });
      await other.failed(next, failure(T + 500, 2_000));
      expect(await stateOf()).toMatchObject({
        failingSince: T,
        failures: 2,
        pausedUntil: T + 1_500,
      });
      expect(await taken(T + 1_500)).toMatchObject({ id: 'msg_x', attempts: 2, failures: 2 });
    });

    test('gets all that waits at once when it is well again, but for what somebody sends just now', async () => {
      for (const name of ['x', 'y', 'z']) await one.add(addition(name));
      for (let i = 0; i < 2; i++)
        await one.failed(await taken(T + i), { ...failure(T + i, DAY), pausedUntil: T });
      const held = await taken(T + 5, other);
      expect(held.id).toBe('msg_z');
      await one.resume('a', T + 6);
      expect(await drained(T + 7)).toEqual(['msg_x', 'msg_y']);
      expect(await stateOf()).toEqual({
        ...NEW_ENDPOINT_STATE,
        waiting: 1,
        oldest: T,
        deliveredAt: T + 7,
      });
      await other.done(held, T + 8);
      expect((await stateOf()).waiting).toBe(0);
    });

    test('gets all of very many, though no step makes all of them due', async () => {
      const count = DUE_BATCH + 50;
      await Promise.all(
        Array.from({ length: count }, async (_, i) => one.add(addition(`${i}`, { most: 2_000 }))),
      );
      for (let i = 0; i < count; i++)
        await one.failed(await taken(T), { ...failure(T, DAY), pausedUntil: T });
      expect(await one.take('a', T)).toBeNull();
      await one.resume('a', T + 1);
      expect(await drained(T + 1)).toHaveLength(count);
    });

    test('and wants nothing any more gets nothing until it is well', async () => {
      await one.add(addition('x'));
      await one.failed(await taken(T), failure(T, 1_000, true));
      expect((await stateOf()).isGone).toBe(true);
      expect(await one.take('a', T + DAY)).toBeNull();
      await other.resume('a', T + DAY);
      expect(await drained(T + DAY)).toEqual(['msg_x']);
    });

    test('does not hold up the others', async () => {
      await one.add(addition('x', { endpoints: ['a', 'b'] }));
      await one.failed(await taken(T), failure(T, DAY));
      expect(await drained(T, 'b')).toEqual(['msg_x']);
      expect(await one.states(['b', 'a', 'c'])).toEqual([
        { ...NEW_ENDPOINT_STATE, deliveredAt: T },
        expect.objectContaining({ waiting: 1, failures: 1 }),
        NEW_ENDPOINT_STATE,
      ]);
    });

    test('loses what is given up, which is counted once', async () => {
      await one.add(addition('x'));
      const job = await taken(T);
      await one.giveUp(job, T);
      await one.giveUp(job, T);
      expect(await stateOf()).toMatchObject({ waiting: 0, lost: 1, failures: 0 });
    });
  });

  describe('after the clock was set back by an hour', () => {
    const BEFORE = T - 3_600_000;

    test('a job is due again when its lease ends', async () => {
      await one.add(addition('x'));
      await taken(T);
      expect(await other.take('a', BEFORE)).toBeNull();
      expect(await other.take('a', BEFORE + LEASE - 1)).toBeNull();
      expect(await taken(BEFORE + LEASE, other)).toMatchObject({ id: 'msg_x', attempts: 2 });
    });

    test('jobs that wait are due at once, in their order', async () => {
      for (const name of ['x', 'y']) await one.add(addition(name));
      expect(await drained(BEFORE)).toEqual(['msg_x', 'msg_y']);
    });

    test('a failed job and the pause of its receiver end when they were to end', async () => {
      await one.add(addition('x'));
      await one.failed(await taken(T), failure(T, 60_000));
      expect(await one.take('a', BEFORE)).toBeNull();
      expect((await stateOf()).pausedUntil).toBe(BEFORE + 30_000);
      await one.add(addition('y', { now: BEFORE }));
      expect(await one.take('a', BEFORE + 29_999)).toBeNull();
      expect(await drained(BEFORE + 30_000)).toEqual(['msg_y']);
      expect(await drained(BEFORE + 60_000)).toEqual(['msg_x']);
    });

    test('a name is remembered as long as it was to be', async () => {
      const once = { name: 'x', since: 0, until: T + 600_000 };
      await one.add(addition('x', { once }));
      const again = (now: number) =>
        addition('x', { once: { ...once, until: now + 600_000 }, now });
      expect(await one.add(again(BEFORE))).toBeNull();
      expect(await one.add(again(BEFORE + 600_000))).toBeNull();
      expect(await one.add(again(BEFORE + 600_001))).toBe(0);
    });

    test('it is followed again from there', async () => {
      await one.add(addition('x'));
      expect(await one.take('b', BEFORE)).toBeNull();
      await one.add(addition('y', { now: BEFORE }));
      await one.add(addition('z', { now: BEFORE + 60_000 }));
      await taken(BEFORE + 60_000);
      expect(await drained(BEFORE)).toEqual(['msg_y', 'msg_z']);
    });
  });

  test('a mark is moved by one of those who want to move it from the same place', async () => {
    expect(await one.mark('audit')).toBeNull();
    const moves = await Promise.all(
      [one, other, one].map(async (outbox, i) => await outbox.move('audit', null, i + 1)),
    );
    expect(moves.filter(Boolean)).toHaveLength(1);
    const at = (await other.mark('audit'))!;
    expect(await one.move('audit', at + 1, 9)).toBe(false);
    expect(await other.move('audit', at, 9)).toBe(true);
    expect(await one.mark('audit')).toBe(9);
    expect(await one.mark('other')).toBeNull();
  });
}
