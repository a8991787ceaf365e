import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  type AuditLog,
  type AuditNote,
  IdempotencyConflict,
  MANY_KEYS,
} from '../../src/records/operators/audit-log.ts';
import type { Records } from '../../src/records/storage.ts';
import { KEPT } from '../support/audit.ts';
import { draft, entries, note, type OpenRecords, outcomes } from '../support/records.ts';

/** The promises of `AuditLog`, held against whatever implements it. */
export function keepsThePromisesOfAuditLog(open: OpenRecords): void {
  let one: Records;
  let other: Records;
  let log: AuditLog;
  beforeEach(async () => {
    ({ one, other } = await open());
    log = one.auditLog;
  });

  const numbers = async (query: Omit<Parameters<AuditLog['list']>[0], 'limit'>, limit = 100) =>
    (await other.auditLog.list({ ...query, limit })).map(({ number }) => number);

  /** Appends entries in their order, without waiting for each. */
  const many = (count: number, noteOf: (number: number) => AuditNote) =>
    Promise.all(Array.from({ length: count }, async (_, i) => log.append(noteOf(i + 1))));

  test('gives every entry back as it was, newest first, numbered from 1', async () => {
    expect(await log.list({ limit: 10 })).toEqual([]);
    const drafts = [
      draft({
        at: 3,
        action: 'keys.create',
        target: 'key_1',
        before: null,
        after: { label: 'ä “x”', list: [1, null] },
      }),
      draft({
        at: 2,
        actor: 'ben',
        before: { deep: { er: true } },
        after: null,
        requestId: 'r2',
        reason: 'ä “why”',
      }),
      draft({ at: 1, before: 'text', after: 4 }),
    ];
    for (const entry of drafts) await log.append({ entry, idempotent: null });
    const expected = drafts.map((entry, i) => ({ ...entry, number: i + 1 })).reverse();
    for (const { auditLog } of [one, other])
      expect(await auditLog.list({ limit: 10 })).toEqual(expected);
  });

  test('finds entries by the whole name of their target, and imports by the ids of their keys', async () => {
    for (const target of ['key_1', 'key_11', 'acme', 'acme:other', 'me', 'ACME', 'a%e'])
      await log.append(note({ target }));
    for (const after of [{ count: 2, ids: ['key_2', 'key_22'] }, { ids: 'key_2' }, null])
      await log.append(note({ action: 'keys.import', target: MANY_KEYS, after }));
    const found = { key_1: [1], acme: [3], me: [5], 'a%e': [7], key_2: [8], key_22: [8] };
    const all = { ...found, keys: [10, 9, 8], key_: [], other: [], '': [] };
    for (const [target, expected] of Object.entries(all))
      expect([target, await numbers({ target })]).toEqual([target, expected]);
  });

  test('finds the few among very many', async () => {
    await many(1_300, (i) => note({ actor: i % 650 === 1 ? 'rare' : 'often' }));
    expect(await numbers({ actor: 'rare' })).toEqual([651, 1]);
    expect(await numbers({ actor: 'rare', below: 651 })).toEqual([1]);
    expect(await numbers({}, 1)).toEqual([1_300]);
    expect(await numbers({}, 2_000)).toHaveLength(1_300);
  });

  test('numbers without a gap or a double, however many write at once', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) =>
        (i % 2 ? one : other).auditLog.append(note({ target: `${i}` })),
      ),
    );
    const all = await entries(one);
    expect(all.map(({ number }) => number)).toEqual(all.map((_, i) => i + 1));
    expect(new Set(all.map(({ target }) => target)).size).toBe(60);
  });

  describe('that keeps 20 entries', () => {
    let two: Records;
    beforeEach(async () => {
      ({ one, other } = await open({ maxEntries: 20, bans: { ...KEPT.bans, maxEntries: 20 } }));
      two = other;
      log = one.auditLog;
      for (let i = 1; i <= 50; i++)
        await (i % 2 ? one : two).auditLog.append(note({ target: `${i}` }));
    });

    test('has the newest, with the numbers that they had', async () => {
      const all = await entries(two);
      expect(all.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, i) => 31 + i));
      for (const { number, target } of all) expect(target).toBe(`${number}`);
    });

    test('keeps the answer to a call whose entry is gone', async () => {
      await log.append(note({}, 'call'));
      for (let i = 0; i < 30; i++) await log.append(note());
      expect(await two.auditLog.resultOf('call', 1_000)).toEqual(note({}, 'call').idempotent);
    });
  });

  describe('the answer to a call', () => {
    test('stays the first one: a second is refused, and leaves no entry', async () => {
      const first = note({ target: 'first' }, 'call');
      await log.append(first);
      const second = {
        entry: draft(),
        idempotent: { name: 'call', question: 'other', sealed: 'other' },
      };
      await expect((async () => other.auditLog.append(second))()).rejects.toBeInstanceOf(
        IdempotencyConflict,
      );
      expect(await log.resultOf('call', 1_000)).toEqual(first.idempotent);
      expect(await other.auditLog.resultOf('other', 1_000)).toBeNull();
      expect((await entries(one)).map(({ number, target }) => [number, target])).toEqual([
        [1, 'first'],
      ]);
      await log.append(note({ target: 'next' }));
      expect((await entries(one)).map(({ number }) => number)).toEqual([1, 2]);
    });

    test('is one, where the call comes several times at once', async () => {
      const errors = await outcomes(
        [one, other, one, other].map(
          ({ auditLog }) =>
            () =>
              auditLog.append(note({}, 'call')),
        ),
      );
      expect(errors.filter((error) => error === null)).toHaveLength(1);
      for (const error of errors)
        if (error !== null) expect(error).toBeInstanceOf(IdempotencyConflict);
      expect(await entries(other)).toHaveLength(1);
    });

    test('that is forgotten lets the call be made again, and removes no entry', async () => {
      await log.append(note({}, 'call'));
      await other.auditLog.forget('call');
      expect(await log.resultOf('call', 1_000)).toBeNull();
      await log.append(note({}, 'call'));
      expect(await entries(one)).toHaveLength(2);
      await log.forget('never made');
    });
  });
}
