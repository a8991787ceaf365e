import { expect, test } from '@jest/globals';
import { Cluster } from 'ioredis';
import '../../src/state/redis/client-patches.ts';
import { until } from '../support/until.ts';

interface Refreshing {
  slotsTimer: NodeJS.Timeout | null;
  refreshSlotsCache: (done: () => void) => void;
  resetNodesRefreshInterval(): void;
}

function refreshing() {
  const cluster = new Cluster([{ port: 1 }], { lazyConnect: true, slotsRefreshInterval: 1 });
  const rounds: (() => void)[] = [];
  const internal = cluster as unknown as Refreshing;
  internal.refreshSlotsCache = (done) => void rounds.push(done);
  internal.resetNodesRefreshInterval();
  return { cluster, internal, rounds };
}

test('the slots of a Cluster are asked for again and again, and not after a disconnect', async () => {
  const { cluster, internal, rounds } = refreshing();
  await until('the first round', () => rounds.length === 1);
  rounds[0]!();
  await until('the second round', () => rounds.length === 2);
  cluster.disconnect();
  rounds[1]!();
  expect(internal.slotsTimer).toBeNull();
});

test('a round that ends after a reconnection starts no second series', async () => {
  const { cluster, internal, rounds } = refreshing();
  await until('the first round', () => rounds.length === 1);
  cluster.disconnect();
  internal.resetNodesRefreshInterval();
  const timer = internal.slotsTimer;
  rounds[0]!();
  expect(internal.slotsTimer).toBe(timer);
  cluster.disconnect();
});
