import { afterEach, expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { type Connection, connect, disconnect } from '../../src/state/redis/client.ts';
import { CHANNEL } from '../../src/state/redis/key-names.ts';
import { createBus, createSubscriber } from '../../src/state/redis/subscriber.ts';
import { openFailovers } from '../support/redis/failovers.ts';
import { startProxy } from '../support/redis/proxy.ts';
import { startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { until } from '../support/until.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

test('a client that gave up connects again, and so does the one that listens', async () => {
  const server = await startRedis();
  stops.push(() => server.stop());
  const redis = await connect({ ...DEFAULTS, url: server.url });
  stops.push(() => disconnect(redis));
  const copy = redis.duplicate.bind(redis) as (options: object) => Connection;
  const copies: Connection[] = [];
  redis.duplicate = ((options: object) => {
    copies.push(copy(options));
    return copies.at(-1);
  }) as typeof redis.duplicate;
  const events: Event[] = [];
  const subscriber = createSubscriber(redis);
  stops.push(() => subscriber.close());
  const bus = createBus(subscriber, (event) => void events.push(event));
  await until('it listens', () => bus.isLive);
  events.length = 0;
  const received: string[] = [];
  bus.listen(({ type }) => void received.push(type));

  for (const client of [redis, ...copies]) {
    const ended = new Promise((resolve) => client.once('end', resolve));
    client.disconnect();
    await ended;
  }
  await until('both are back', () => [redis, ...copies].every(({ status }) => status === 'ready'));
  expect(await redis.ping()).toBe('PONG');
  await until('it listens again', () => received.includes('anything'));
  expect(events.at(0)).toEqual({ type: 'state.connection', of: 'messages', isCut: true });
  expect(events.at(-1)).toEqual({ type: 'state.connection', of: 'messages', isCut: false });
  await server.admin.publish(CHANNEL, 's:key:1');
  await until('it hears', () => received.includes('subject'));
});

test('a connection is dropped once Redis was silent for two seconds, not where this process was held up for so long', async () => {
  const server = await startRedis();
  stops.push(() => server.stop());
  const proxy = await startProxy(server.port);
  stops.push(() => proxy.stop());
  const near = await connect({ ...DEFAULTS, url: server.url });
  const far = await connect({ ...DEFAULTS, url: proxy.url });
  stops.push(() => [near, far].map(disconnect));
  proxy.replies = 'hold';
  // After this turn of the event loop timers come first, then what has arrived.
  await new Promise((resolve) => setImmediate(resolve));
  const [held, silent] = [near.ping(), far.ping()];
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
  expect(await held).toBe('PONG');
  await expect(silent).rejects.toThrow();
});

test('a subscription that Redis refuses for a while is tried again on the same connection', async () => {
  const server = await startRedis();
  stops.push(() => server.stop());
  const redis = await connect({ ...DEFAULTS, url: server.url });
  stops.push(() => disconnect(redis));
  const received: string[] = [];
  const subscriber = createSubscriber(redis);
  stops.push(() => subscriber.close());
  const bus = createBus(subscriber, () => {});
  bus.listen(({ type }) => void received.push(type));
  await until('it listens', () => bus.isLive);

  await server.admin.acl('SETUSER', 'default', 'resetchannels');
  await server.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await until('it is refused', async () =>
    /cmdstat_subscribe:.*rejected_calls=[1-9]/.test(await server.admin.info('commandstats')),
  );
  await server.admin.acl('SETUSER', 'default', 'allchannels');
  await until('it listens again', () => bus.isLive);
  await server.admin.publish(CHANNEL, 's:key:1');
  await until('it hears', () => received.includes('subject'));
});

test('every client of several gateways reconnects after the master died, with slow Sentinels, and no key is unknown meanwhile', async () => {
  const set = await openFailovers({ gateways: 2, distance: 150 });
  stops.push(() => set.stop());
  for (let i = 0; i < 2; i++) {
    const returns = await set.next(60_000);
    expect(returns).toHaveLength(4);
    expect(returns.filter(({ after }) => after === null)).toEqual([]);
  }
  expect(set.lookUps.found).toBeGreaterThan(0);
  expect(set.lookUps.wrong).toBe(0);
}, 180_000);
