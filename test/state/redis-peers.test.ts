import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Peers } from '../../src/observe/peers/peers.ts';
import type { GatewayStatus } from '../../src/observe/peers/status.ts';
import { connect, disconnect } from '../../src/state/redis/client.ts';
import { keyOf, QUESTIONS } from '../../src/state/redis/key-names.ts';
import { peersInRedis } from '../../src/state/redis/peers.ts';
import { reasonText } from '../../src/state/redis/shards.ts';
import { createSubscriber, type Subscriber } from '../../src/state/redis/subscriber.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { STATUS } from '../support/status.ts';
import { until } from '../support/until.ts';

const own = redisForSuite();
const opened: Peers[] = [];
const subscribers: Subscriber[] = [];

beforeEach(() => own.server.admin.flushall());
afterEach(async () => {
  for (const peers of opened.splice(0)) await peers.close();
  for (const subscriber of subscribers.splice(0)) subscriber.close();
});

/**
 * A gateway of this name that answers what `status` does, known to all as soon as this resolves.
 */
async function join(name: string, status: () => unknown): Promise<Peers> {
  const response = (question: string) => (question === 'status' ? Promise.resolve(status()) : null);
  const failed = (error: unknown) => {
    throw error;
  };
  const subscriber = createSubscriber(own.redis);
  subscribers.push(subscriber);
  const peers = peersInRedis(own.redis, subscriber, { self: { name, respond: response }, failed });
  opened.push(peers);
  await until(
    'it is known',
    async () => (await own.server.admin.zscore(keyOf.peers, name)) !== null,
  );
  return peers;
}

test('a failure of the own answer is returned, although others have yet to answer', async () => {
  const one = await join('one', () => Promise.reject(new Error('broken')));
  await own.server.admin.zadd(keyOf.peers, Date.now() + 60_000, 'gone');
  await expect(one.ask('status', null)).rejects.toThrow('broken');
});

test('a flood of questions has few answers under way', async () => {
  let requested = 0;
  const { promise, resolve } = Promise.withResolvers<GatewayStatus>();
  await join('one', () => {
    requested++;
    return promise;
  });
  const two = await join('two', () => STATUS);
  const from = '00000000-0000-4000-8000-000000000000';
  await until('it listens', async () => {
    await own.server.admin.publish(
      QUESTIONS,
      JSON.stringify({ from, id: 'a', question: 'status' }),
    );
    return requested > 0;
  });
  for (let i = 0; i < 100; i++)
    await own.server.admin.publish(
      QUESTIONS,
      JSON.stringify({ from, id: 'a', question: 'status' }),
    );
  // Redis delivers messages in order: a gateway that received the last one has received all.
  expect((await two.ask('status', null)).unresponsive).toEqual(['one']);
  expect(requested).toBeLessThan(50);
  resolve(STATUS);
  await until(
    'it answers again',
    async () => (await two.ask('status', null)).responses.length === 2,
  );
});

test('the reason why the others could not be asked is in our words, not in those of the client', async () => {
  const redis = await connect({ ...DEFAULTS, url: own.server.url });
  disconnect(redis);
  const error = await redis.zrange(keyOf.peers, '0', '-1').catch((reason: unknown) => reason);
  expect(reasonText(redis, error)).toBe('not connected to Redis: the connection was closed');
  expect(reasonText(redis, new Error('NOPERM'))).toBe('NOPERM');
});

test('the reason why the others could not be asked is returned when Redis does not answer', async () => {
  const one = await join('one', () => STATUS);
  await own.server.admin.zadd(keyOf.peers, Date.now() + 60_000, 'gone');
  await own.server.admin.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  try {
    const { responses, unresponsive, isolated } = await one.ask('status', null);
    expect([responses.length, unresponsive, isolated]).toEqual([
      1,
      [],
      'Redis did not respond within 1500 ms',
    ]);
  } finally {
    await own.server.admin.call('CLIENT', 'UNPAUSE');
  }
});

test('a unresponsive gateway is reported with the time, and one that stops is forgotten', async () => {
  const one = await join('one', () => STATUS);
  const two = await join('two', () => STATUS);
  const now = Date.now();
  await own.server.admin.zadd(keyOf.peers, now - 3_600_000, 'hung', now - 90_000_000, 'long ago');
  await two.close();
  await until(
    'it is announced again',
    async () => (await own.server.admin.zscore(keyOf.peers, 'long ago')) === null,
  );
  const { responses, unresponsive, lost } = await one.ask('status', null);
  expect(responses.map(({ gateway }) => gateway)).toEqual(['one']);
  expect([unresponsive, lost]).toEqual([[], [{ gateway: 'hung', at: now - 3_600_000 }]]);
  expect(await own.server.admin.pttl(keyOf.peers)).toBeGreaterThan(80_000_000);
});
