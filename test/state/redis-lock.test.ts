import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { keyOf, LOCK_TTL } from '../../src/state/redis/key-names.ts';
import { holdLock, releaseLock, tryLock } from '../../src/state/redis/lock.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => server.admin.flushall());

const tryMany = (name: string) =>
  Promise.all(Array.from({ length: 12 }, () => tryLock(server.admin, name)));

test('one of many callers gets a lock, and one more after its release', async () => {
  expect((await tryMany('a')).filter(Boolean)).toHaveLength(1);
  expect(await tryLock(server.admin, 'b')).toBe(true);
  await releaseLock(server.admin, 'a');
  expect((await tryMany('a')).filter(Boolean)).toHaveLength(1);
});

test('a lock has a lifetime, which its holder sets again', async () => {
  const remaining = () => server.admin.pttl(keyOf.lock('a'));
  await tryLock(server.admin, 'a');
  expect(await remaining()).toBeGreaterThan(0);
  expect(await remaining()).toBeLessThanOrEqual(LOCK_TTL);
  await server.admin.pexpire(keyOf.lock('a'), 2 * LOCK_TTL);
  await holdLock(server.admin, 'a');
  expect(await remaining()).toBeLessThanOrEqual(LOCK_TTL);
});
