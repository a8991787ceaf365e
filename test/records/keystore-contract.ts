import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { KeyQuery, KeyStore } from '../../src/records/keys/store.ts';
import type { Records } from '../../src/records/storage.ts';
import { MINUTE, window } from '../support/limits.ts';
import { allKeys, changed, keyRecord, note, type OpenRecords } from '../support/records.ts';
import { until } from '../support/until.ts';

/**
 * What `KeyStore` promises of finding, listing and watching, held against whatever implements it.
 * Questions about few keys: records-equal.test.ts.
 */
export function keepsThePromisesOfKeyStore(open: OpenRecords): void {
  let one: Records;
  let other: Records;
  let keys: KeyStore;
  beforeEach(async () => {
    ({ one, other } = await open());
    keys = one.keys;
  });

  async function added(changes: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const record = keyRecord(changes);
    await keys.add(record, note());
    return record;
  }

  async function addedMany(count: number, changes: Partial<KeyRecord> = {}): Promise<KeyRecord[]> {
    const records = Array.from({ length: count }, () => keyRecord(changes));
    await keys.addMany(records, note());
    return records;
  }

  test('finds a key by its hash and by its id, whole; an unknown one is null', async () => {
    const record = await added({
      label: 'für alle: “ä”',
      windows: [window(3, MINUTE), window(9, MINUTE, 'sliding')],
      addresses: ['10.0.0.0/8', '::1/128'],
      scopes: ['pets:write', 'store:admin'],
      metadata: { team: 'a', empty: '' },
      expiresAt: 5_000,
      disabledAt: 2_000,
      imported: true,
    });
    for (const { keys } of [one, other]) {
      expect(await keys.find(record.hash)).toEqual(record);
      expect(await keys.get(record.id)).toEqual(record);
      expect(await keys.find(record.id)).toBeNull();
      expect(await keys.get(record.hash)).toBeNull();
    }
  });

  test('finds many by their hashes, in the order asked for', async () => {
    const many = await addedMany(250);
    await keys.addMany([], note());
    const rotated = changed(many[0]!, {
      hash: 'second',
      previous: { hash: many[0]!.hash, until: 9_000 },
    });
    await keys.replace(rotated, note());
    const requested = [
      ...many.map(({ hash }) => hash),
      'unknown',
      'second',
      many[3]!.hash,
    ].reverse();
    const expected = [rotated, ...many.slice(1), null, rotated, many[3]!].reverse();
    expect(await other.keys.findMany(requested)).toEqual(expected);
    expect(await other.keys.findMany([])).toEqual([]);
  });

  describe('read in parts', () => {
    const ids = async (query?: KeyQuery) =>
      (await Array.fromAsync(other.keys.read(query))).flat().map(({ id }) => id);
    let all: KeyRecord[];
    beforeEach(async () => {
      // More than a part, and of one moment more than a part too.
      all = [1, 2, 3].flatMap((createdAt) =>
        Array.from({ length: createdAt === 2 ? 600 : 150 }, (_, i) =>
          keyRecord({ createdAt, account: `a${i % 3}` }),
        ),
      );
      for (const from of [450, 0]) await keys.addMany(all.slice(from, from + 450), note());
    });

    test('has each key once, in the order of the list or the other way round', async () => {
      const listed = (await allKeys(keys)).map(({ id }) => id);
      expect(new Set(listed).size).toBe(900);
      expect(await ids()).toEqual(listed);
      expect(await ids({ newestFirst: true })).toEqual(listed.toReversed());
    });

    test('continues after a key, and may have only those of an account', async () => {
      const listed = await allKeys(keys);
      for (const at of [0, 149, 150, 500, 749, 899]) {
        const after = listed[at]!;
        expect(await ids({ after })).toEqual(listed.slice(at + 1).map(({ id }) => id));
        const before = listed.slice(0, at).filter(({ account }) => account === 'a1');
        expect(await ids({ after, newestFirst: true, account: 'a1' })).toEqual(
          before.map(({ id }) => id).reverse(),
        );
      }
      expect(await ids({ account: 'a' })).toEqual([]);
    });
  });

  test('each key comes once, though others are added while they are read', async () => {
    const all = Array.from({ length: 1_200 }, (_, i) => keyRecord({ createdAt: 2_000 + i }));
    for (const from of [0, 600]) await keys.addMany(all.slice(from, from + 600), note());
    const read: string[] = [];
    for await (const page of other.keys.read()) {
      read.push(...page.map(({ id }) => id));
      if (read.length <= 600) await addedMany(501);
    }
    expect(read).toEqual(all.map(({ id }) => id));
  });

  test('more keys than a part that expire in a time, each once', async () => {
    const all = Array.from({ length: 1_300 }, (_, i) =>
      keyRecord({ expiresAt: i % 2 === 0 ? null : 10_000 + (i >> 2) }),
    );
    for (const from of [0, 650]) await keys.addMany(all.slice(from, from + 650), note());
    const found = (await Array.fromAsync(other.keys.readExpiring(10_005, 11_000))).flat();
    const expected = all.filter(({ expiresAt }) => expiresAt !== null && expiresAt > 10_005);
    expect(found.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
  });

  describe('notifies watchers', () => {
    let notified: number;
    let stop: () => void;
    beforeEach(() => {
      notified = 0;
      stop = other.keys.watch(() => void notified++);
    });
    afterEach(() => stop());

    async function received(change: () => unknown): Promise<void> {
      notified = 0;
      await change();
      await until('a notification', () => notified > 0);
    }

    test('of a new key, a change, and a rotation', async () => {
      const record = keyRecord();
      await received(() => keys.add(record, note()));
      await received(() => keys.replace(changed(record, { label: 'new' }), note()));
      const rotated = changed(record, {
        version: 3,
        hash: `${record.hash}-2`,
        previous: { hash: record.hash, until: 9_000 },
      });
      await received(() => keys.replace(rotated, note()));
    });

    test('of many new keys, and of its own changes', async () => {
      await received(() => addedMany(3));
      await received(() => other.keys.add(keyRecord(), note()));
    });

    test('when it finds the change', async () => {
      const record = keyRecord();
      const found = new Promise<KeyRecord | null>((resolve) => {
        const stop = other.keys.watch(async () => {
          const found = await other.keys.find(record.hash);
          if (!found) return;
          stop();
          resolve(found);
        });
      });
      await keys.add(record, note());
      expect(await found).toEqual(record);
    });

    test('until it stops', async () => {
      stop();
      notified = 0;
      let received = 0;
      const stopToo = other.keys.watch(() => void received++);
      await added();
      await until('another watcher has heard', () => received > 0);
      expect(notified).toBe(0);
      stopToo();
    });
  });
}
