import { afterEach, expect, jest, test } from '@jest/globals';
import type { Cluster } from 'ioredis';
import { Outage } from '../../src/common/errors/outage.ts';
import { connect, disconnect } from '../../src/state/redis/client.ts';
import { clusterData } from '../../src/state/redis/data-checks.ts';
import { slotOf } from '../../src/state/redis/shards.ts';
import { CountersError } from '../../src/state/state.ts';
import { TestClock } from '../support/limits.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import {
  type ClusterSet,
  comeUpEmpty,
  startCluster,
  untilReplicated,
} from '../support/redis/topologies.ts';
import { recommendedUser } from '../support/redis/user.ts';
import { until } from '../support/until.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function open(options?: { readonly replicas: boolean }): Promise<ClusterSet> {
  const set = await startCluster(options);
  stops.push(() => set.stop());
  return set;
}

const settingsOf = ({ url, nodes }: ClusterSet) => ({ url, topology: 'cluster', nodes }) as const;

async function gatewayOn(set: ClusterSet): Promise<SharedGateway> {
  const gateway = await openShared(settingsOf(set));
  stops.push(() => gateway.close());
  return gateway;
}

/** A hash whose record the third master has, and one that it does not have. */
const LAST = hashIn((slot) => slot > 11_000);
const OTHER = hashIn((slot) => slot < 10_000);

function hashIn(isThere: (slot: number) => boolean): string {
  return Array.from({ length: 1_000 }, (_, i) => `unknown-${i}`).find((hash) =>
    isThere(slotOf(hash)),
  )!;
}

async function found({ keys }: SharedGateway, hash: string): Promise<unknown> {
  return Promise.resolve(keys.find(hash)).catch((error: unknown) => error);
}

const isCountersError = (error: unknown) =>
  error instanceof Outage && error.cause instanceof CountersError;

test('a master of a Cluster that comes up without its data makes no key unknown', async () => {
  const set = await open();
  const gateway = await gatewayOn(set);
  expect(await gateway.keys.find(LAST)).toBeNull();
  await comeUpEmpty(set.masters[2]!);
  const outcomes: unknown[] = [];
  await until('the gateway reaches it', async () => {
    outcomes.push(await found(gateway, LAST));
    return isCountersError(outcomes.at(-1));
  });
  expect(outcomes).not.toContain(null);
  // The other masters have their data.
  expect(await found(gateway, OTHER)).toBeNull();
});

test('a replica that takes over has the data of its master', async () => {
  const set = await open({ replicas: true });
  const gateway = await gatewayOn(set);
  const [master, replica] = [set.masters[2]!, set.replicas[2]!];
  expect(await gateway.keys.find(LAST)).toBeNull();
  await untilReplicated(master, replica);
  await master.kill();
  await until('the replica has taken over', async () =>
    /role:master/.test(await replica.admin.info('replication')),
  );
  const outcomes: unknown[] = [];
  await until('the gateway reaches it', async () => {
    outcomes.push(await found(gateway, LAST));
    return outcomes.at(-1) === null;
  });
  expect(outcomes.some(isCountersError)).toBe(false);
});

test('data that stays unknown for half a minute is the data from then on', async () => {
  const set = await open();
  const redis = (await connect({ ...DEFAULTS, ...settingsOf(set) })) as Cluster;
  stops.push(() => disconnect(redis));
  const clock = new TestClock();
  let lost = 0;
  const data = clusterData(redis, () => lost++, clock.read);
  await data.learn();
  await data.confirm();
  await comeUpEmpty(set.masters[2]!);
  const failure = () => data.lookUp(`{${LAST}}`).then(String, (error: Error) => error.message);
  await until('it is reached', async () => (await failure()).startsWith('Redis may have come up'));
  clock.pass(29_999);
  await expect(data.confirm()).rejects.toThrow('Redis may have come up without its data');
  expect(lost).toBe(0);
  clock.pass(1);
  expect(await data.lookUp(`{${LAST}}`)).toBeNull();
  await data.confirm();
  expect(lost).toBe(1);
});

test('a Cluster that does not report the id of its data makes no key unknown', async () => {
  const warn = jest.spyOn(console, 'warn').mockReturnValue();
  stops.push(() => warn.mockRestore());
  const set = await open();
  const [url] = await Promise.all(
    set.masters.map((master) => recommendedUser(master, '+cluster', '-info', '+role')),
  );
  const redis = (await connect({ ...DEFAULTS, ...settingsOf(set), url: url! })) as Cluster;
  stops.push(() => disconnect(redis));
  const data = clusterData(redis, () => {});
  await data.learn();
  await expect(data.lookUp(`sg:{${LAST}}`)).rejects.toThrow('Redis does not report');
  await expect(data.confirm()).rejects.toThrow('Redis does not report');
  expect(await data.warnings()).toEqual([expect.stringContaining('+info')]);
  await Promise.all(set.masters.map(({ admin }) => admin.acl('SETUSER', 'gateway', '+info')));
  expect(await data.lookUp(`sg:{${LAST}}`)).toBeNull();
  expect(await data.warnings()).toEqual([]);
});
