import { beforeEach, describe, expect, test } from '@jest/globals';
import { IdempotencyConflict } from '../../src/records/operators/audit-log.ts';
import type { TokenRecord, TokenStore } from '../../src/records/operators/tokens.ts';
import type { Records } from '../../src/records/storage.ts';
import { entries, note, type OpenRecords } from '../support/records.ts';

function token(name: string, changes: Partial<TokenRecord> = {}): TokenRecord {
  return { name, hash: `hash of ${name}`, role: 'read', createdAt: 1_000, ...changes };
}

/** The promises of `TokenStore`, held against whatever implements it. */
export function keepsThePromisesOfTokenStore(open: OpenRecords): void {
  let one: Records;
  let other: Records;
  let tokens: TokenStore;
  beforeEach(async () => {
    ({ one, other } = await open());
    tokens = one.tokens;
  });

  const actions = async () => (await entries(other)).map(({ action }) => action);

  test('lists all tokens as they were added, in the order of their names', async () => {
    expect(await tokens.list()).toEqual([]);
    const [b, a, c] = [token('b', { role: 'admin' }), token('a', { createdAt: 5_000 }), token('C')];
    for (const record of [b, a, c]) expect(await tokens.add(record, note())).toBe(true);
    for (const records of [one, other]) expect(await records.tokens.list()).toEqual([c, a, b]);
  });

  test('adds and removes together with the entry and the answer', async () => {
    await tokens.add(token('a'), note({ action: 'tokens.create' }, 'create'));
    expect(await actions()).toEqual(['tokens.create']);
    expect(await other.tokens.remove('a', note({ action: 'tokens.remove' }, 'remove'))).toBe(true);
    expect(await tokens.list()).toEqual([]);
    expect(await actions()).toEqual(['tokens.create', 'tokens.remove']);
    for (const name of ['create', 'remove'])
      expect(await other.auditLog.resultOf(name, 1_000)).not.toBeNull();
  });

  test('gives a name once, and again when its token is gone', async () => {
    const first = token('a');
    await tokens.add(first, note());
    const second = token('a', { hash: 'another', role: 'admin' });
    expect(await other.tokens.add(second, note({ action: 'refused' }, 'refused'))).toBe(false);
    expect(await tokens.list()).toEqual([first]);
    expect(await actions()).toEqual(['test']);
    expect(await other.auditLog.resultOf('refused', 1_000)).toBeNull();
    await tokens.remove('a', note());
    expect(await other.tokens.add(second, note())).toBe(true);
    expect(await tokens.list()).toEqual([second]);
  });

  test('removes nothing if the name does not exist', async () => {
    await tokens.add(token('a'), note());
    expect(await tokens.remove('b', note({ action: 'refused' }, 'refused'))).toBe(false);
    expect(await tokens.list()).toEqual([token('a')]);
    expect(await actions()).toEqual(['test']);
    expect(await other.auditLog.resultOf('refused', 1_000)).toBeNull();
  });

  test('changes nothing for a call that was answered before', async () => {
    await tokens.add(token('a'), note({}, 'call'));
    await expect((async () => tokens.add(token('b'), note({}, 'call')))()).rejects.toBeInstanceOf(
      IdempotencyConflict,
    );
    await expect((async () => tokens.remove('a', note({}, 'call')))()).rejects.toBeInstanceOf(
      IdempotencyConflict,
    );
    // The caller that made the change before gets its answer, not a complaint that it was made.
    await expect((async () => tokens.add(token('a'), note({}, 'call')))()).rejects.toBeInstanceOf(
      IdempotencyConflict,
    );
    expect(await other.tokens.list()).toEqual([token('a')]);
    expect(await actions()).toEqual(['test']);
  });

  describe('of concurrent calls by any gateway,', () => {
    const stores = () => [one.tokens, other.tokens, one.tokens, other.tokens];

    test('one adds a name, and one entry is kept', async () => {
      const responses = await Promise.all(
        stores().map(async (store, i) =>
          store.add(token('a', { hash: `${i}` }), note({ after: `${i}` })),
        ),
      );
      expect(responses.filter((response) => response)).toHaveLength(1);
      const winner = `${responses.indexOf(true)}`;
      expect((await other.tokens.list()).map(({ hash }) => hash)).toEqual([winner]);
      expect((await entries(other)).map(({ after }) => after)).toEqual([winner]);
    });

    test('one removes it, and one entry is kept', async () => {
      await tokens.add(token('a'), note());
      const responses = await Promise.all(
        stores().map(async (store) => store.remove('a', note({ action: 'remove' }))),
      );
      expect(responses.filter((response) => response)).toHaveLength(1);
      expect(await actions()).toEqual(['test', 'remove']);
    });
  });
}
