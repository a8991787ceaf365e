import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { KeyQuery, KeyStore } from '../../src/records/keys/store.ts';
import type { Records } from '../../src/records/storage.ts';
import { MINUTE, window } from '../support/limits.ts';
import { allKeys, changed, keyRecord, note, type OpenRecords } from '../support/records.ts';
import { until } from '../support/until.ts';

/**
 * What `KeyStore` promises of finding, listing and watching, held against whatever implements it.
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

  test('adds many at once', async () => {
    const many = await addedMany(250, { imported: true });
    expect(await allKeys(other.keys)).toHaveLength(250);
    for (const record of [many[0]!, many[249]!]) {
      expect(await other.keys.find(record.hash)).toEqual(record);
      expect(await other.keys.get(record.id)).toEqual(record);
    }
    expect(await other.keys.hasImported()).toBe(true);
    await keys.addMany([], note());
    expect(await allKeys(other.keys)).toHaveLength(250);
  });

  test('lists the oldest first, whenever they were added, and those of one moment always alike', async () => {
    expect(await allKeys(keys)).toEqual([]);
    const late = await added({ createdAt: 3_000 });
    const early = [
      await added({ id: 'key_b' }),
      await added({ id: 'key_B' }),
      await added({ id: 'key_a' }),
    ];
    const middle = await added({ createdAt: 2_000 });
    const before = (await allKeys(keys)).map(({ id }) => id);
    expect(before.slice(0, 3).sort()).toEqual(early.map(({ id }) => id).sort());
    expect(before.slice(3)).toEqual([middle.id, late.id]);
    await keys.replace(changed(early[0]!, { label: 'changed' }), note());
    expect((await allKeys(other.keys)).map(({ id }) => id)).toEqual(before);
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

  describe('answers for', () => {
    const idsIn = async (pages: AsyncIterable<readonly KeyRecord[]>) =>
      (await Array.fromAsync(pages)).flat().map(({ id }) => id);
    let all: KeyRecord[];
    beforeEach(async () => {
      all = Array.from({ length: 1_300 }, (_, i) =>
        keyRecord({
          account: `a${String(i % 7).padStart(2, '0')}`,
          plan: i % 13 === 0 ? 'pro' : 'free',
          createdAt: 1_000 + (i >> 3),
          expiresAt: i % 2 === 0 ? null : 10_000 + i,
          revokedAt: i % 5 === 0 ? 2_000 : null,
        }),
      );
      for (const from of [0, 650]) await keys.addMany(all.slice(from, from + 650), note());
    });

    test('a plan: its keys, also after any key and of one account, and how many are not revoked', async () => {
      const listed = await allKeys(other.keys);
      const ofPro = listed.filter(({ plan }) => plan === 'pro');
      expect(await idsIn(other.keys.read({ plan: 'pro' }))).toEqual(ofPro.map(({ id }) => id));
      for (const at of [0, 5, 700, 1_299]) {
        const after = listed[at]!;
        const later = listed.slice(at + 1).filter(({ plan }) => plan === 'pro');
        expect(await idsIn(other.keys.read({ plan: 'pro', after }))).toEqual(
          later.map(({ id }) => id),
        );
        const earlier = listed
          .slice(0, at)
          .filter(({ plan, account }) => plan === 'free' && account === 'a03');
        const query = { plan: 'free', account: 'a03', after, newestFirst: true };
        expect(await idsIn(other.keys.read(query))).toEqual(earlier.map(({ id }) => id).reverse());
      }
      const inUse = (plan: string) =>
        all.filter((key) => key.plan === plan && key.revokedAt === null).length;
      expect(await other.keys.countKeys(['pro', 'none', 'free'])).toEqual(
        new Map([
          ['pro', inUse('pro')],
          ['none', 0],
          ['free', inUse('free')],
        ]),
      );
    });

    test('accounts: their names, and their keys', async () => {
      const names = ['a00', 'a01', 'a02', 'a03', 'a04', 'a05', 'a06'];
      expect(await other.keys.accounts('', 100)).toEqual(names);
      expect(await other.keys.accounts('a01', 3)).toEqual(names.slice(2, 5));
      expect(await other.keys.accounts('a0', 1)).toEqual(['a00']);
      expect(await other.keys.accounts('a06', 1)).toEqual([]);
      const found = await idsIn(other.keys.readAccounts(['a02', 'none', 'a05']));
      const expected = all
        .filter(({ account }) => account === 'a02' || account === 'a05')
        .map(({ id }) => id);
      expect(found.sort()).toEqual(expected.sort());
    });

    test('keys that expire in a time', async () => {
      const expected = all.filter(({ expiresAt, revokedAt }) => {
        return (
          revokedAt === null && expiresAt !== null && expiresAt > 10_101 && expiresAt <= 11_201
        );
      });
      expect((await idsIn(other.keys.readExpiring(10_101, 11_201))).sort()).toEqual(
        expected.map(({ id }) => id).sort(),
      );
      expect(await idsIn(other.keys.readExpiring(0, 10_000))).toEqual([]);
    });

    test('changed keys', async () => {
      const [one, two, three] = all.filter((key) => key.plan === 'pro' && key.revokedAt === null);
      const free = all.filter((key) => key.plan === 'free' && key.revokedAt === null).length;
      const pro = (await other.keys.countKeys(['pro'])).get('pro')!;
      await keys.replace(changed(one!, { plan: 'free', expiresAt: 99_000 }), note());
      await keys.replace(changed(two!, { revokedAt: 5_000 }), note());
      await keys.replace(
        changed(three!, { hash: 'another', plan: 'new', expiresAt: 99_001 }),
        note(),
      );
      expect(await other.keys.countKeys(['pro', 'free', 'new'])).toEqual(
        new Map([
          ['pro', pro - 3],
          ['free', free + 1],
          ['new', 1],
        ]),
      );
      expect(await idsIn(other.keys.read({ plan: 'new' }))).toEqual([three!.id]);
      expect(await idsIn(other.keys.read({ plan: 'pro' }))).not.toContain(one!.id);
      expect(await idsIn(other.keys.read({ plan: 'pro' }))).toContain(two!.id);
      expect((await idsIn(other.keys.readExpiring(98_000, 99_001))).sort()).toEqual(
        [one!.id, three!.id].sort(),
      );
    });
  });

  test('is empty until the first key', async () => {
    expect(await keys.isEmpty()).toBe(true);
    await added();
    expect(await keys.isEmpty()).toBe(false);
    expect(await other.keys.isEmpty()).toBe(false);
  });

  test('knows whether any key came from another system', async () => {
    await added();
    expect(await keys.hasImported()).toBe(false);
    await added({ imported: true });
    expect(await keys.hasImported()).toBe(true);
    expect(await other.keys.hasImported()).toBe(true);
  });

  describe('a rotated key', () => {
    const rotated = (record: KeyRecord, hash: string): KeyRecord =>
      changed(record, { hash, previous: { hash: record.hash, until: 9_000 } });

    test('is found by both hashes until the record forgets the older one', async () => {
      const record = await added();
      const next = rotated(record, `${record.hash}-2`);
      await keys.replace(next, note());
      for (const hash of [record.hash, next.hash])
        expect(await other.keys.find(hash)).toEqual(next);
      expect(await other.keys.get(record.id)).toEqual(next);
      const ended = changed(next, { previous: null });
      await keys.replace(ended, note());
      expect(await other.keys.find(record.hash)).toBeNull();
      expect(await other.keys.find(next.hash)).toEqual(ended);
    });

    test('shows a change under both', async () => {
      const record = await added();
      const next = rotated(record, `${record.hash}-2`);
      await keys.replace(next, note());
      const labelled = changed(next, { label: 'between two secrets' });
      await keys.replace(labelled, note());
      for (const hash of [record.hash, next.hash])
        expect(await other.keys.find(hash)).toEqual(labelled);
    });

    test('and rotated again, is not found by the oldest secret', async () => {
      const record = await added();
      const second = rotated(record, `${record.hash}-2`);
      const third = rotated(second, `${record.hash}-3`);
      await keys.replace(second, note());
      await keys.replace(third, note());
      expect(await other.keys.find(record.hash)).toBeNull();
      for (const hash of [second.hash, third.hash])
        expect(await other.keys.find(hash)).toEqual(third);
    });

    test('without an overlap is found by the new hash alone, and the old one is free', async () => {
      const record = await added();
      const next = changed(record, { hash: `${record.hash}-2` });
      await keys.replace(next, note());
      expect(await other.keys.find(record.hash)).toBeNull();
      expect(await other.keys.find(next.hash)).toEqual(next);
      const heir = await added({ hash: record.hash });
      expect(await other.keys.find(record.hash)).toEqual(heir);
    });
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
