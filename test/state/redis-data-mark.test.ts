import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { Outage } from '../../src/common/errors/outage.ts';
import { connect, disconnect } from '../../src/state/redis/client.ts';
import { type DataCheck, dataMark } from '../../src/state/redis/data-checks.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { CountersError } from '../../src/state/state.ts';
import { TestClock } from '../support/limits.ts';
import { keyRecord, note } from '../support/records.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { recommendedUser } from '../support/redis/user.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const folderOf = temporaryFolders();
let server: RedisServer;
let stops: (() => unknown)[];
beforeEach(async () => {
  stops = [];
  server = await startRedis();
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  await server.stop();
});

/** It dies, and comes up at the same address without its data. */
async function comeUpEmpty(): Promise<void> {
  const { port } = server;
  await server.stop();
  server = await startRedis({ port });
}

async function found(gateway: SharedGateway, hash: string): Promise<unknown> {
  return Promise.resolve(gateway.keys.find(hash)).catch((error: unknown) => error);
}

const isCountersError = (error: unknown) =>
  error instanceof Outage && error.cause instanceof CountersError;

describe('a Redis that has come up without its data', () => {
  test('makes no key unknown, until it has the data again', async () => {
    const gateway = await openShared({ url: server.url });
    stops.push(() => gateway.close());
    const record = keyRecord();
    await gateway.keys.add(record, note());
    const mark = await server.admin.get(keyOf.dataMark);
    expect(await gateway.keys.find('unknown')).toBeNull();
    expect(await gateway.keys.hasImported()).toBe(false);

    await comeUpEmpty();
    await until('the gateway asks it', async () =>
      isCountersError(await found(gateway, record.hash)),
    );
    await expect(gateway.keys.hasImported()).rejects.toThrow(Outage);
    expect(gateway.eventCount('state.warning')).toBe(1);
    // A gateway that was started meanwhile marks it again.
    const other = await openShared({ url: server.url });
    stops.push(() => other.close());
    expect(isCountersError(await found(gateway, record.hash))).toBe(true);

    await server.admin.set(keyOf.dataMark, mark!);
    await server.admin.set(keyOf.apiKey(record.hash), JSON.stringify(record));
    expect(await gateway.keys.find(record.hash)).toEqual(record);
    expect(await gateway.keys.find('unknown')).toBeNull();
  });

  test('takes no key out of the copy of a gateway', async () => {
    const gateway = await openShared({ url: server.url }, { folder: folderOf() });
    stops.push(() => gateway.close());
    const record = keyRecord();
    await gateway.keys.add(record, note());
    await until('the copy has the key', () => gateway.keyCacheAge!() < 60_000);
    await comeUpEmpty();
    await until('two sweeps have met it', async () =>
      /cmdstat_mget:calls=([2-9]|\d\d)/.test(await server.admin.info('commandstats')),
    );
    expect(gateway.keys.findCopy!(record.hash)).toEqual(record);
  });
});

describe('a mark of the data', () => {
  let redis: Redis;
  let clock: TestClock;
  let lost: number;
  let mark: DataCheck;
  beforeEach(async () => {
    redis = (await connect({ ...DEFAULTS, url: server.url })) as Redis;
    stops.push(() => disconnect(redis));
    clock = new TestClock();
    lost = 0;
    mark = dataMark(redis, () => lost++, clock.read);
  });

  test('is made once, and shared', async () => {
    await mark.learn();
    const made = await server.admin.get(keyOf.dataMark);
    const other = dataMark(redis, () => {});
    expect(await other.lookUp('sg:none')).toBeNull();
    await mark.confirm();
    expect(await server.admin.get(keyOf.dataMark)).toBe(made);
  });

  test('that does not come back for half a minute is lost with the data, and another one is made', async () => {
    await mark.learn();
    await server.admin.flushall();
    await expect(mark.lookUp('sg:none')).rejects.toThrow(CountersError);
    clock.pass(29_999);
    await expect(mark.confirm()).rejects.toThrow('Redis may have come up without its data');
    expect(lost).toBe(0);
    clock.pass(1);
    expect(await mark.lookUp('sg:none')).toBeNull();
    expect(lost).toBe(1);
    expect(await mark.lookUp('sg:none')).toBeNull();
    expect(lost).toBe(1);
  });

  test('says nothing of keys that a replica does not have', async () => {
    await mark.learn();
    await server.admin.set('sg:some', 'text');
    await server.admin.call('REPLICAOF', '127.0.0.1', '1');
    expect(await mark.lookUp('sg:some')).toBe('text');
    await expect(mark.lookUp('sg:none')).rejects.toThrow('Redis is a replica');
    await server.admin.call('REPLICAOF', 'NO', 'ONE');
    expect(await mark.lookUp('sg:none')).toBeNull();
  });
});

const UNKNOWN_ROLE = 'Redis does not report whether it is a master';

describe.each([
  ['the rights that the manual lists', [], true],
  ['the right to ROLE in place of INFO', ['-info', '+role'], true],
  ['the right to a part of INFO', ['-info', '+info|replication'], true],
  ['no right to INFO and ROLE', ['-info'], false],
])('for a user with %s', (_rights, changes, isKnown) => {
  let mark: DataCheck;
  beforeEach(async () => {
    // The client reports that it cannot ask INFO.
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    stops.push(() => warn.mockRestore());
    const redis = (await connect({
      ...DEFAULTS,
      url: await recommendedUser(server, ...changes),
    })) as Redis;
    stops.push(() => disconnect(redis));
    mark = dataMark(redis, () => {});
    await mark.learn();
  });

  test('a demoted master makes no key unknown', async () => {
    await server.admin.set('sg:some', 'text');
    await server.admin.call('REPLICAOF', '127.0.0.1', '1');
    const reason = isKnown ? 'Redis is a replica' : UNKNOWN_ROLE;
    for (let i = 0; i < 30; i++) await expect(mark.lookUp('sg:none')).rejects.toThrow(reason);
    await expect(mark.confirm()).rejects.toThrow(reason);
    expect(await mark.lookUp('sg:some')).toBe('text');
  });

  test(`a master makes ${isKnown ? 'a key' : 'no key'} unknown`, async () => {
    const looked = mark.lookUp('sg:none').catch((error: Error) => error.message);
    expect(await looked).toEqual(isKnown ? null : expect.stringContaining(UNKNOWN_ROLE));
  });

  test(`a start ${isKnown ? 'does not warn' : 'warns'}`, async () => {
    const gateway = await openShared({ url: await recommendedUser(server, ...changes) });
    stops.push(() => gateway.close());
    const warnings = gateway.events.flatMap((event) =>
      event.type === 'state.warning' ? [event.warning] : [],
    );
    expect(warnings).toEqual(isKnown ? [] : [expect.stringContaining(UNKNOWN_ROLE)]);
    // Otherwise the gateway would never be ready.
    expect(await gateway.keys.hasImported()).toBe(!isKnown);
    const record = keyRecord();
    await gateway.keys.add(record, note());
    expect(await gateway.keys.find(record.hash)).toEqual(record);
  });
});
