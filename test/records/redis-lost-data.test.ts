import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { createCopyReader } from '../../src/records/redis/copy-reader.ts';
import { epochOf } from '../../src/records/redis/epoch.ts';
import { lookUpIn } from '../../src/records/redis/look-up.ts';
import { type Connection, connect, disconnect } from '../../src/state/redis/client.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { TestClock } from '../support/limits.ts';
import { allKeys, changed, keyRecord, note } from '../support/records.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { untilReplicated } from '../support/redis/topologies.ts';
import { recommendedUser } from '../support/redis/user.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type RedisSet, TOPOLOGIES } from './topologies.ts';

const { head } = keyOf.records;
const folderOf = temporaryFolders();
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const LOST = 'Redis may have come up without its data';
const REPLICA = 'Redis is a replica: it may not have the newest keys';

/** What a client would get: a key, 401 (`null`), or why it is 503. */
const responseOf = (requested: Promise<unknown>) =>
  requested.catch((error: unknown) => String((error as Outage).cause));

describe.each(TOPOLOGIES)('%s', (name, start) => {
  let set: RedisSet;
  let redis: Connection;
  let clock: TestClock;
  let losses: number;
  let lookUp: ReturnType<typeof lookUpIn>;

  beforeAll(async () => {
    set = await start(true);
  });
  afterAll(() => set.stop());
  beforeEach(async () => {
    redis = await connect(set.settings);
    stops.push(() => disconnect(redis));
    clock = new TestClock();
    losses = 0;
    const epoch = epochOf(redis, { lost: () => losses++, clock: clock.read });
    await epoch.begin();
    lookUp = lookUpIn(redis, epoch);
  });

  const unknown = () => responseOf(lookUp('hash', ['unknown']));

  /** The master that has the records, and its replica. */
  async function holder() {
    for (const [i, master] of set.masters.entries())
      if ((await master.admin.exists(head).catch(() => 0)) === 1)
        return { master, replica: set.replicas[i]! };
    throw new Error('no master has records');
  }

  async function cut({ admin }: RedisServer) {
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await until('it is connected again', () =>
      redis.exists(head).then(
        () => true,
        () => false,
      ),
    );
  }

  /** As if it had died and come up without its data. */
  async function comeUpEmpty() {
    const { master } = await holder();
    await master.admin.flushall();
    await cut(master);
    return master;
  }

  test('without its data makes no key unknown for 30 s, then what it has is the data', async () => {
    expect(await unknown()).toEqual([null]);
    await comeUpEmpty();
    expect(await unknown()).toContain(LOST);
    clock.pass(29_999);
    expect(await unknown()).toContain(LOST);
    expect(losses).toBe(0);
    clock.pass(1);
    expect(await unknown()).toEqual([null]);
    expect(await unknown()).toEqual([null]);
    expect(losses).toBe(1);
  });

  test('that gets its data back knows at once which keys it does not have', async () => {
    const { master } = await holder();
    const data = await master.admin.dumpBuffer(head);
    await comeUpEmpty();
    expect(await unknown()).toContain(LOST);
    clock.pass(29_999);
    await master.admin.restore(head, 0, data, 'REPLACE');
    expect(await unknown()).toEqual([null]);
    await master.admin.del(head);
    clock.pass(1);
    expect(await unknown()).toContain(LOST);
  });

  test('that comes up twice without its data has 30 s each time', async () => {
    const master = await comeUpEmpty();
    expect(await unknown()).toContain(LOST);
    clock.pass(29_999);
    await cut(master);
    clock.pass(1);
    expect(await unknown()).toContain(LOST);
    clock.pass(30_000);
    expect(await unknown()).toEqual([null]);
  });

  test('that another gateway has marked meanwhile makes no key unknown either', async () => {
    await comeUpEmpty();
    const other = epochOf(redis, { lost: () => {} });
    await other.begin();
    expect(await responseOf(lookUpIn(redis, other)('hash', ['unknown']))).toEqual([null]);
    expect(await unknown()).toContain(LOST);
  });

  if (name !== 'a single Redis')
    test('has the data of the dead master when a replica has taken over', async () => {
      const { master, replica } = await holder();
      await untilReplicated(master, replica);
      await set.killMaster(master);
      const responses: unknown[] = [];
      await until('the replica is asked', async () => {
        responses.push(await unknown());
        return Array.isArray(responses.at(-1));
      });
      expect(await replica.admin.role()).toContain('master');
      expect(responses).not.toContainEqual(expect.stringContaining(LOST));
      expect(losses).toBe(0);
    });
});

describe('a gateway', () => {
  let server: RedisServer;
  let gateway: SharedGateway;
  beforeEach(async () => {
    server = await startRedis();
    stops.push(() => server.stop());
  });

  async function open(url = server.url) {
    gateway = await openShared({ url }, { folder: folderOf() });
    stops.push(() => gateway.close());
    await allKeys(gateway.keys);
  }

  const find = async (hash: string) => await gateway.keys.find(hash);
  const warnings = () =>
    gateway.events.flatMap((event) => (event.type === 'state.warning' ? [event.warning] : []));

  test('serves the keys of its copy, and answers no question, while Redis is without its data', async () => {
    await open();
    const [existing, unseen] = [keyRecord(), keyRecord()];
    await gateway.keys.add(existing, note());
    await server.admin.flushall();
    await expect(find('unknown')).rejects.toThrow(Outage);
    await expect(find(unseen.hash)).rejects.toThrow(Outage);
    await expect(gateway.keys.add(unseen, note())).rejects.toThrow(Outage);
    await expect(allKeys(gateway.keys)).rejects.toThrow(Outage);
    await expect((async () => await gateway.tokens.list())()).resolves.toEqual([]);
    expect(await find(existing.hash)).toEqual(existing);
    expect(warnings()).toEqual([
      `${LOST}: restore it, or what it has is used after 30 s`,
      `${LOST}: requests with keys that it does not have get 503`,
    ]);
    expect(gateway.events).toContainEqual({ type: 'state.data_doubted', isDoubted: true });
  });

  test.each([
    ['without data', false],
    ['that a gateway without a copy has marked after a loss', true],
  ])('that starts with a copy on a Redis %s makes no key unknown', async (_what, isMarked) => {
    const folder = folderOf();
    const first = await openShared({ url: server.url }, { folder });
    const record = keyRecord();
    await first.keys.add(record, note());
    await allKeys(first.keys);
    await first.close();
    await server.admin.flushall();
    if (isMarked) await (await openShared({ url: server.url })).close();
    gateway = await openShared({ url: server.url }, { folder });
    stops.push(() => gateway.close());
    expect(await responseOf(find('unknown'))).toContain(LOST);
    expect(await find(record.hash)).toEqual(record);
  });

  test('counts the 30 s of its workers from the loss, not from their first look-up', async () => {
    const folder = folderOf();
    const settings = { ...DEFAULTS, url: server.url };
    const redis = await connect(settings);
    stops.push(() => disconnect(redis));
    const clock = new TestClock();
    const epoch = epochOf(redis, { lost: () => {}, clock: clock.read });
    await epoch.begin();
    const reader = createCopyReader(redis, {
      folder,
      source: settings.url,
      epoch,
      bus: { listen: () => () => {}, isLive: true },
      checkReadable: () => {},
      changed: () => {},
      failed: (error) => expect(error).toBeUndefined(),
    });
    stops.push(() => reader.close());
    await server.admin.flushall();
    await expect(reader.confirm()).rejects.toThrow(Outage);
    clock.pass(30_000);
    expect(await lookUpIn(redis, epoch)('hash', ['unknown'])).toEqual([null]);
  });

  test('takes the data of an older dump as it is, and warns', async () => {
    await open();
    const kept = keyRecord();
    await gateway.keys.add(kept, note());
    const names = await server.admin.keys('sg:{sg:records}:*');
    const dump = await Promise.all(names.map((name) => server.admin.dumpBuffer(name)));
    const late = keyRecord();
    await gateway.keys.add(late, note());
    await gateway.keys.replace(changed(kept, { revokedAt: 5 }), note());

    const restore = server.admin.multi().flushall();
    for (const [i, name] of names.entries()) restore.restore(name, 0, dump[i]!);
    await restore.exec();
    await until('it has read all keys again', async () => (await find(late.hash)) === null);
    expect(await allKeys(gateway.keys)).toEqual([kept]);
    expect(await find(kept.hash)).toEqual(kept);
    expect(warnings()).toEqual([expect.stringMatching(/^Redis has lost its data/)]);
    expect(gateway.events).toContainEqual({ type: 'state.data_lost' });
    await gateway.keys.add(late, note());
    expect(await find(late.hash)).toEqual(late);
  });

  test.each([
    ['the rights of the manual', []],
    ['these rights without INFO', ['-info']],
  ])('with %s learns nothing from a replica', async (_rights, changes) => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    stops.push(() => warn.mockRestore());
    await open(await recommendedUser(server, ...changes));
    const [existing, record] = [keyRecord(), keyRecord()];
    await gateway.keys.add(existing, note());
    await server.admin.call('REPLICAOF', '127.0.0.1', '1');
    expect(await responseOf(find('unknown'))).toContain(REPLICA);
    await expect(allKeys(gateway.keys)).rejects.toThrow(Outage);
    await expect(gateway.keys.add(record, note())).rejects.toThrow(Outage);
    expect(await find(existing.hash)).toEqual(existing);
    await server.admin.call('REPLICAOF', 'NO', 'ONE');
    await until('it asks again', async () => (await responseOf(find('unknown'))) === null);
    expect(await allKeys(gateway.keys)).toEqual([existing]);
    expect(warnings()).toEqual([REPLICA]);
  });
});
