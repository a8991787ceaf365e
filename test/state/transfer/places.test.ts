import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { folderSource } from '../../../src/state/embedded/transfer/source.ts';
import { folderTarget } from '../../../src/state/embedded/transfer/target.ts';
import { type Connection, connect, disconnect } from '../../../src/state/redis/client.ts';
import { takeKeys } from '../../../src/state/redis/transfer/keys.ts';
import { openRedisSource } from '../../../src/state/redis/transfer/source.ts';
import { openRedisTarget } from '../../../src/state/redis/transfer/target.ts';
import { checkFile, fileSource } from '../../../src/state/transfer/file-source.ts';
import { createFile } from '../../../src/state/transfer/file-target.ts';
import type { Source, Target, TargetOptions } from '../../../src/state/transfer/records.ts';
import { writeFile } from '../../../src/state/transfer/transfer.ts';
import { KEPT } from '../../support/audit.ts';
import { HOUR, limits, MINUTE, window } from '../../support/limits.ts';
import { openShared } from '../../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../../support/redis/server.ts';
import { DEFAULTS } from '../../support/redis/settings.ts';
import { type ClusterSet, startCluster } from '../../support/redis/topologies.ts';
import {
  hashOf,
  hourly,
  idOf,
  movable,
  movableEntry,
  moveAll,
  readWhole,
  someState,
  sourceOf,
  targetOptions,
  temporaryFolder,
  type Whole,
} from '../../support/transfer.ts';
import { until } from '../../support/until.ts';

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
  readonly target: (options?: Partial<TargetOptions>) => Promise<Target>;
}

const settingsOf = (name: string) =>
  name === 'a Cluster'
    ? ({ ...DEFAULTS, topology: 'cluster', url: cluster.url, nodes: cluster.nodes } as const)
    : { ...DEFAULTS, url: redis.url };
const inRedis = (name: string): Place => ({
  name,
  source: () => openRedisSource(settingsOf(name)),
  target: (options) => openRedisTarget(settingsOf(name), targetOptions(options)),
});
const PLACES: readonly Place[] = [
  {
    name: 'a folder',
    source: async () => folderSource(join(folder.path, 'data')),
    target: async (options) => folderTarget(join(folder.path, 'data'), targetOptions(options)),
  },
  inRedis('a Redis'),
  inRedis('a Cluster'),
];

/** The state without the entries of the moves themselves. */
async function stateIn(place: Place): Promise<Whole> {
  const whole = await readWhole(await place.source());
  return { ...whole, audit: whole.audit.filter(({ action }) => action !== 'state.import') };
}

/** The connection until so many commands were sent; then none is sent any more. */
function dyingAfter(connection: Connection, commands: number): Connection {
  let left = commands;
  return new Proxy(connection, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (left-- > 0) return value.apply(target, args);
        const gone = () => Promise.reject(new Error('the connection is gone'));
        return name === 'pipeline' ? { exec: gone } : gone();
      };
    },
  });
}

const sorted = (whole: Whole): Promise<Whole> => readWhole(sourceOf(whole));

describe.each(PLACES)('$name', (place) => {
  const give = async (given: Partial<Whole>, options: Partial<TargetOptions> = {}) =>
    moveAll(sourceOf(given), await place.target(options), { dryRun: options.dryRun ?? false });

  test('takes everything in, gives it out as it was, and through a file too', async () => {
    const now = Date.now();
    const given = someState(now);
    const moved = await give(given);
    expect(moved.given).toEqual({ key: 3, token: 1, audit: 3, ban: 2, ledger: 3, use: 2 });
    for (const type of ['key', 'token', 'audit', 'ban', 'ledger', 'use'] as const)
      expect(moved.outcomes[type]).toMatchObject({ added: given[type].length, same: 0 });
    expect(moved.has).toEqual({ key: 3, token: 1, audit: 4, ban: 2, ledger: 3, use: 2 });
    expect(await stateIn(place)).toEqual(await sorted(given));

    const path = join(folder.path, 'state.ndjson');
    const source = await place.source();
    const file = createFile(path, {
      from: source.kind,
      storegate: '0.0.0',
      at: new Date(now).toISOString(),
    });
    const { has } = await writeFile(source, file, () => {});
    await source.close();
    expect(has).toEqual({ key: 3, token: 1, audit: 4, ban: 2, ledger: 3, use: 2 });
    const whole = await readWhole(fileSource(path, await checkFile(path)));
    expect(whole.audit.at(-1)).toMatchObject({
      number: 7,
      action: 'state.import',
      actor: 'cli:test',
      target: 'state',
    });
    expect({ ...whole, audit: whole.audit.slice(0, 3) }).toEqual(await sorted(given));
  });

  test('changes nothing when it is given the same again', async () => {
    const given = someState(Date.now());
    await give(given);
    const before = await readWhole(await place.source());
    const moved = await give(given);
    for (const type of ['key', 'token', 'audit', 'ban', 'ledger', 'use'] as const)
      expect(moved.outcomes[type]).toMatchObject({
        same: given[type].length,
        added: 0,
        changed: 0,
      });
    expect(await readWhole(await place.source())).toEqual(before);
  });

  test('says in a dry run what would be done, and does nothing', async () => {
    const given = someState(Date.now());
    const empty = await give(given, { dryRun: true });
    expect(empty.outcomes.key.added).toBe(3);
    expect(empty.outcomes.ledger.added).toBe(3);
    await give({ key: [given.key[0]!] });
    const before = await readWhole(await place.source());
    const moved = await give(given, { dryRun: true });
    expect(moved.outcomes.key).toMatchObject({ added: 2, same: 1 });
    expect(await readWhole(await place.source())).toEqual(before);
  });

  test('replaces an earlier copy of a key, and frees the secrets that it does not have now', async () => {
    const until = Date.now() + HOUR;
    await give({ key: [movable(1), movable(2, { version: 5 })] });
    const rotated = movable(1, {
      version: 3,
      hash: hashOf('third'),
      previous: { hash: hashOf('second'), until },
    });
    const moved = await give({ key: [rotated, movable(2, { version: 5 })] });
    expect(moved.outcomes.key).toMatchObject({ changed: 1, same: 1 });
    const free = movable(7, { hash: movable(1).hash });
    const all = { key: [rotated, movable(2, { version: 5 }), free] };
    expect((await give(all)).outcomes.key).toMatchObject({ added: 1, same: 2 });
    expect((await stateIn(place)).key).toEqual(all.key);
  });

  const token = (name: string) => ({
    name,
    hash: hashOf(name),
    role: 'read' as const,
    createdAt: 1,
  });
  const one: Partial<Whole> = {
    key: [movable(1), movable(2)],
    token: [token('ci')],
    audit: [movableEntry(1)],
  };
  const DIFFERENT: readonly (readonly [what: string, given: Partial<Whole>, message: RegExp])[] = [
    [
      'keys',
      { ...one, key: [movable(1)] },
      /has 1 keys that a test does not have: nothing was changed/,
    ],
    ['tokens', { ...one, token: [token('cd')] }, /has 1 tokens that/],
    ['audit entries', { ...one, audit: [] }, /has 1 audit entries that/],
    [
      'three sorts',
      { key: [movable(3)] },
      /has 2 keys, 1 tokens, 1 audit entries that .* name an empty folder or Redis/,
    ],
    [
      'another key',
      { ...one, key: [movable(1, { label: 'other' }), movable(2)] },
      /key key_0+1 was changed in the target/,
    ],
    [
      'a newer key',
      { ...one, key: [movable(1), movable(2, { version: 0 })] },
      /key key_0+2 was changed in the target/,
    ],
    [
      'a secret of another key',
      { ...one, key: [movable(1), movable(2), movable(3, { hash: movable(1).hash })] },
      /secret of key/,
    ],
    [
      'another token',
      { ...one, token: [{ ...token('ci'), role: 'admin' }] },
      /token ci is another one/,
    ],
  ];

  test.each(DIFFERENT)(
    'is refused with %s that the source does not have, and not changed',
    async (_what, given, message) => {
      await give(one);
      const before = await readWhole(await place.source());
      const source = () => sourceOf(given, { isChecked: true });
      const move = async (dryRun: boolean) =>
        moveAll(source(), await place.target({ dryRun }), { dryRun });
      await expect(move(true)).rejects.toThrow(message);
      await expect(move(false)).rejects.toThrow(message);
      expect(await readWhole(await place.source())).toEqual(before);
    },
  );

  test('takes the current counters and strike state, and grants no unit twice that was counted there', async () => {
    const now = Date.now();
    const subject = `key:${idOf(1)}`;
    const giveCounters = async (counters: ReturnType<typeof hourly>) =>
      (await give({ ledger: [{ subject, counters }] })).outcomes.ledger;
    const stored = async () => (await stateIn(place)).ledger[0]!.counters;
    await giveCounters(hourly(5, now - MINUTE));
    expect(await giveCounters(hourly(3, now - MINUTE))).toMatchObject({ kept: 1 });
    expect(await giveCounters(hourly(8, now - MINUTE))).toMatchObject({ changed: 1 });
    expect((await stored()).cells).toEqual([now - MINUTE, 8]);
    const banned = {
      bannedUntil: now + HOUR,
      bannedSince: now - 5,
      cleanSince: now + HOUR,
      level: 1,
    };
    await giveCounters(hourly(8, now - MINUTE, banned));
    expect(await stored()).toMatchObject({ strikeState: { bannedUntil: now + HOUR, level: 1 } });
    const without = hourly(9, now - MINUTE);
    expect(await giveCounters(without)).toMatchObject({ changed: 1 });
    expect(await giveCounters(without)).toMatchObject({ same: 1 });
    expect(await stored()).toMatchObject({
      cells: [now - MINUTE, 9],
      strikeState: { bannedUntil: now + HOUR },
    });
    const lifted = hourly(9, now - MINUTE, { ...banned, bannedUntil: 0, bannedSince: 0 });
    expect(await giveCounters(lifted)).toMatchObject({ changed: 1 });
    expect(await stored()).toMatchObject({ strikeState: { bannedUntil: 0, level: 1 } });
    expect(await giveCounters(hourly(1, now - 3 * HOUR))).toMatchObject({ over: 1 });
  });

  test('appends the audit entries that it does not have, and none that it has dropped', async () => {
    await give({ audit: [movableEntry(1), movableEntry(2)] });
    const moved = await give({ audit: [movableEntry(1), movableEntry(2), movableEntry(3)] });
    expect(moved.outcomes.audit).toMatchObject({ same: 2, added: 1 });
    const { audit } = await readWhole(await place.source());
    expect(audit.map(({ number, requestId }) => `${number} ${requestId}`)).toEqual([
      '1 request-1',
      '2 request-2',
      '3 the-move',
      '4 request-3',
      '5 the-move',
    ]);
  });

  test('keeps as many audit entries as configured, and brings none back', async () => {
    const many = Array.from({ length: 8 }, (_, i) => movableEntry(i + 1));
    expect((await give({ audit: many }, { audit: { ...KEPT, maxEntries: 4 } })).has.audit).toBe(4);
    const numbers = async () =>
      (await readWhole(await place.source())).audit.map(({ number }) => number);
    expect(await numbers()).toEqual([6, 7, 8, 9]);
    const again = await give({ audit: many }, { audit: { ...KEPT, maxEntries: 4 } });
    expect(again.outcomes.audit).toMatchObject({ added: 0, same: 3, over: 5 });
    expect(await numbers()).toEqual([6, 7, 8, 9]);
  });

  test('is an earlier copy also if the log of the source has dropped its oldest entries since', async () => {
    await give({ audit: [movableEntry(1), movableEntry(2)] });
    const moved = await give({ audit: [movableEntry(2), movableEntry(3)] });
    expect(moved.outcomes.audit).toMatchObject({ same: 1, added: 1 });
  });

  test('keeps the later of two last uses', async () => {
    await give({ use: [{ id: idOf(1), at: 50 }] });
    const later = [
      { id: idOf(1), at: 40 },
      { id: idOf(2), at: 60 },
    ];
    expect((await give({ use: later })).outcomes.use).toMatchObject({ kept: 1, added: 1 });
    expect((await stateIn(place)).use.map(({ at }) => at)).toEqual([50, 60]);
  });

  test('leaves out what no file may have, and reports it', async () => {
    const moved = await give({ key: [movable(1, { hash: 'short' }), movable(2)] });
    expect(moved.leftOut).toMatchObject({ count: 1, first: [expect.stringContaining(idOf(1))] });
    expect((await stateIn(place)).key).toEqual([movable(2)]);
  });
});

describe('a folder', () => {
  const target = () => folderTarget(join(folder.path, 'data'), targetOptions());

  test('is as it was where taking in ends half-way', async () => {
    await moveAll(sourceOf({ key: [movable(1)] }), target());
    const before = await readWhole(folderSource(join(folder.path, 'data')));
    const given = sourceOf(someState(Date.now()));
    const broken: Source = {
      ...given,
      async *read() {
        yield* given.read();
        throw new Error('the source is gone');
      },
    };
    await expect(moveAll(broken, target())).rejects.toThrow('the source is gone');
    expect(await readWhole(folderSource(join(folder.path, 'data')))).toEqual(before);
  });
});

describe('a Redis that gateways use', () => {
  const target = () => openRedisTarget(settingsOf('a Redis'), targetOptions());

  test('finishes a key that was only begun', async () => {
    await redis.admin.set(`sg:i:{${idOf(1)}}`, movable(1).hash);
    await redis.admin.set(`sg:i:{${idOf(2)}}`, hashOf('other'));
    const both = sourceOf({ key: [movable(1), movable(2)] });
    await expect(moveAll(both, await target())).rejects.toThrow(
      `the id ${idOf(2)} is that of a key with another secret`,
    );
    expect(
      (await moveAll(sourceOf({ key: [movable(1)] }), await target())).outcomes.key,
    ).toMatchObject({ added: 1 });
    expect((await readWhole(await openRedisSource(settingsOf('a Redis')))).key).toEqual([
      movable(1),
    ]);
  });

  const until9 = 9_000_000_000_000;
  test.each([
    [
      'a rotated key',
      movable(1),
      movable(1, {
        version: 2,
        hash: hashOf('next'),
        previous: { hash: movable(1).hash, until: until9 },
      }),
    ],
    ['a key with another secret', movable(1), movable(1, { version: 2, hash: hashOf('next') })],
    [
      'a revoked key that had two secrets',
      movable(1, { previous: { hash: hashOf('before'), until: until9 } }),
      movable(1, { version: 2, revokedAt: 5 }),
    ],
    [
      'a new key with two secrets',
      null,
      movable(1, { previous: { hash: hashOf('before'), until: until9 } }),
    ],
  ])('finishes %s wherever taking it in has ended', async (_what, there, given) => {
    const opened = await openShared({ url: redis.url });
    const connection = await connect(settingsOf('a Redis'));
    try {
      for (let commands = 0, ended = false; !ended; commands++) {
        await redis.admin.flushall();
        if (there) await takeKeys(connection, [there], false);
        ended = await takeKeys(dyingAfter(connection, commands), [given], false).then(
          () => true,
          () => false,
        );
        const locks = await redis.admin.keys('sg:l:*');
        if (locks.length > 0) await redis.admin.del(...locks);
        await takeKeys(connection, [given], false);
        expect(await redis.admin.get(`sg:i:{${given.id}}`)).toBe(given.hash);
        const secrets = [movable(1).hash, hashOf('next'), hashOf('before')];
        const good = secrets.filter((hash) => [given.hash, given.previous?.hash].includes(hash));
        expect(await opened.keys.findMany(secrets)).toEqual(
          secrets.map((hash) => (good.includes(hash) ? given : null)),
        );
      }
    } finally {
      disconnect(connection);
      await opened.close();
    }
  });

  test('loses no charge that comes while counters are taken in', async () => {
    const gateway = await openShared({ url: redis.url });
    const subject = `key:${idOf(1)}`;
    const plan = limits([window(10_000, HOUR)]);
    await gateway.state.admit(subject, plan, 1);
    const { ledger: stored } = await readWhole(await openRedisSource(settingsOf('a Redis')));
    const given = {
      ledger: [
        {
          subject,
          counters: { ...stored[0]!.counters, cells: [stored[0]!.counters.cells[0]!, 40] },
        },
      ],
    };
    const charges = Array.from({ length: 100 }, async (_, i) => {
      for (let n = 0; n < i % 20; n++) await gateway.state.look(subject, plan);
      await gateway.state.admit(subject, plan, 1);
    });
    await Promise.all([moveAll(sourceOf(given), await target()), ...charges]);
    const { readings } = await gateway.state.look(subject, plan);
    const used = 10_000 - readings[0]!.remaining;
    // At least 100 after the 40 were taken in, or the 40 counted among them.
    expect(used).toBeGreaterThanOrEqual(101);
    expect(used).toBeLessThanOrEqual(140);
    await gateway.close();
  });

  test('has its gateways look at every key again', async () => {
    const gateway = await openShared({ url: redis.url });
    const heard: (string | undefined)[] = [];
    const stop = gateway.keys.watch((hash) => void heard.push(hash));
    await moveAll(sourceOf({ key: [movable(1)] }), await target());
    await until('it has heard', () => heard.length > 0);
    expect(heard).toContain(undefined);
    stop();
    await gateway.close();
  });

  test('leaves out invalid counters and records, and reports them', async () => {
    await moveAll(sourceOf({ key: [movable(1), movable(2)] }), await target());
    await redis.admin.set(`sg:k:{${movable(1).hash}}`, 'no json');
    await redis.admin.set(`sg:s:{key:${idOf(5)}}`, 'not counters');
    await redis.admin.hset(`sg:s:{key:${idOf(6)}}`, 'w', 'not counters');
    const moved = await moveAll(
      await openRedisSource(settingsOf('a Redis')),
      folderTarget(folder.path, targetOptions()),
    );
    expect(moved.given).toMatchObject({ key: 1, ledger: 0 });
    expect(moved.leftOut.count).toBe(3);
    for (const id of [1, 5, 6]) expect(moved.leftOut.first.join('\n')).toContain(idOf(id));
    const given = { ledger: [{ subject: `key:${idOf(5)}`, counters: hourly(1, Date.now()) }] };
    await redis.admin.set(`sg:k:{${movable(1).hash}}`, JSON.stringify(movable(1)));
    const back = sourceOf({ key: [movable(1), movable(2)], ...given });
    await expect(moveAll(back, await target())).rejects.toThrow('holds other data than counters');
  });
});
