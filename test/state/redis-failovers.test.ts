import { afterEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { followFailovers } from '../../src/state/redis/failovers.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { until } from '../support/until.ts';

/** Says what a Sentinel would say. */
const sentinel = redisForSuite();
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

function follow() {
  const { port } = sentinel.server;
  const redis = new Redis({
    // The second one is down.
    sentinels: [
      { host: '127.0.0.1', port },
      { host: '127.0.0.1', port: 1 },
    ],
    name: 'main',
    lazyConnect: true,
  });
  const followed = { switches: 0, stop: () => {} };
  followed.stop = followFailovers({
    redis,
    options: { retryStrategy: () => 10 },
    switched: () => followed.switches++,
  });
  stops.push(followed.stop);
  return followed;
}

const listeners = async () => (await sentinel.server.admin.pubsub('NUMSUB', '+switch-master'))[1];
const say = (text: string) => sentinel.server.admin.publish('+switch-master', text);

test('each new master is reported once, and another name is not', async () => {
  const followed = follow();
  await until('it listens', async () => (await listeners()) === 1);
  await say('other 127.0.0.1 7001 127.0.0.1 7002');
  await say('main 127.0.0.1 7001 127.0.0.1 7002');
  await say('main 127.0.0.1 7001 127.0.0.1 7002');
  await say('main 127.0.0.1 7002 127.0.0.1 7001');
  await until('both are reported', () => followed.switches >= 2);
  expect(followed.switches).toBe(2);
});

test('it listens again after the Sentinel was away, until it is stopped', async () => {
  const followed = follow();
  await until('it listens', async () => (await listeners()) === 1);
  await sentinel.server.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await until('it listens again', async () => (await listeners()) === 1);
  await say('main 127.0.0.1 7001 127.0.0.1 7002');
  await until('the switch is reported', () => followed.switches === 1);
  followed.stop();
  await until('nothing listens', async () => (await listeners()) === 0);
});
