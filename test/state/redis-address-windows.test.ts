import { beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import type { AddressWindow } from '../../src/common/clients/address-window.ts';
import { remainingIn } from '../../src/limits/admission.ts';
import type { Window } from '../../src/limits/limits.ts';
import { addressWindowsIn } from '../../src/state/redis/address-windows.ts';
import { connect, disconnect } from '../../src/state/redis/client.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { redisForSuite } from '../support/redis/suite.ts';

const own = redisForSuite();
beforeEach(() => own.server.admin.flushall());

const ADDRESS = '198.51.100.1';
const windowOf = (limit: number): Window => ({
  name: 'failures',
  kind: 'fixed',
  limit,
  span: 60_000,
});
const open = (limit: number, isDown = false, workers = 1) =>
  addressWindowsIn(own.redis, { workers, deadline: 5_000, isDown: () => isDown })(windowOf(limit));

async function takes(...windows: readonly AddressWindow[]): Promise<boolean[]> {
  const results = [];
  for (const window of windows) results.push((await window.take(ADDRESS)).exhausted);
  return results;
}

test('processes count in one window', async () => {
  const [one, other] = [open(3), open(3)];
  expect(await takes(one, other, one, other)).toEqual([false, false, false, true]);
  for (const window of [one, other])
    expect(remainingIn((await window.look(ADDRESS)).readings[0]!)).toBe(0);
  expect(remainingIn((await other.look('198.51.100.2')).readings[0]!)).toBe(3);
  expect(await own.server.admin.pttl(`${keyOf.windows('failures')}:${ADDRESS}`)).toBeGreaterThan(0);
});

test('an IPv6 /64 is one client', async () => {
  const window = open(1);
  await window.take('2001:db8::1');
  expect((await window.take('2001:db8::2')).exhausted).toBe(true);
});

test('a client that is known to be exhausted costs no call', async () => {
  const window = open(1);
  await takes(window, window);
  await own.server.admin.config('RESETSTAT');
  const { readings, now } = await window.take(ADDRESS);
  expect(readings[0]!.resetAt).toBeGreaterThan(now);
  expect(await own.server.admin.info('commandstats')).not.toMatch(/cmdstat_(evalsha|eval|get):/);
});

test('while Redis is known to be down, each worker counts up to its share', async () => {
  const [one, other] = [open(4, true, 2), open(4, true, 2)];
  expect(await takes(one, one, one, other, other, other)).toEqual([
    false,
    false,
    true,
    false,
    false,
    true,
  ]);
  expect(await own.server.admin.dbsize()).toBe(0);
});

test('a process continues to count by itself when Redis dies, and no request fails', async () => {
  const server = await startRedis();
  const redis = await connect({ ...DEFAULTS, url: server.url });
  const window = addressWindowsIn(redis, { workers: 1, deadline: 5_000, isDown: () => false })(
    windowOf(2),
  );
  expect(await takes(window)).toEqual([false]);
  await server.kill();
  expect(await takes(window, window, window)).toEqual([false, false, true]);
  expect(remainingIn((await window.look(ADDRESS)).readings[0]!)).toBe(0);
  disconnect(redis);
  await server.stop();
});

test('a process continues to count by itself while Redis gives no reply in time', async () => {
  // Nothing but the deadline ends a command of this connection.
  const redis = new Redis(own.server.url);
  await redis.ping();
  const window = addressWindowsIn(redis, { workers: 1, deadline: 20, isDown: () => false })(
    windowOf(2),
  );
  await own.server.admin.call('CLIENT', 'PAUSE', '600000', 'WRITE');
  expect(await takes(window, window, window)).toEqual([false, false, true]);
  expect(remainingIn((await window.look(ADDRESS)).readings[0]!)).toBe(0);
  redis.disconnect();
  await own.server.admin.call('CLIENT', 'UNPAUSE');
});
