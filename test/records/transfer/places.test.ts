import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addUsage, type MovedUsage } from '../../../src/ledger/moved-usage.ts';
import { counterLine } from '../../../src/records/transfer/counter-line.ts';
import { fileSource } from '../../../src/records/transfer/file-reader.ts';
import { fileTarget } from '../../../src/records/transfer/file-writer.ts';
import { folderSource, folderTarget } from '../../../src/records/transfer/folder.ts';
import type { Source, Target } from '../../../src/records/transfer/form.ts';
import { openRedisSource, openRedisTarget } from '../../../src/records/transfer/redis.ts';
import { connect, disconnect } from '../../../src/state/redis/client.ts';
import { keyOf } from '../../../src/state/redis/key-names.ts';
import { usageInRedis } from '../../../src/state/redis/usage.ts';
import { createRowWriter } from '../../../src/state/rows/row-writer.ts';
import { usageInFolder } from '../../../src/state/usage-folder.ts';
import { HOUR } from '../../support/limits.ts';
import { openShared } from '../../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../../support/redis/server.ts';
import { DEFAULTS } from '../../support/redis/settings.ts';
import { type ClusterSet, startCluster } from '../../support/redis/topologies.ts';
import { recommendedUser } from '../../support/redis/user.ts';
import {
  hashOf,
  hourly,
  idOf,
  movable,
  movableEntry,
  moveAll,
  partOf,
  readWhole,
  someState,
  sourceOf,
  temporaryFolder,
  type Whole,
  WITH_CLOCK,
} from '../../support/transfer.ts';

let redis: RedisServer;
let cluster: ClusterSet;
beforeAll(async () => {
  redis = await startRedis();
  cluster = await startCluster();
});
afterAll(async () => {
  await redis.stop();
  await cluster.stop();
});

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  for (const { admin } of [redis, ...cluster.masters]) await admin.flushall();
});
afterEach(() => folder.remove());

interface Place {
  readonly name: string;
  readonly source: () => Promise<Source>;
  readonly target: (dryRun?: boolean) => Promise<Target>;
  /** As of a gateway without other records. */
  readonly ledger: () => Promise<OpenLedger>;
}

interface OpenLedger {
  readonly add: (part: MovedUsage) => Promise<void>;
  readonly close: () => unknown;
}

const settingsOf = (name: string) =>
  name === 'a Cluster'
    ? ({ ...DEFAULTS, topology: 'cluster', url: cluster.url, nodes: cluster.nodes } as const)
    : { ...DEFAULTS, url: redis.url };
const inRedis = (name: string): Place => ({
  name,
  source: () => openRedisSource(settingsOf(name)),
  target: (dryRun = false) => openRedisTarget(settingsOf(name), { dryRun }),
  async ledger() {
    const connection = await connect(settingsOf(name));
    const add = (part: MovedUsage) => addUsage(usageInRedis(connection), [part]);
    return { add, close: () => disconnect(connection) };
  },
});
const dataFolder = () => join(folder.path, 'data');
const A_FOLDER: Place = {
  name: 'a folder',
  source: async () => folderSource(dataFolder(), WITH_CLOCK),
  target: async (dryRun = false) => folderTarget(dataFolder(), { ...WITH_CLOCK, dryRun }),
  async ledger() {
    const writer = createRowWriter(dataFolder());
    const ledger = usageInFolder(dataFolder(), writer, (error) => {
      throw error;
    });
    async function close() {
      await ledger.close();
      await writer.close();
    }
    return { add: (part) => addUsage(ledger, [part]), close };
  },
};
const A_REDIS = inRedis('a Redis');
const PLACES: readonly Place[] = [A_FOLDER, A_REDIS, inRedis('a Cluster')];

/** The state without the entries of the moves themselves. */
async function stateIn(place: Place): Promise<Whole> {
  const whole = await readWhole(await place.source());
  return { ...whole, audit: whole.audit.filter(({ action }) => action !== 'state.import') };
}

const sorted = (whole: Whole): Promise<Whole> => readWhole(sourceOf(whole));

/** Gives its first batches, then fails. */
function failingAfter(batches: number, given: Partial<Whole>): Source {
  const source = sourceOf(given);
  return {
    ...source,
    async *read() {
      let remaining = batches;
      for await (const batch of source.read()) {
        if (remaining-- === 0) throw new Error('the source failed');
        yield batch;
      }
    },
  };
}

describe.each(PLACES)('$name', (place) => {
  const give = async (given: Partial<Whole>) => moveAll(sourceOf(given), await place.target());

  test('imports everything and exports it unchanged, through a file too', async () => {
    const now = Date.now();
    const given = someState(now);
    const counts = { key: 3, token: 1, audit: 3, ban: 2, counters: 3, use: 2, usage: 2 };
    const moved = await give(given);
    expect(moved).toMatchObject({ given: counts, has: { ...counts, audit: 4 } });
    expect(await stateIn(place)).toEqual(await sorted(given));

    const path = join(folder.path, 'state.ndjson');
    const header = { from: 'test', storegate: '0.0.0', at: new Date(now).toISOString() };
    const written = await moveAll(await place.source(), fileTarget(path, header));
    expect(written.has).toEqual({ ...counts, audit: 4 });
    const whole = await readWhole(await fileSource(path));
    expect(whole.audit.at(-1)).toMatchObject({
      number: 7,
      action: 'state.import',
      actor: 'cli:test',
      target: 'state',
      after: { given: counts },
    });
    expect({ ...whole, audit: whole.audit.slice(0, 3) }).toEqual(await sorted(given));
  });

  test.each<[string, Partial<Whole>, string]>([
    ['a key', { key: [movable(1)] }, '1 keys, 1 audit entries'],
    ['an audit entry', { audit: [movableEntry(1)] }, '2 audit entries'],
    [
      'counters',
      { counters: [counterLine(`key:${idOf(1)}`, hourly(1, Date.now()))] },
      '1 audit entries, 1 counters',
    ],
    [
      'usage of a key',
      { usage: [partOf(Date.now(), 'key_1')] },
      '1 audit entries, 1 values of usage',
    ],
  ])('with %s is refused as a target and not changed', async (_what, held, content) => {
    await give(held);
    const before = await readWhole(await place.source());
    for (const dryRun of [true, false]) {
      const target = await place.target(dryRun);
      await expect(moveAll(sourceOf(someState(Date.now())), target, { dryRun })).rejects.toThrow(
        `${target.name} is not empty, it has ${content}: nothing was changed. States are never merged: name an empty folder or Redis.`,
      );
    }
    expect(await readWhole(await place.source())).toEqual(before);
  });

  test('with usage of requests without a key alone is a target, and has only what is imported', async () => {
    const now = Date.now();
    const ledger = await place.ledger();
    await ledger.add(partOf(now - HOUR));
    await ledger.close();
    const moved = await give({ usage: [partOf(now, 'key_1')] });
    expect(moved).toMatchObject({ replaced: 1, has: { usage: 1 } });
    expect((await stateIn(place)).usage).toEqual([partOf(now, 'key_1')]);
  });

  test('reads everything in a dry run, and changes nothing', async () => {
    const given = sourceOf(someState(Date.now()));
    const moved = await moveAll(given, await place.target(true), { dryRun: true });
    expect(moved).toMatchObject({ given: { key: 3, counters: 3 }, has: { key: 0, counters: 0 } });
    expect((await give(someState(Date.now()))).has.key).toBe(3);
  });

  test('leaves out what no file may have, and reports it', async () => {
    const moved = await give({ key: [movable(1, { hash: 'short' }), movable(2)] });
    expect(moved.leftOut).toMatchObject({ count: 1, first: [expect.stringContaining(idOf(1))] });
    expect((await stateIn(place)).key).toEqual([movable(2)]);
  });

  test('leaves out a key with a secret of another key', async () => {
    const moved = await give({ key: [movable(1), movable(2, { hash: movable(1).hash })] });
    expect(moved.leftOut.first).toEqual([`${idOf(2)}, another key before it has the same secret`]);
    expect((await stateIn(place)).key).toEqual([movable(1)]);
  });

  test('is empty again for an import after one that failed', async () => {
    const given = someState(Date.now());
    const secrets = { hash: hashOf('old'), previous: { hash: hashOf('older'), until: 9e12 } };
    for (const batches of [1, 5]) {
      const other = { ...given, key: [movable(8, secrets)] };
      const failing = failingAfter(batches, other);
      await expect(moveAll(failing, await place.target())).rejects.toThrow('the source failed');
    }
    expect((await give(given)).has).toMatchObject({ key: 3, token: 1, audit: 4 });
    expect(await stateIn(place)).toEqual(await sorted(given));
  });
});

describe('a Redis as a target', () => {
  const open = () => openShared({ url: redis.url });
  const refused = async (message: string) => expect(A_REDIS.target()).rejects.toThrow(message);

  test('is refused while a gateway uses it', async () => {
    const gateway = await open();
    await refused('Stop all gateways first');
    await gateway.close();
    await (await A_REDIS.target()).close();
  });

  test('is refused while another import uses it', async () => {
    const target = await A_REDIS.target();
    await refused('Another import into Redis at');
    await target.close();
    await (await A_REDIS.target()).close();
  });

  test('starts no gateway and is no source after an unfinished import', async () => {
    const failing = failingAfter(1, someState(Date.now()));
    await expect(moveAll(failing, await A_REDIS.target())).rejects.toThrow('the source failed');
    const message = 'an import into this Redis was not finished';
    await expect(open()).rejects.toThrow(message);
    await expect(A_REDIS.source()).rejects.toThrow(message);
    await expect(A_REDIS.target(true)).rejects.toThrow(message);
    await moveAll(sourceOf({ key: [movable(1)] }), await A_REDIS.target());
    const gateway = await open();
    expect(await gateway.keys.find(movable(1).hash)).toEqual(movable(1));
    await gateway.close();
  });

  test('finds a rotated key by both secrets', async () => {
    const previous = { hash: hashOf('before'), until: Date.now() + HOUR };
    const key = movable(1, { version: 2, previous });
    await moveAll(sourceOf({ key: [key] }), await A_REDIS.target());
    const gateway = await open();
    expect(await gateway.keys.findMany([key.hash, previous.hash])).toEqual([key, key]);
    await gateway.close();
  });

  test('needs no rights that the user of the manual lacks, to start over either', async () => {
    const settings = { ...DEFAULTS, url: await recommendedUser(redis) };
    const target = () => openRedisTarget(settings, { dryRun: false });
    const given = someState(Date.now());
    await expect(moveAll(failingAfter(5, given), await target())).rejects.toThrow('source failed');
    expect((await moveAll(sourceOf(given), await target())).has).toMatchObject({ key: 3, use: 2 });
    expect((await readWhole(await openRedisSource(settings))).key).toEqual(given.key);
  });

  test('lists bans without a scan', async () => {
    await moveAll(sourceOf(someState(Date.now())), await A_REDIS.target());
    expect(await redis.admin.exists(keyOf.bansWhole)).toBe(1);
    expect(await redis.admin.zrange(keyOf.bans, '0', '-1')).toEqual([`key:${idOf(2)}`]);
  });
});

test('invalid data of a Redis is left out and reported', async () => {
  await moveAll(sourceOf({ key: [movable(1), movable(2)] }), await A_REDIS.target());
  await redis.admin.hset(keyOf.records.keys, idOf(1), 'no json');
  await redis.admin.set(keyOf.counters(`key:${idOf(5)}`), 'not counters');
  await redis.admin.hset(keyOf.counters(`key:${idOf(6)}`), 'w', 'not counters');
  const moved = await moveAll(await A_REDIS.source(), await A_FOLDER.target());
  expect(moved.given).toMatchObject({ key: 1, counters: 0 });
  expect(moved.leftOut.count).toBe(3);
  for (const id of [1, 5, 6]) expect(moved.leftOut.first.join('\n')).toContain(idOf(id));
});
