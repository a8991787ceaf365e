import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RedisSettings } from '../../src/config/config.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { DAY, HOUR, limits, SECOND, window } from '../support/limits.ts';
import type { Admitted, CallerReport, Orders } from '../support/redis/caller.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { type ClusterSet, startCluster } from '../support/redis/topologies.ts';

const GATEWAYS = 4;
const CALLERS = 200;
const CALLER = join(import.meta.dirname, '../support/redis/caller.ts');

let gateways: ChildProcess[];
beforeAll(() => {
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  gateways = Array.from({ length: GATEWAYS }, () => fork(CALLER, { execArgv }));
});
afterAll(async () => {
  const ended = gateways.map((gateway) => once(gateway, 'exit'));
  for (const gateway of gateways) gateway.disconnect();
  await Promise.all(ended);
});

/** Sends a message to the four processes; returns the answer of each. */
async function send(message: Orders | 'go'): Promise<unknown[]> {
  const responses = gateways.map((gateway) => once(gateway, 'message'));
  for (const gateway of gateways) gateway.send(message);
  return (await Promise.all(responses)).map(([response]) => response);
}

/** Has four processes begin together once all are ready; returns every admitted request. */
async function flood(orders: Omit<Orders, 'callers'>): Promise<Admitted[]> {
  await send({ ...orders, callers: CALLERS / GATEWAYS });
  const reports = (await send('go')) as CallerReport[];
  expect(reports.map(({ outages }) => outages)).toEqual([0, 0, 0, 0]);
  return reports.flatMap(({ admitted }) => admitted);
}

function exactly(limit: number): number[] {
  return [...new Array(limit).keys()];
}

const remainingOf = (admitted: readonly Admitted[], subject: string) =>
  admitted
    .filter(([of]) => of === subject)
    .map(([, remaining]) => remaining)
    .sort((a, b) => a - b);

function suite(settings: () => RedisSettings): void {
  const lenient = (windows: Parameters<typeof limits>[0]): Limits => limits(windows, null);

  test('200 clients of one key get exactly its limit, and every remainder once', async () => {
    const given = lenient([window(700, HOUR), window(2_000, DAY)]);
    const admitted = await flood({
      settings: settings(),
      subjects: ['key:one'],
      limits: given,
      requests: 300,
    });
    expect(remainingOf(admitted, 'key:one')).toEqual(exactly(700));
  });

  test('so do several accounts at once', async () => {
    const subjects = [
      'account:pro:a',
      'account:pro:b',
      'account:pro:c',
      'account:pro:d',
      'account:pro:e',
    ];
    const given = lenient([window(200, HOUR), window(300, DAY, 'sliding')]);
    const admitted = await flood({ settings: settings(), subjects, limits: given, requests: 100 });
    for (const subject of subjects) expect(remainingOf(admitted, subject)).toEqual(exactly(200));
  });

  test('each window of a run is filled exactly, never one more and never one less', async () => {
    const given = lenient([window(150, SECOND / 2)]);
    const admitted = await flood({
      settings: settings(),
      subjects: ['key:many'],
      limits: given,
      requests: { windows: 4 },
    });
    const windows = Map.groupBy(admitted, ([, , resetAt]) => resetAt);
    const counts = [...windows]
      .sort(([a], [b]) => a - b)
      .map(([, of]) => of.map(([, remaining]) => remaining).sort((a, b) => a - b));
    expect(counts.length).toBeGreaterThanOrEqual(4);
    for (const count of counts.slice(0, -1)) expect(count).toEqual(exactly(150));
    expect(counts.at(-1)!.length).toBeLessThanOrEqual(150);
  });
}

/**
 * The deadline is long, because two hundred callers share the test machine's processors with Redis.
 */
const PATIENT = { ...DEFAULTS, deadline: 5_000 };

describe('four gateways on one Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  suite(() => ({ ...PATIENT, url: server.url }));
});

describe('four gateways on a Cluster of three masters', () => {
  let set: ClusterSet;
  beforeAll(async () => {
    set = await startCluster();
  });
  afterAll(() => set.stop());
  suite(() => ({ ...PATIENT, url: set.url, topology: 'cluster', nodes: set.nodes }));
});
