import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { KeyStore } from '../../src/records/keys/store.ts';
import { forgetIndex, isIndexWhole, scoresOf } from '../../src/records/redis/key-index.ts';
import {
  isRepairDue,
  maintainKeyIndex,
  repairKeyIndex,
} from '../../src/records/redis/key-index-repair.ts';
import { recordsInRedis } from '../../src/records/redis/records.ts';
import { type Connection, connect, disconnect } from '../../src/state/redis/client.ts';
import { markData } from '../../src/state/redis/data-checks.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { shardsOf } from '../../src/state/redis/shards.ts';
import { createCircuitBreakers } from '../../src/state/shared/circuit-breakers.ts';
import { KEPT } from '../support/audit.ts';
import { allKeys, changed, keyRecord, note } from '../support/records.ts';
import { openShared } from '../support/redis/gateway.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { type ClusterSet, startCluster } from '../support/redis/topologies.ts';
import { until } from '../support/until.ts';

const onwards = async () => {};

function keysIn(redis: Connection): KeyStore {
  const breakers = createCircuitBreakers(shardsOf(redis), DEFAULTS, () => {});
  return recordsInRedis(redis, {
    bus: { listen: () => () => {}, isLive: false },
    breakers,
    audit: KEPT,
    deadline: 60_000,
    isFit: () => true,
    lookUp: async () => null,
  }).keys;
}

/** Ids by list, of all lists of these names. */
async function listsIn(
  redis: Connection,
  names: readonly string[],
): Promise<Map<string, string[]>> {
  const lists = await Promise.all(
    names.map(async (name) => [name, (await redis.zrange(name, '0', '-1')).sort()] as const),
  );
  return new Map(lists.filter(([, ids]) => ids.length > 0));
}

function listsOf(records: readonly KeyRecord[]): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const record of records)
    for (const list of scoresOf(record).keys())
      lists.set(list, [...(lists.get(list) ?? []), record.id].sort());
  return lists;
}

const idsOf = async (pages: AsyncIterable<readonly KeyRecord[]>) =>
  (await Array.fromAsync(pages)).flat().map(({ id }) => id);

describe('in one Redis', () => {
  const own = redisForSuite();
  beforeEach(() => own.server.admin.flushall());

  /** As a version without lists leaves them. */
  async function addUnlisted(count: number): Promise<KeyRecord[]> {
    const records = Array.from({ length: count }, (_, i) =>
      keyRecord({
        account: `a${i % 3}`,
        plan: i % 4 === 0 ? 'pro' : 'free',
        createdAt: 1_000 + (i >> 2),
      }),
    );
    for (let at = 0; at < count; at += 1_000)
      await keysIn(own.redis).addMany(records.slice(at, at + 1_000), note());
    await own.redis.del(...listsOf(records).keys(), keyOf.accounts, keyOf.plans);
    return records;
  }

  async function commandsOf(work: () => Promise<unknown>): Promise<number> {
    const total = async () =>
      Number(/total_commands_processed:(\d+)/.exec(await own.server.admin.info('stats'))?.[1]);
    const before = await total();
    await work();
    // The second look is one of them.
    return (await total()) - before - 1;
  }

  test('keys without lists are read as a whole until the lists are built', async () => {
    const records = await addUnlisted(900);
    const keys = keysIn(own.redis);
    const ofAccount = records.filter(({ account }) => account === 'a1').map(({ id }) => id);
    const look = async () => ({
      account: (await idsOf(keys.read({ account: 'a1' }))).sort(),
      accounts: await keys.accounts('', 10),
      counts: await keys.countKeys(['free', 'pro']),
    });
    const expected = {
      account: ofAccount.sort(),
      accounts: ['a0', 'a1', 'a2'],
      counts: new Map([
        ['free', 675],
        ['pro', 225],
      ]),
    };
    expect(await look()).toEqual(expected);
    await repairKeyIndex(own.redis, onwards);
    expect(await isIndexWhole(own.redis)).toBe(true);
    expect(await look()).toEqual(expected);
    await forgetIndex(own.redis);
    expect(await look()).toEqual(expected);
  });

  test('a question about an account, plan or time costs as many commands among 3,000 keys as among 30', async () => {
    const keys = keysIn(own.redis);
    const asked: Record<string, () => Promise<unknown>> = {
      'an unknown account': () => idsOf(keys.read({ account: 'typo' })),
      'an account': () => idsOf(keys.read({ account: 'small' })),
      'an unknown plan': () => idsOf(keys.read({ plan: 'typo' })),
      'names of accounts': async () => keys.accounts('a1', 1),
      'keys of accounts': () => idsOf(keys.readAccounts(['small', 'typo'])),
      'counts of plans': async () => keys.countKeys(['free', 'pro', 'typo']),
      'expiring keys': () => idsOf(keys.readExpiring(5_000, 6_000)),
    };
    const commands = async () => {
      const found: Record<string, number> = {};
      for (const [name, ask] of Object.entries(asked)) found[name] = await commandsOf(ask);
      return found;
    };
    await repairKeyIndex(own.redis, onwards);
    await keys.add(keyRecord({ account: 'small', expiresAt: 5_500 }), note());
    await addUnlisted(30);
    await forgetIndex(own.redis);
    await repairKeyIndex(own.redis, onwards);
    const few = await commands();
    await addUnlisted(3_000);
    await forgetIndex(own.redis);
    await repairKeyIndex(own.redis, onwards);
    expect(await commands()).toEqual(few);
    expect(Math.max(...Object.values(few))).toBeLessThan(20);
  });

  test('a build that was interrupted continues at its place', async () => {
    const records = await addUnlisted(1_000);
    let steps = 0;
    const dies = async () => {
      if (++steps === 3) throw new Error('killed');
    };
    await expect(repairKeyIndex(own.redis, dies)).rejects.toThrow('killed');
    expect(await isIndexWhole(own.redis)).toBe(false);
    const entered = await own.redis.zcard(keyOf.keysOfPlan('free'));
    expect(entered).toBeGreaterThan(0);
    // Nothing before the place is read again.
    await own.redis.del(keyOf.keysOfPlan('free'));
    await repairKeyIndex(own.redis, onwards);
    const free = records.filter(({ plan }) => plan === 'free').length;
    expect(await own.redis.zcard(keyOf.keysOfPlan('free'))).toBe(free - entered);
    expect(await isIndexWhole(own.redis)).toBe(true);
  });

  test('a build whose index is forgotten meanwhile does not call it whole', async () => {
    await addUnlisted(1_000);
    let steps = 0;
    const forgets = async () => {
      if (++steps === 2) await forgetIndex(own.redis);
    };
    await repairKeyIndex(own.redis, forgets);
    expect(await isIndexWhole(own.redis)).toBe(false);
  });

  test('keys that change while the lists are built are in the lists of their new records', async () => {
    const records = await addUnlisted(600);
    const keys = keysIn(own.redis);
    let at = 0;
    const changes = async () => {
      for (const record of [records[at]!, records.at(-1 - at)!])
        await keys.replace(
          changed(record, { plan: 'new', revokedAt: at % 2 === 0 ? 3_000 : null }),
          note(),
        );
      await keys.add(keyRecord({ createdAt: 1_000 + at, account: 'added' }), note());
      at++;
    };
    await repairKeyIndex(own.redis, changes);
    expect(at).toBeGreaterThan(3);
    const expected = listsOf(await allKeys(keys));
    expect(await listsIn(own.redis, [...expected.keys()])).toEqual(expected);
  });

  test('keys that a gateway of an older version adds later are entered, and incomplete keys are not looked for again', async () => {
    const records = await addUnlisted(30);
    await own.redis.del(keyOf.apiKey(records[3]!.hash));
    await repairKeyIndex(own.redis, onwards);
    expect(await isRepairDue(own.redis)).toBe(false);
    const late = keyRecord({ plan: 'pro' });
    await keysIn(own.redis).add(late, note());
    expect(await isRepairDue(own.redis)).toBe(false);
    await own.redis.zrem(keyOf.keysOfPlan('pro'), late.id);
    expect(await isRepairDue(own.redis)).toBe(true);
    await repairKeyIndex(own.redis, onwards);
    expect(await idsOf(keysIn(own.redis).read({ plan: 'pro' }))).toContain(late.id);
    expect(await isRepairDue(own.redis)).toBe(false);
  });

  test('one gateway builds the lists, and another one continues after it was killed', async () => {
    await addUnlisted(900);
    await markData(own.redis);
    await own.redis.set(keyOf.lock('key-index'), '', 'PX', 200);
    const gateway = await openShared({ url: own.server.url });
    expect(await isIndexWhole(own.redis)).toBe(false);
    await gateway.close();
    await until(
      'the lock has expired',
      async () => (await own.redis.exists(keyOf.lock('key-index'))) === 0,
    );
    const stops = [1, 2].map(() =>
      maintainKeyIndex(own.redis, { isFit: () => true, failed: () => {} }),
    );
    await until('the lists are built', () => isIndexWhole(own.redis));
    await until(
      'the lock is free',
      async () => (await own.redis.exists(keyOf.lock('key-index'))) === 0,
    );
    for (const stop of stops) stop();
  });
});

/** A connection whose process is killed before its command number `last`. */
function killedAfter(
  redis: Connection,
  last: number,
): { readonly redis: Connection; readonly isKilled: () => boolean } {
  let sent = 0;
  const proxy = new Proxy(redis, {
    get(target, name) {
      const found = Reflect.get(target, name) as unknown;
      if (typeof found !== 'function' || ['nodes', 'on'].includes(String(name))) return found;
      return (...given: unknown[]) => {
        if (++sent > last) return Promise.reject(new Error('killed'));
        return found.apply(target, given);
      };
    },
  });
  return { redis: proxy, isKilled: () => sent > last };
}

describe('in a Redis Cluster, a change that is killed between any two commands', () => {
  let set: ClusterSet;
  let redis: Connection;
  let keys: KeyStore;
  beforeAll(async () => {
    set = await startCluster();
    redis = await connect({ ...DEFAULTS, url: set.url, topology: 'cluster', nodes: set.nodes });
    keys = keysIn(redis);
  });
  afterAll(async () => {
    disconnect(redis);
    await set.stop();
  });

  const newKey = () => keyRecord({ account: 'acme', plan: 'free', expiresAt: 9_000 });
  const edited = (record: KeyRecord) =>
    changed(record, { plan: 'pro', expiresAt: null, hash: `${record.hash}-2`, previous: null });
  /** Entries too many of an account stay. */
  const REPAIRED = [
    keyOf.expiringKeys,
    ...['free', 'pro'].flatMap((plan) => [keyOf.keysOfPlan(plan), keyOf.revokedKeysOfPlan(plan)]),
  ];

  test.each<[string, (killed: Connection, record: KeyRecord) => unknown]>([
    ['an addition', (killed) => keysIn(killed).add(newKey(), note())],
    ['many additions', (killed) => keysIn(killed).addMany([newKey(), newKey(), newKey()], note())],
    [
      'a change of plan and secret',
      (killed, record) => keysIn(killed).replace(edited(record), note()),
    ],
    [
      'a revocation',
      (killed, record) =>
        keysIn(killed).replace(changed(record, { revokedAt: 3_000, plan: 'pro' }), note()),
    ],
  ])(
    '%s: no key is missing in a list, and none is too many after a repair',
    async (_what, change) => {
      for (let last = 0, isKilled = true; isKilled; last++) {
        await Promise.all(set.masters.map(({ admin }) => admin.flushall()));
        const record = newKey();
        await keys.add(record, note());
        await repairKeyIndex(redis, onwards);
        const killed = killedAfter(redis, last);
        await Promise.resolve(change(killed.redis, record)).catch(() => {});
        isKilled = killed.isKilled();
        const all = await allKeys(keys);
        const expected = listsOf(all);
        for (const [list, ids] of expected)
          expect(await redis.zrange(list, '0', '-1')).toEqual(expect.arrayContaining(ids));
        for (const plan of ['free', 'pro']) {
          const ids = all.filter((key) => key.plan === plan).map(({ id }) => id);
          expect((await idsOf(keys.read({ plan }))).sort()).toEqual(ids.sort());
        }
        // The locks of the killed process have expired.
        for (const { admin } of set.masters) {
          for (const lock of await admin.keys(keyOf.lock('*').replace(/[{}]/g, '?')))
            await admin.del(lock);
        }
        await repairKeyIndex(redis, onwards);
        expected.delete(keyOf.keysOfAccount('acme'));
        expect(await listsIn(redis, REPAIRED)).toEqual(expected);
      }
    },
  );
});
