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

  /** A rotated key, and another one. */
  type There = readonly [KeyRecord, KeyRecord];
  type Attempt = (there: There, fresh: KeyRecord) => Promise<void>;

  const TAKEN = { name: 'KeyTaken' };
  const REFUSALS: [what: string, attempt: Attempt, error: object][] = [
    ...(
      [
        ['an id that is taken', ([{ id }]) => ({ id })],
        ['a hash that is taken', ([{ hash }]) => ({ hash })],
        ['the hash before a rotation', ([{ previous }]) => ({ hash: previous!.hash })],
      ] satisfies [string, (there: There) => Partial<KeyRecord>][]
    ).flatMap(([what, bad]): typeof REFUSALS => [
      [`a new key with ${what}`, (there) => add(keyRecord(bad(there)), 'refused'), TAKEN],
      [
        `many new keys, one of them with ${what}`,
        (there, fresh) => addMany([fresh, keyRecord(bad(there)), keyRecord()], 'refused'),
        TAKEN,
      ],
    ]),
    [
      'many new keys with one id',
      (_, fresh) => addMany([fresh, keyRecord({ id: fresh.id })], 'refused'),
      TAKEN,
    ],
    [
      'many new keys with one hash',
      (_, fresh) => addMany([fresh, keyRecord({ hash: fresh.hash })], 'refused'),
      TAKEN,
    ],
    [
      'a change of an unknown key',
      (_, fresh) => replace(changed(fresh, {}), 'refused'),
      { name: 'KeyConflict', message: expect.stringContaining('does not exist') },
    ],
    ...[1, 2, 4].map((version): (typeof REFUSALS)[number] => [
      `a change that has version ${version} in place of 3`,
      ([rotated]) => replace({ ...rotated, version, label: 'stale' }, 'refused'),
      { name: 'KeyConflict', message: expect.stringContaining('was changed meanwhile') },
    ]),
    [
      'a change to the hash of another key',
      ([rotated, { hash }]) => replace(changed(rotated, { hash }), 'refused'),
      TAKEN,
    ],
  ];

  describe('refuses, and changes nothing at all,', () => {
    test.each(REFUSALS)('%s', async (_what, attempt, error) => {
      const [first, late, fresh] = [await added(), await added({ createdAt: 2_000 }), keyRecord()];
      const previous = { hash: first.hash, until: 9_000 };
      const rotated = changed(first, { hash: `${first.hash}-2`, previous });
      await keys.replace(rotated, SETUP);
      await expect(attempt([rotated, late], fresh)).rejects.toMatchObject(error);
      expect(await allKeys(other.keys)).toEqual([rotated, late]);
      const hashes = [rotated.hash, first.hash, late.hash, fresh.hash];
      expect(await other.keys.findMany(hashes)).toEqual([rotated, rotated, late, null]);
      expect(await kept()).toEqual([]);
      expect(await other.auditLog.resultOf('refused', 1_000)).toBeNull();
      await keys.addMany([fresh], SETUP);
      await keys.replace(changed(rotated, { label: 'well' }), SETUP);
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
        expect(await other.auditLog.resultOf(name, 1_000)).toEqual(note({}, name).idempotent);
    });

    test('one entry and one answer for many new keys', async () => {
      await keys.addMany([keyRecord(), keyRecord()], note({ action: 'keys.import' }, 'import'));
      expect((await kept()).map(({ action }) => action)).toEqual(['keys.import']);
      expect(await other.auditLog.resultOf('import', 1_000)).toEqual(note({}, 'import').idempotent);
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
