import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { keyOf, LOCK_TTL } from '../../src/state/redis/key-names.ts';
import { withLocks } from '../../src/state/redis/lock.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => server.admin.flushall());

const held = () => server.admin.keys('*');

test('work under one name is done one after the other, in whatever order the names are given', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++inside);
    await server.admin.ping();
    inside--;
  };
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      withLocks(server.admin, i % 2 ? ['a', 'b', 'a'] : ['b', 'a'], work),
    ),
  );
  expect(most).toBe(1);
  expect(await held()).toEqual([]);
});

test('work under other names is not held up', async () => {
  await withLocks(server.admin, ['a'], () => withLocks(server.admin, ['b'], async () => {}));
  await withLocks(server.admin, [], async () => expect(await held()).toEqual([]));
});

test('a lock is given back where the work fails, and has an end where its holder dies', async () => {
  await expect(
    withLocks(server.admin, ['a'], async () => {
      expect(await held()).toEqual([keyOf.lock('a')]);
      expect(await server.admin.pttl(keyOf.lock('a'))).toBeGreaterThan(0);
      expect(await server.admin.pttl(keyOf.lock('a'))).toBeLessThanOrEqual(LOCK_TTL);
      throw new Error('failed');
    }),
  ).rejects.toThrow('failed');
  expect(await held()).toEqual([]);
});

test('a waiting caller continues when the lock of a dead holder ends', async () => {
  await server.admin.set(keyOf.lock('a'), '');
  let done = false;
  const waiting = withLocks(server.admin, ['a', 'b'], async () => {
    done = true;
  });
  await until('it has asked', async () =>
    /cmdstat_set:calls=([3-9]|\d\d)/.test(await server.admin.info('commandstats')),
  );
  expect(done).toBe(false);
  await server.admin.del(keyOf.lock('a'));
  await waiting;
  expect(done).toBe(true);
});

test('a caller that waits too long gets an outage, and holds nothing', async () => {
  await server.admin.set(keyOf.lock('b'), '');
  await expect(withLocks(server.admin, ['a', 'b'], async () => {})).rejects.toBeInstanceOf(Outage);
  expect(await held()).toEqual([keyOf.lock('b')]);
});
