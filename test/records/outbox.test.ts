import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import type { Outbox } from '../../src/records/outbox.ts';
import { outboxInRedis } from '../../src/records/redis/outbox.ts';
import { connect, disconnect } from '../../src/state/redis/client.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { type ClusterSet, startCluster } from '../support/redis/topologies.ts';
import { keepsThePromisesOfOutbox } from './outbox-contract.ts';

const OWN_CLOCK = { usesCallerClock: true };

describe('the outbox in a folder', () => {
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

  test('keeps nothing for ever that waits for a receiver of earlier settings', async () => {
    folder = mkdtempSync(join(tmpdir(), 'storegate-'));
    const add = (outbox: Outbox, endpoint: string, now: number) => {
      const message = { id: `msg_${now}`, type: 'test', body: '{}' };
      const once = { name: `${endpoint} ${now}`, since: 0, until: now + 5 };
      return outbox.add({ message, endpoints: [endpoint], once, most: 10, now });
    };
    const day = 86_400_000;
    const before = open();
    await add(before, 'earlier', day);
    await add(before, 'earlier', 10 * day);
    const outbox = open();
    await add(outbox, 'today', 32 * day);
    expect(await outbox.states(['earlier', 'today'])).toMatchObject([
      { waiting: 1, lost: 1, oldest: 10 * day },
      { waiting: 1, lost: 0 },
    ]);
    await add(open(), 'today', 50 * day);
    expect(await outbox.states(['earlier'])).toMatchObject([{ waiting: 0, lost: 2, oldest: null }]);
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

describe('the outbox in memory', () => {
  let outbox: Outbox;
  afterEach(() => outbox.close());
  keepsThePromisesOfOutbox(async () => {
    outbox = openOutbox(null);
    return { one: outbox, other: outbox };
  });
});

describe('the outbox in one Redis', () => {
  const suite = redisForSuite();
  keepsThePromisesOfOutbox(async () => {
    await suite.server.admin.flushall();
    return {
      one: outboxInRedis(suite.redis, OWN_CLOCK),
      other: outboxInRedis(suite.server.admin, OWN_CLOCK),
    };
  });

  test('expires if it is never taken', async () => {
    const outbox = outboxInRedis(suite.redis);
    const once = { name: 'x', since: 0, until: 5 };
    const message = { id: 'msg_x', type: 'test', body: '{}' };
    await outbox.add({ message, endpoints: ['a'], once, most: 10, now: 1 });
    await outbox.failed((await outbox.take('a', 1))!, {
      now: 1,
      again: 2,
      pausedUntil: 2,
      error: 'no',
      isGone: false,
    });
    const names = (await suite.server.admin.keys('*')).filter((name) => name.endsWith(':a'));
    expect(names).toHaveLength(4);
    for (const name of names)
      expect(await suite.server.admin.pttl(name)).toBeGreaterThan(29 * 86_400_000);
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
    return { one: outboxInRedis(redis, OWN_CLOCK), other: outboxInRedis(redis, OWN_CLOCK) };
  });
});
