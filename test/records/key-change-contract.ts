import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { KeyConflict, type KeyStore, KeyTaken } from '../../src/records/keys/store.ts';
import { IdempotencyConflict } from '../../src/records/operators/audit-log.ts';
import type { Records } from '../../src/records/storage.ts';
import {
  allKeys,
  changed,
  entries,
  keyRecord,
  note,
  type OpenRecords,
  outcomes,
} from '../support/records.ts';

/** Of a change that is not what a test is about. */
const SETUP = note({ action: 'setup' });

/**
 * What `KeyStore` promises of changes and of what is kept with them, held against whatever
 * implements it.
 */
export function keepsThePromisesOfKeyChanges(open: OpenRecords): void {
  let one: Records;
  let other: Records;
  let keys: KeyStore;
  beforeEach(async () => {
    ({ one, other } = await open());
    keys = one.keys;
  });

  /** The entries, without those of changes that a test begins with. */
  const kept = async () =>
    (await entries(other)).filter(({ action }) => action !== SETUP.entry.action);

  async function added(changes: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const record = keyRecord(changes);
    await keys.add(record, SETUP);
    return record;
  }

  const add = (record: KeyRecord, name: string | null = null) =>
    (async () => keys.add(record, note({}, name)))();
  const addMany = (records: readonly KeyRecord[], name: string | null = null) =>
    (async () => keys.addMany(records, note({}, name)))();
  const replace = (record: KeyRecord, name: string | null = null) =>
    (async () => keys.replace(record, note({}, name)))();

  /** Nothing of a refused change is there: neither the change, nor its entry, nor its answer. */
  async function stillHas(records: readonly KeyRecord[]): Promise<void> {
    expect(await allKeys(other.keys)).toEqual(records);
    for (const record of records) expect(await other.keys.find(record.hash)).toEqual(record);
    expect(await kept()).toEqual([]);
    expect(await other.auditLog.answered('refused', 1_000)).toBeNull();
  }

  describe('refuses, and changes nothing at all,', () => {
    test('an id that is taken', async () => {
      const record = await added();
      await expect(add(keyRecord({ id: record.id }), 'refused')).rejects.toBeInstanceOf(KeyTaken);
      await stillHas([record]);
    });

    test('a hash that is taken; the id stays free', async () => {
      const record = await added();
      const late = keyRecord({ hash: record.hash, createdAt: 2_000 });
      await expect(add(late, 'refused')).rejects.toBeInstanceOf(KeyTaken);
      await stillHas([record]);
      expect(await other.keys.get(late.id)).toBeNull();
      await keys.add({ ...late, hash: `${record.hash}-free` }, SETUP);
      expect(await other.keys.get(late.id)).not.toBeNull();
    });

    test.each([
      ['an id that is taken', (there: KeyRecord) => keyRecord({ id: there.id })],
      ['a hash that is taken', (there: KeyRecord) => keyRecord({ hash: there.hash })],
      [
        'the hash of a secret before a rotation',
        (there: KeyRecord) => keyRecord({ hash: there.previous!.hash }),
      ],
      [
        'an id that is there twice',
        (_: KeyRecord, first: KeyRecord) => keyRecord({ id: first.id }),
      ],
      [
        'a hash that is there twice',
        (_: KeyRecord, first: KeyRecord) => keyRecord({ hash: first.hash }),
      ],
    ])('many new keys, one of them with %s', async (_name, bad) => {
      const record = await added();
      const next = changed(record, {
        hash: `${record.hash}-2`,
        previous: { hash: record.hash, until: 9_000 },
      });
      await keys.replace(next, SETUP);
      const many = [keyRecord(), keyRecord(), keyRecord()];
      const refused = [...many, bad(next, many[0]!), keyRecord()];
      await expect(addMany(refused, 'refused')).rejects.toBeInstanceOf(KeyTaken);
      await stillHas([next]);
      for (const { id, hash } of many) {
        expect(await other.keys.get(id)).toBeNull();
        expect(await other.keys.find(hash)).toBeNull();
      }
      await keys.addMany(many, SETUP);
      expect(await allKeys(other.keys)).toHaveLength(4);
    });

    test('the hash of a secret before a rotation', async () => {
      const record = await added();
      const next = changed(record, {
        hash: `${record.hash}-2`,
        previous: { hash: record.hash, until: 9_000 },
      });
      await keys.replace(next, SETUP);
      await expect(add(keyRecord({ hash: record.hash }), 'refused')).rejects.toBeInstanceOf(
        KeyTaken,
      );
      await stillHas([next]);
      expect(await other.keys.find(record.hash)).toEqual(next);
    });

    test('a change of a key that is not there', async () => {
      const record = await added();
      await expect(replace(changed(keyRecord(), {}), 'refused')).rejects.toThrow('does not exist');
      await stillHas([record]);
    });

    test('a change that was made from another version than the stored one', async () => {
      const record = await added();
      for (const version of [1, 3])
        await expect(
          replace({ ...record, version, label: 'stale' }, 'refused'),
        ).rejects.toBeInstanceOf(KeyConflict);
      await stillHas([record]);
      await keys.replace({ ...record, version: 2 }, SETUP);
    });

    test('a change to the hash of another key', async () => {
      const [record, late] = [await added(), await added({ createdAt: 2_000 })];
      await expect(replace(changed(record, { hash: late.hash }), 'refused')).rejects.toBeInstanceOf(
        KeyTaken,
      );
      await stillHas([record, late]);
      await keys.replace(changed(record, { label: 'well' }), SETUP);
    });

    test('a call that was answered before', async () => {
      const record = await added();
      await one.auditLog.append(note({ target: 'first' }, 'call'));
      await expect(add(keyRecord(), 'call')).rejects.toBeInstanceOf(IdempotencyConflict);
      await expect(replace(changed(record, { label: 'twice' }), 'call')).rejects.toBeInstanceOf(
        IdempotencyConflict,
      );
      // The caller that made the change before gets its answer, not a complaint that it was made.
      await expect(add(keyRecord({ hash: record.hash }), 'call')).rejects.toBeInstanceOf(
        IdempotencyConflict,
      );
      await expect(addMany([keyRecord({ hash: record.hash })], 'call')).rejects.toBeInstanceOf(
        IdempotencyConflict,
      );
      await expect(replace(record, 'call')).rejects.toBeInstanceOf(IdempotencyConflict);
      expect(await allKeys(other.keys)).toEqual([record]);
      expect((await kept()).map(({ target }) => target)).toEqual(['first']);
    });
  });

  describe('keeps with a change', () => {
    test('its entry and its answer', async () => {
      const record = keyRecord();
      await keys.add(record, note({ action: 'keys.create' }, 'create'));
      await keys.replace(
        changed(record, { label: 'new' }),
        note({ action: 'keys.update' }, 'update'),
      );
      expect((await kept()).map(({ action }) => action)).toEqual(['keys.create', 'keys.update']);
      for (const name of ['create', 'update'])
        expect(await other.auditLog.answered(name, 1_000)).toEqual(note({}, name).idempotent);
    });

    test('one entry and one answer for many new keys', async () => {
      await keys.addMany([keyRecord(), keyRecord()], note({ action: 'keys.import' }, 'import'));
      expect((await kept()).map(({ action }) => action)).toEqual(['keys.import']);
      expect(await other.auditLog.answered('import', 1_000)).toEqual(note({}, 'import').idempotent);
    });
  });

  describe('of concurrent changes by any gateway,', () => {
    const stores = () => [one.keys, other.keys, one.keys, other.keys];

    test('one is made, and one entry is kept', async () => {
      const record = await added();
      const errors = await outcomes(
        stores().map(
          (store, i) => () =>
            store.replace(changed(record, { label: `${i}` }), note({ after: `${i}` })),
        ),
      );
      expect(errors.filter((error) => error === null)).toHaveLength(1);
      for (const error of errors) if (error !== null) expect(error).toBeInstanceOf(KeyConflict);
      const winner = `${errors.indexOf(null)}`;
      expect((await other.keys.get(record.id))?.label).toBe(winner);
      expect((await kept()).map(({ after }) => after)).toEqual([winner]);
    });

    test('many that share some of their hashes are added whole, by one of those who do', async () => {
      const hashes = ['a', 'b', 'c', 'd', 'e'];
      const batches = stores().map((_, i) =>
        [...hashes.slice(i), ...hashes.slice(0, i)].slice(0, 4).map((hash) => keyRecord({ hash })),
      );
      const errors = await outcomes(
        stores().map((store, i) => () => store.addMany(batches[i]!, note({ after: i }))),
      );
      expect(errors.filter((error) => error === null)).toHaveLength(1);
      for (const error of errors) if (error !== null) expect(error).toBeInstanceOf(KeyTaken);
      const winner = errors.indexOf(null);
      const ids = (await allKeys(other.keys)).map(({ id }) => id);
      expect(ids.sort()).toEqual(batches[winner]!.map(({ id }) => id).sort());
      expect((await kept()).map(({ after }) => after)).toEqual([winner]);
    });

    test('one key gets a hash, and one entry is kept', async () => {
      const errors = await outcomes(
        stores().map(
          (store) => () => store.add(keyRecord({ hash: 'wanted', imported: true }), note()),
        ),
      );
      expect(errors.filter((error) => error === null)).toHaveLength(1);
      for (const error of errors) if (error !== null) expect(error).toBeInstanceOf(KeyTaken);
      expect(await allKeys(other.keys)).toEqual([await other.keys.find('wanted')]);
      expect(await kept()).toHaveLength(1);
    });
  });
}
