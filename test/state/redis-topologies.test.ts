import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Connection, connect, disconnect } from '../../src/state/redis/client.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { slotOf } from '../../src/state/redis/shards.ts';
import { HOUR, limits, window } from '../support/limits.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import {
  type ClusterSet,
  startCluster,
  startSentinelSet,
  untilReplicated,
} from '../support/redis/topologies.ts';
import { until } from '../support/until.ts';
import { keepsThePromisesOfState } from './contract.ts';

const HUNDRED = limits([window(100, HOUR)], null);
let gateway: SharedGateway;

async function admitted(count: number, subject: string): Promise<number> {
  let admitted = 0;
  for (let i = 0; i < count; i++)
    if ((await gateway.state.admit(subject, HUNDRED, 1)).verdict === 'admitted') admitted++;
  return admitted;
}

test('a Sentinel that is down prints nothing of the client', async () => {
  const set = await startSentinelSet();
  const requested = Promise.withResolvers<void>();
  const down = createServer((socket) => {
    socket.on('close', () => requested.resolve());
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(down, 'listening');
  const printed = jest.spyOn(console, 'error').mockImplementation(() => {});
  const { port } = down.address() as AddressInfo;
  const nodes = [...set.nodes, `127.0.0.1:${port}`];
  const redis = await connect({ ...DEFAULTS, url: set.url, topology: 'sentinel', nodes });
  try {
    await requested.promise;
    await redis.ping();
    expect(printed).not.toHaveBeenCalled();
  } finally {
    printed.mockRestore();
    disconnect(redis);
    down.close();
    await set.stop();
  }
});

describe('a Cluster', () => {
  let set: ClusterSet;

  describe('of three masters', () => {
    let redis: Connection;
    beforeAll(async () => {
      set = await startCluster();
      redis = await connect({ ...DEFAULTS, url: set.url, topology: 'cluster', nodes: set.nodes });
    });
    afterAll(async () => {
      disconnect(redis);
      await set.stop();
    });

    describe('keeps the promises of State', () => {
      keepsThePromisesOfState(async (clock) => {
        await Promise.all(set.masters.map(({ admin }) => admin.flushall()));
        return createRedisState(redis, { clock: clock.read, deadline: 2_000 });
      });
    });

    test('has the slots that we think', async () => {
      for (const subject of ['key:1', 'account:pro:acme', 'ä', '']) {
        const name = keyOf.counters(subject || 'x');
        expect(slotOf(subject || 'x')).toBe(await set.masters[0]!.admin.cluster('KEYSLOT', name));
      }
    });

    test('carries a reset from one gateway to the other', async () => {
      const settings = { url: set.url, topology: 'cluster', nodes: set.nodes } as const;
      gateway = await openShared(settings);
      const other = await openShared(settings);
      expect(await admitted(101, 'key:shared')).toBe(100);
      await other.state.reset('key:shared');
      await until('the first one has heard', async () => (await admitted(1, 'key:shared')) === 1);
      await Promise.all([gateway.close(), other.close()]);
    });

    test('loses one master: the others count on, and its subjects are counted here', async () => {
      gateway = await openShared({ url: set.url, topology: 'cluster', nodes: set.nodes });
      const subjects = Array.from({ length: 30 }, (_, i) => `key:lost-${i}`);
      for (const subject of subjects) await gateway.state.admit(subject, HUNDRED, 50);
      await set.masters[2]!.kill();
      const total = new Map(subjects.map((subject) => [subject, 50]));
      for (let round = 0; round < 60; round++) {
        for (const subject of subjects) {
          if ((await gateway.state.admit(subject, HUNDRED, 1)).verdict === 'admitted')
            total.set(subject, total.get(subject)! + 1);
        }
      }
      expect(Math.max(...total.values())).toBe(100);
      expect(Math.min(...total.values())).toBe(100);
      expect(gateway.eventCount('state.outage')).toBe(1);
      await gateway.close();
    });
  });

  describe('with replicas', () => {
    beforeAll(async () => {
      set = await startCluster({ replicas: true });
      gateway = await openShared({ url: set.url, topology: 'cluster', nodes: set.nodes });
    });
    afterAll(async () => {
      await gateway.close();
      await set.stop();
    });

    test('recovers when a master dies', async () => {
      const subject = Array.from({ length: 100 }, (_, i) => `key:${i}`).find(
        (s) => slotOf(s) > 11_000,
      )!;
      expect(await admitted(30, subject)).toBe(30);
      await untilReplicated(set.masters[2]!, set.replicas[2]!);
      await set.killMaster(set.masters[2]!);
      expect(await admitted(20, subject)).toBe(20);
      await until('its replica has taken over', async () =>
        /role:master/.test(await set.replicas[2]!.admin.info('replication')),
      );
      await until('what was counted meanwhile is there', async () => {
        await gateway.state.admit(subject, HUNDRED, 0);
        const admission = await Promise.resolve(gateway.state.look(subject, HUNDRED)).catch(
          () => null,
        );
        return admission?.readings[0]?.used === 50;
      });
      expect(await admitted(100, subject)).toBe(50);
    });
  });
});
