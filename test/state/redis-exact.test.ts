import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RedisSettings } from '../../src/config/config.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { DAY, HOUR, limits, SECOND, window } from '../support/limits.ts';
import type { Admitted, CallerReport, Orders } from '../support/redis/caller.ts';
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

const lenient = (windows: Parameters<typeof limits>[0]): Limits => limits(windows, null);

describe('four gateways on a Cluster of three masters', () => {
  let set: ClusterSet;
  let settings: RedisSettings;
  beforeAll(async () => {
    set = await startCluster();
    // The deadline is long, because two hundred callers share the processors with Redis.
    const patient = { ...DEFAULTS, deadline: 5_000 };
    settings = { ...patient, url: set.url, topology: 'cluster', nodes: set.nodes };
  });
  afterAll(() => set.stop());

  test('give 200 clients of each of several accounts exactly its limit, and every remainder once', async () => {
    const subjects = ['a', 'b', 'c', 'd', 'e'].map((account) => `account:pro:${account}`);
    const given = lenient([window(200, HOUR), window(300, DAY, 'sliding')]);
    const admitted = await flood({ settings, subjects, limits: given, requests: 100 });
    for (const subject of subjects) expect(remainingOf(admitted, subject)).toEqual(exactly(200));
  });

  test('fill each window of a run exactly, never one more and never one less', async () => {
    const admitted = await flood({
      settings,
      subjects: ['key:many'],
      limits: lenient([window(150, SECOND / 2)]),
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
});
