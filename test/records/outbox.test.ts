import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import type { Outbox } from '../../src/records/outbox.ts';
import { outboxInRedis } from '../../src/records/redis/outbox.ts';
import { connect, disconnect } from '../../src/state/redis/client.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { type ClusterSet, startCluster } from '../support/redis/topologies.ts';
import { keepsThePromisesOfOutbox } from './outbox-contract.ts';

describe('the outbox in a folder of its own', () => {
  const opened: Outbox[] = [];
  let folder = '';
  afterEach(() => {
    for (const outbox of opened.splice(0)) outbox.close();
    rmSync(folder, { recursive: true, force: true });
  });
  function open(): Outbox {
    opened.push(openOutbox(folder));
    return opened.at(-1)!;
  }

  keepsThePromisesOfOutbox(async () => {
    folder = mkdtempSync(join(tmpdir(), 'storegate-'));
    return { one: open(), other: open() };
  });

  test('that is not a database is reported with its path', () => {
    folder = mkdtempSync(join(tmpdir(), 'storegate-'));
    writeFileSync(
      join(folder, 'webhooks.db'),
      'something else, and long enough to be looked at'.repeat(20),
    );
    expect(open).toThrow(
      /^cannot use webhooks\.db in the data folder \S+: .*file is not a database$/,
    );
  });
});

describe('the outbox in one Redis', () => {
  const suite = redisForSuite();

  test('has the time of Redis, whatever the time of its caller', async () => {
    const read = async () => {
      const [seconds, microseconds] = await suite.server.admin.time();
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    };
    const before = await read();
    const time = await outboxInRedis(suite.redis).time(1);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(await read());
  });

  test('keeps its events for a month after the last one, and a name as long as it was to be', async () => {
    const outbox = outboxInRedis(suite.redis);
    const once = { name: 'x', since: 0, until: 60_001 };
    const message = { id: 'msg_x', type: 'test', body: '{}' };
    await outbox.add({ message, endpoints: ['a'], once, most: 10, now: 1 });
    const { events, types, once: nameKey } = keyOf.outbox;
    const remaining = (key: string) => suite.server.admin.pttl(key);
    for (const key of [events, types])
      expect(await remaining(key)).toBeGreaterThan(29 * 86_400_000);
    expect(await remaining(nameKey('x'))).toBeGreaterThan(0);
    expect(await remaining(nameKey('x'))).toBeLessThanOrEqual(60_000);
  });
});

describe('the outbox in a Redis Cluster', () => {
  let set: ClusterSet;
  let redis: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    set = await startCluster();
    redis = await connect({ ...DEFAULTS, url: set.url, topology: 'cluster', nodes: set.nodes });
  });
  afterAll(async () => {
    disconnect(redis);
    await set.stop();
  });
  keepsThePromisesOfOutbox(async () => {
    await Promise.all(set.masters.map(({ admin }) => admin.flushall()));
    // With the time that the test passes, in place of that of Redis.
    const outbox: Outbox = { ...outboxInRedis(redis), time: (local) => local };
    return { one: outbox, other: outbox };
  });
});
