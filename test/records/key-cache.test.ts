import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Outage } from '../../src/common/errors/outage.ts';
import { KEY_CACHE_FILE, packKey, unpackKey } from '../../src/records/key-cache/file.ts';
import {
  createKeysInDoubt,
  type KeysInDoubt,
  keysWithCache,
  tokensWithCache,
} from '../../src/records/key-cache/key-cache.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { MemoryKeys, TestCopy } from '../support/key-cache.ts';
import { HOUR, MINUTE, TestClock, window } from '../support/limits.ts';
import { changed, keyRecord } from '../support/records.ts';
import { until } from '../support/until.ts';

let keys: MemoryKeys;
let copy: TestCopy;

beforeEach(() => {
  keys = new MemoryKeys();
  copy = new TestCopy();
});
afterEach(() => copy.close());

const found = (hash: string) => copy.reader.find(hash)?.record ?? null;

const secret = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const time = fc.option(fc.nat());
const anyRecord: fc.Arbitrary<KeyRecord> = fc.record({
  id: fc.string(),
  version: fc.nat(),
  hash: fc.oneof(secret, fc.string()),
  account: fc.string(),
  plan: fc.string(),
  label: fc.option(fc.string()),
  windows: fc.option(fc.constant([window(3, MINUTE, 'sliding')])),
  addresses: fc.option(fc.array(fc.string())),
  scopes: fc.array(fc.string()),
  metadata: fc.dictionary(
    fc.string().filter((name) => name !== '__proto__'),
    fc.string(),
    { noNullPrototype: true },
  ),
  createdAt: fc.nat(),
  expiresAt: time,
  disabledAt: time,
  revokedAt: time,
  rotatedAt: time,
  previous: fc.option(fc.record({ hash: secret, until: fc.nat() })),
  imported: fc.boolean(),
});

test('a packed record is the same once it is unpacked', () => {
  fc.assert(
    fc.property(anyRecord, (record) =>
      expect(unpackKey(record.hash, packKey(record))).toEqual(record),
    ),
  );
});

describe('doubts', () => {
  let time: TestClock;
  let doubts: KeysInDoubt;
  let corrected: number;

  beforeEach(() => {
    corrected = 0;
    time = new TestClock(0);
    doubts = createKeysInDoubt({ clock: () => time.now + corrected, monotonic: time.read });
  });

  test('hold for one key until it was read again, or everything was', () => {
    time.now = 10;
    doubts.note('a');
    expect(doubts.isTrue('a', 9)).toBe(false);
    expect(doubts.isTrue('a', 10)).toBe(true);
    expect(doubts.isTrue('b', 0)).toBe(true);
    time.now = 20;
    doubts.note('a');
    doubts.settle(15);
    expect(doubts.isTrue('a', 19)).toBe(false);
    doubts.settle(20);
    expect(doubts.isTrue('a', 0)).toBe(true);
  });

  test('are never forgotten, however many there are: others are doubted with them', () => {
    for (time.now = 1; time.now <= 60_000; time.now++) doubts.note(`${time.now}`);
    expect(doubts.isTrue('1', 5_000)).toBe(false);
    expect(doubts.isTrue('never heard of', 5_000)).toBe(false);
    expect(doubts.isTrue('never heard of', 10_000)).toBe(true);
    expect(doubts.isTrue('60000', 59_999)).toBe(false);
  });

  test('end with the next read after the clock was set back by an hour, and never by a read before', () => {
    corrected = HOUR;
    time.now = 10;
    doubts.note('a');
    time.pass(10);
    corrected = 0;
    expect(doubts.isTrue('a', HOUR + 5)).toBe(false);
    expect(doubts.isTrue('a', HOUR + 15)).toBe(false);
    expect(doubts.isTrue('a', 15)).toBe(true);
    doubts.settle(HOUR + 15);
    expect(doubts.isTrue('a', 5)).toBe(false);
    doubts.settle(15);
    expect(doubts.isTrue('a', 5)).toBe(true);
  });
});

describe('a copy that is kept', () => {
  test('has every key by each of its hashes after a sweep, and what the backend said of itself', async () => {
    const plain = keyRecord();
    const rotated = keyRecord({ previous: { hash: 'before', until: 9_000 } });
    keys.put(plain);
    keys.put(rotated);
    keys.imported = true;
    keys.operators.push({ name: 'anna', hash: 'h', role: 'admin', createdAt: 1 });
    copy.keep(keys);
    await until('it is swept', () => (copy.reader.freshness?.tokens.length ?? 0) > 0);
    expect(found(plain.hash)).toEqual(plain);
    expect(found(rotated.hash)).toEqual(rotated);
    expect(found('before')).toEqual(rotated);
    expect(found('unknown')).toBeNull();
    expect(copy.reader.freshness).toMatchObject({
      source: 'memory',
      imported: true,
      gateways: 3,
      tokens: keys.operators,
    });
    expect(copy.failures).toEqual([]);
  });

  test('shows all keys in the order of their age, of an account and behind one of them, however old it is', async () => {
    const records = [3, 1, 2, 1].map((createdAt, i) =>
      keyRecord({ id: `key_${i}`, createdAt, account: i === 0 ? 'other' : 'acme' }),
    );
    for (const record of records) keys.put(record);
    copy.keep(keys);
    await copy.untilSwept();
    const { fresh } = copy.reader.freshness!;
    const { asOf, read, get } = copy.open(keys, { maxAge: 0, clock: () => fresh + 1 }).asOf!;
    const ids = async (query: Parameters<typeof read>[0]) =>
      (await Array.fromAsync(read(query)))
        .flat()
        .map(({ id }) => records.findIndex((record) => record.id === id));
    expect(asOf).toBe(fresh);
    expect(await ids({})).toEqual([1, 3, 2, 0]);
    expect(await ids({ newestFirst: true, account: 'acme' })).toEqual([2, 3, 1]);
    expect(await ids({ after: records[3] })).toEqual([2, 0]);
    expect(await ids({ after: records[3], newestFirst: true })).toEqual([1]);
    expect(await get(records[2]!.id)).toEqual(records[2]);
    expect(await get('key_unknown')).toBeNull();
  });

  test('shows nothing before the first sweep is through', () => {
    keys.isDown = true;
    copy.keep(keys);
    expect(copy.open(keys).asOf).toBeNull();
  });

  test('removes a changed key at once, and has it again as it is now', async () => {
    const record = keyRecord();
    keys.put(record);
    copy.keep(keys);
    await copy.untilSwept();
    keys.isDown = true;
    const revoked = changed(record, { revokedAt: 5 });
    keys.put(revoked);
    await until('it is removed', () => found(record.hash) === null);
    keys.isDown = false;
    await until('it is there again', () => found(record.hash) !== null);
    expect(found(record.hash)).toEqual(revoked);
  });

  test('sweeps at once when messages may have been lost', async () => {
    const [one, gone] = [keyRecord(), keyRecord()];
    keys.put(one);
    keys.put(gone);
    copy.keep(keys);
    await copy.untilSwept();
    const revoked = changed(one, { revokedAt: 5 });
    keys.put(revoked, false);
    keys.delete(gone.id, false);
    keys.publish({ type: 'anything' });
    await copy.untilSwept();
    expect(found(one.hash)).toEqual(revoked);
    expect(found(gone.hash)).toBeNull();
  });

  test('does not take what a sweep read before a change that was heard meanwhile', async () => {
    const records = [keyRecord(), keyRecord(), keyRecord()];
    for (const record of records) keys.put(record);
    const revoked = changed(records[1]!, { revokedAt: 5 });
    let pages = 0;
    keys.onPage = async () => {
      // The page has been read already, and is answered after the change was taken in.
      if (++pages !== 2) return;
      keys.put(revoked);
      for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
    };
    copy.keep(keys);
    await until('it has the change', () => {
      const now = found(revoked.hash);
      expect([undefined, 5]).toContain(now?.revokedAt);
      return now !== null;
    });
  });

  test('begins a sweep again that lost messages while it was under way', async () => {
    const records = [keyRecord(), keyRecord(), keyRecord()];
    for (const record of records) keys.put(record);
    const revoked = changed(records[0]!, { revokedAt: 5 });
    let pages = 0;
    keys.onPage = () => {
      if (++pages !== 3) return;
      keys.put(revoked, false);
      keys.publish({ type: 'anything' });
    };
    copy.keep(keys);
    await copy.untilSwept();
    expect(found(revoked.hash)).toEqual(revoked);
    expect(keys.sweeps).toBe(2);
  });

  test('is kept by one process; the next one continues when that has ended', async () => {
    copy.keep(keys).close();
    const first = copy.keep(keys);
    await copy.untilSwept();
    const other = new MemoryKeys();
    const second = copy.keep(other);
    expect(other.sweeps).toBe(0);
    first.close();
    second.close();
    copy.keep(other);
    await until('the other one sweeps', () => other.sweeps === 1);
  });

  test('that is damaged, or is of another backend, is created again', async () => {
    const record = keyRecord();
    keys.put(record);
    copy.keep(keys).close();
    for (const damage of ['no database', '']) {
      writeFileSync(join(copy.folder, KEY_CACHE_FILE), damage);
      const keeper = copy.keep(keys);
      // A damaged file is reported, removed, and tried again after a while.
      keeper.close();
    }
    const keeper = copy.keep(keys);
    await until('it has the key', () => found(record.hash) !== null);
    keeper.close();
    const other = Object.assign(new MemoryKeys(), { name: 'other' });
    copy.keep(other);
    await until('it is the other one', () => copy.reader.freshness?.source === 'other');
    expect(found(record.hash)).toBeNull();
  });

  test('is as fresh as the update before began, or as a sweep that followed lost messages', async () => {
    const clock = new TestClock(1_000);
    const seen: number[] = [];
    const atSweeps: number[] = [];
    keys.put(keyRecord());
    keys.onPage = () => void atSweeps.push(copy.reader.freshness!.fresh);
    keys.onUpdate = () => {
      seen.push(copy.reader.freshness!.fresh);
      clock.pass(100);
      if (seen.length === 6) {
        clock.now = 5_000;
        keys.publish({ type: 'anything' });
      }
      // Not yet noticed by a message.
      if (seen.length === 9) keys.isLive = false;
    };
    copy.keep(keys, { clock: clock.read, freshnessInterval: 1 });
    await until('it was updated twelve times', () => seen.length >= 12);
    expect(seen.slice(0, 12)).toEqual([
      1_000, 1_000, 1_000, 1_100, 1_200, 1_300, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000,
    ]);
    expect(atSweeps).toEqual([0, 1_300]);
  });

  test('may be read by its owner only, also if it was there with other rights', async () => {
    copy.keep(keys).close();
    const file = join(copy.folder, KEY_CACHE_FILE);
    chmodSync(file, 0o644);
    copy.keep(keys);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file).includes('CREATE TABLE keys')).toBe(true);
  });
});

/** What may happen to keys. */
type Step =
  | {
      readonly what: 'put' | 'revoke' | 'rotate' | 'forget previous' | 'delete';
      readonly key: number;
      readonly isPublished: boolean;
    }
  | { readonly what: 'anything' | 'continue' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      what: fc.constantFrom('put', 'revoke', 'rotate', 'forget previous', 'delete'),
      key: fc.nat(3),
      isPublished: fc.boolean(),
    }),
    fc.record({ what: fc.constantFrom('anything', 'continue') }),
  ) as fc.Arbitrary<Step>,
  { maxLength: 30 },
);

async function take(step: Step, rotations: { count: number }): Promise<void> {
  if (step.what === 'anything') return keys.publish({ type: 'anything' });
  if (step.what === 'continue') return new Promise((resolve) => setImmediate(resolve));
  const { key, isPublished } = step as Extract<Step, { key: number }>;
  const before = keys.records.get(`key_${key}`);
  if (step.what === 'put') {
    const record =
      before ?? keyRecord({ id: `key_${key}`, hash: `first-${key}-${++rotations.count}` });
    return keys.put(changed(record, { label: `${rotations.count}` }), isPublished);
  }
  if (!before || before.revokedAt !== null) return;
  if (step.what === 'revoke')
    keys.put(changed(before, { revokedAt: 1, previous: null }), isPublished);
  if (step.what === 'forget previous') keys.put(changed(before, { previous: null }), isPublished);
  if (step.what === 'rotate') {
    const previous = { hash: before.hash, until: 9 };
    keys.put(changed(before, { hash: `next-${++rotations.count}`, previous }), isPublished);
  }
  if (step.what === 'delete') keys.delete(before.id, isPublished);
}

test('after whatever happened, a sweep makes the copy what the backend is; a key that was revoked never comes back', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      keys = new MemoryKeys();
      copy = new TestCopy();
      try {
        copy.keep(keys);
        const seen = copy.open(keys);
        const hashes = new Set<string>();
        const published = new Set<string>();
        const rotations = { count: 0 };
        for (const step of history) {
          await take(step, rotations);
          for (const { hash, revokedAt } of keys.records.values()) {
            hashes.add(hash);
            if (
              revokedAt !== null &&
              'isPublished' in step &&
              step.isPublished &&
              step.what === 'revoke' &&
              `key_${step.key}` === keys.find(hash)?.id
            )
              published.add(hash);
          }
          for (const hash of published)
            if (keys.find(hash)) expect(seen.find(hash)?.revokedAt ?? 1).toBe(1);
        }
        keys.publish({ type: 'anything' });
        await copy.untilSwept();
        await until('the changes are read', () =>
          [...hashes].every(
            (hash) => JSON.stringify(found(hash)) !== 'null' || keys.find(hash) === null,
          ),
        );
        for (const hash of hashes) expect(found(hash)).toEqual(keys.find(hash));
        expect(copy.failures).toEqual([]);
      } finally {
        copy.close();
      }
    }),
    { numRuns: 30 },
  );
});

describe('a copy that is looked into', () => {
  test('says why it cannot be used, and then nothing of any key', async () => {
    const record = keyRecord();
    keys.put(record);
    let now = Date.now();
    const seen = copy.open(keys, { maxAge: 7_200_000, clock: () => now });
    expect(seen.unusable).toBe(`${copy.folder} has no copy of its keys yet`);
    expect(seen.age).toBe(Number.POSITIVE_INFINITY);
    expect([seen.find(record.hash), seen.known]).toEqual([null, null]);
    copy.keep(keys);
    await copy.untilSwept();
    expect(seen.unusable).toBeNull();
    expect(seen.find(record.hash)).toEqual(record);
    expect(seen.known?.imported).toBe(false);
    for (const way of [1, -1]) {
      now = copy.reader.freshness!.fresh + way * 9_000_000;
      expect(seen.unusable).toBe(
        `the copy of its keys in ${copy.folder} is 2.5 h old, and redis.keyCache.maxAge is 2 h`,
      );
      expect(seen.find(record.hash)).toBeNull();
    }
    const other = copy.open(Object.assign(new MemoryKeys(), { name: 'other' }));
    expect(other.unusable).toBe(`the copy of keys in ${copy.folder} is of another Redis`);
    expect(other.find(record.hash)).toBeNull();
  });

  test('says nothing of a key that was changed until that was read, also where another process keeps it', async () => {
    const record = keyRecord();
    keys.put(record);
    const keeper = copy.keep(keys);
    await copy.untilSwept();
    keeper.close();
    const seen = copy.open(keys);
    expect(seen.find(record.hash)).toEqual(record);
    keys.put(changed(record, { revokedAt: 5 }));
    expect(found(record.hash)).toEqual(record);
    expect(seen.find(record.hash)).toBeNull();
    copy.keep(keys);
    await copy.untilSwept();
    expect(seen.find(record.hash)?.revokedAt).toBe(5);
  });
});

describe('keys with a copy', () => {
  const down = () => Promise.reject(new Outage('state_unavailable', { cause: 'down' }));
  const nothing = { find: () => null, known: null, doubt() {}, differs: () => false };
  const store = (
    find: (hash: string) => Promise<KeyRecord | null>,
    hasImported = () => find('').then(() => true),
  ) => ({ find, hasImported }) as unknown as Parameters<typeof keysWithCache>[0];

  test('are those of the store only; the copy is asked for apart', async () => {
    const [one, other] = [keyRecord(), keyRecord()];
    const fromCopy = {
      ...nothing,
      find: () => other,
      known: { imported: true, tokens: [], gateways: 1 },
    };
    expect(
      await keysWithCache(
        store(async () => one),
        { cache: fromCopy, refresh() {} },
      ).find('h'),
    ).toBe(one);
    expect(
      await keysWithCache(
        store(async () => null),
        { cache: fromCopy, refresh() {} },
      ).find('h'),
    ).toBeNull();
    const without = keysWithCache(store(down), { cache: fromCopy, refresh() {} });
    await expect(without.find('h')).rejects.toThrow(Outage);
    expect(without.findCopy!('h')).toBe(other);
    expect(await without.hasImported()).toBe(true);
  });

  test('are not waited for if the copy has them, or the caller knows them', async () => {
    const asked: (boolean | undefined)[] = [];
    const find = async (_hash: string, hasFallback?: boolean) => {
      asked.push(hasFallback);
      return null;
    };
    const has = keysWithCache(store(find), {
      cache: { ...nothing, find: () => keyRecord() },
      refresh() {},
    });
    const lacks = keysWithCache(store(find), { cache: nothing, refresh() {} });
    await has.find('h');
    await lacks.find('h', true);
    await lacks.find('h');
    expect(asked).toEqual([true, true, false]);
  });

  test('stay unknown where neither says anything, and a bug stays a bug', async () => {
    const without = keysWithCache(store(down), { cache: nothing, refresh() {} });
    await expect(without.find('h')).rejects.toThrow(Outage);
    await expect(without.hasImported()).rejects.toThrow(Outage);
    // The first import may be younger than the copy.
    const older = keysWithCache(store(down), {
      cache: { ...nothing, known: { imported: false, tokens: [], gateways: 1 } },
      refresh() {},
    });
    await expect(older.hasImported()).rejects.toThrow(Outage);
    const fromCopy = {
      ...nothing,
      find: () => keyRecord(),
      known: { imported: true, tokens: [], gateways: 1 },
    };
    const broken = keysWithCache(
      store(() => Promise.reject(new TypeError('bug'))),
      { cache: fromCopy, refresh() {} },
    );
    await expect(broken.find('h')).rejects.toThrow(TypeError);
    await expect(broken.hasImported()).rejects.toThrow(TypeError);
  });

  test.each([
    ['is not there', null],
    ['is revoked', keyRecord({ revokedAt: 1 })],
    ['is disabled', keyRecord({ disabledAt: 1 })],
    ['has an end', keyRecord({ expiresAt: 1 })],
    ['may come from some addresses only', keyRecord({ addresses: ['10.0.0.0/8'] })],
    ['was changed, and may have lost scopes', keyRecord({ version: 2 })],
  ])(
    'are corrected in the copy where a key %s and the copy has it otherwise',
    async (_, record) => {
      const wrong: string[] = [];
      const differing = {
        ...nothing,
        differs: () => true,
        doubt: (hash: string) => void wrong.push(`doubt ${hash}`),
      };
      const correct = (hash: string) => void wrong.push(hash);
      await keysWithCache(
        store(async () => record),
        { cache: differing, refresh: correct },
      ).find('h');
      expect(wrong).toEqual(['doubt h', 'h']);
      await keysWithCache(
        store(async () => record),
        { cache: { ...differing, differs: () => false }, refresh: correct },
      ).find('h');
      await keysWithCache(
        store(async () => keyRecord()),
        { cache: differing, refresh: correct },
      ).find('h');
      expect(wrong).toHaveLength(2);
    },
  );

  test('and so do tokens', async () => {
    const token = { name: 'anna', hash: 'h', role: 'read' as const, createdAt: 1 };
    const tokens = (list: () => Promise<never>) =>
      ({ list }) as unknown as Parameters<typeof tokensWithCache>[0];
    expect(
      await tokensWithCache(tokens(down), {
        known: { imported: false, tokens: [token], gateways: 1 },
      }).list(),
    ).toEqual([token]);
    await expect(tokensWithCache(tokens(down), { known: null }).list()).rejects.toThrow(Outage);
  });
});
