import { afterEach, expect, test } from '@jest/globals';
import type { Event } from '../../src/observe/events.ts';
import { openBus } from '../../src/state/redis/bus.ts';
import { type Connection, connect } from '../../src/state/redis/client.ts';
import { CHANNEL } from '../../src/state/redis/key-names.ts';
import { disconnect } from '../../src/state/redis/lasting.ts';
import { HOUR, limits, window } from '../support/limits.ts';
import { openShared } from '../support/redis/gateway.ts';
import { startProxy } from '../support/redis/proxy.ts';
import { startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { startSentinelSet } from '../support/redis/topologies.ts';
import { until } from '../support/until.ts';

const WIDE = limits([window(1e6, HOUR)], null);
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
  const told: Event[] = [];
  const bus = await openBus(redis, (event) => void told.push(event));
  stops.push(() => bus.close());
  const heard: string[] = [];
  bus.listen(({ type }) => void heard.push(type));

  for (const client of [redis, ...copies]) {
    const ended = new Promise((resolve) => client.once('end', resolve));
    client.disconnect();
    await ended;
  }
  await until('both are back', () => [redis, ...copies].every(({ status }) => status === 'ready'));
  expect(await redis.ping()).toBe('PONG');
  await until('it listens again', () => heard.includes('anything'));
  expect(told.at(0)).toEqual({ type: 'state.connection', of: 'messages', isCut: true });
  expect(told.at(-1)).toEqual({ type: 'state.connection', of: 'messages', isCut: false });
  await server.admin.publish(CHANNEL, 's:key:1');
  await until('it hears', () => heard.includes('subject'));
}, 20_000);

test('a gateway finds the master also where the Sentinels tell of it while it looks for it', async () => {
  const set = await startSentinelSet();
  stops.push(() => set.stop());
  const ports = [new URL(set.url).port, ...set.nodes.map((node) => node.split(':')[1])];
  const proxies = await Promise.all(ports.map((port) => startProxy(Number(port))));
  for (const proxy of proxies) {
    proxy.replies = { delay: 150 };
    stops.push(() => proxy.stop());
  }
  const [first, ...others] = proxies.map(({ url }) => url);
  const nodes = others.map((url) => url.slice('redis://'.length));
  const gateway = await openShared({ url: first!, topology: 'sentinel', nodes });
  stops.push(() => gateway.close());

  let [master, replica] = [set.master, set.replica];
  // The gateway then looks for the master while the news of it is still on its way there.
  await set.whenSwitched(() => {
    for (const type of ['normal', 'pubsub']) void replica.admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
  });
  for (let i = 0; i < 2; i++) {
    [master, replica] = [replica, master];
    await until('the Sentinels begin a failover', () => set.failover());
    await until('the replica has taken over', async () => /role:master/.test(await master.admin.info('replication')));
    await until('the other one follows', async () =>
      /master_link_status:up/.test(await replica.admin.info('replication')),
    );
    await until('the gateway counts there', async () => {
      await gateway.state.admit('key:1', WIDE, 1);
      return (await Promise.resolve(gateway.state.look('key:1', WIDE)).catch(() => null)) !== null;
    });
    await until('the gateway listens there', async () => {
      const [, listeners] = (await master.admin.pubsub('NUMSUB', CHANNEL)) as [string, number];
      return listeners === 1;
    });
  }
}, 90_000);
