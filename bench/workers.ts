/**
 * Throughput of two workers beside one process, on Redis, each with the same share of a core:
 *
 *     node --disable-warning=ExperimentalWarning bench/workers.ts
 *
 * Needs root and control groups. The share leaves two cores enough for the load generator, the
 * backend and Redis, so the gateway alone limits the throughput, as on a larger machine with a core
 * for each process.
 */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { childrenOf } from './cpu.ts';
import { load } from './load.ts';
import { spread } from './statistics.ts';
import { withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import type { Running } from './targets/target.ts';

const { values } = parseArgs({
  options: { share: { type: 'string', default: '0.3' }, rounds: { type: 'string', default: '10' } },
});
const [share, rounds] = [Number(values.share), Number(values.rounds)];

/** Microseconds. */
const PERIOD = 10_000;
const SECONDS = 2;
const WARM_UP = 10;
const CONNECTIONS = 64;

const isOne = existsSync('/sys/fs/cgroup/cpu/cgroup.procs');
const GROUPS = isOne ? '/sys/fs/cgroup/cpu' : '/sys/fs/cgroup';

/** Each process gets its own group, so that none can use the share of another. */
function limit(pid: number): string {
  const group = join(GROUPS, `storegate-bench-${pid}`);
  mkdirSync(group);
  const quota = Math.round(share * PERIOD);
  if (isOne) {
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota));
  } else writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD}`);
  writeFileSync(join(group, 'cgroup.procs'), String(pid));
  return group;
}

/** The processes that handle requests. */
function handlers({ pid }: Running): number[] {
  const workers = childrenOf(pid).filter((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('/worker.'),
  );
  return workers.length > 0 ? workers : [pid];
}

await withSurroundings(process.execPath, async (surroundings) => {
  if (surroundings.redis === null) throw new Error('redis-server is missing');
  const one = await startStoregate('one', surroundings, { redis: true });
  const two = await startStoregate('two', surroundings, { redis: true, workers: 2 });
  const groups: string[] = [];
  const perSecond = async ({ url, keys }: Running, seconds: number) => {
    const request = {
      method: 'GET',
      url: `${url}/pets`,
      headers: { 'X-API-Key': keys.admitted },
      body: null,
    };
    const { folder } = surroundings.children;
    const result = await load(request, { seconds, connections: CONNECTIONS, folder });
    if (result.refusals + result.failures > 0) throw new Error(`${url}: ${JSON.stringify(result)}`);
    return result.requests / result.seconds;
  };
  try {
    for (const running of [one, two]) await perSecond(running, WARM_UP);
    const counts = [one, two].map((running) => {
      const found = handlers(running);
      groups.push(...found.map(limit));
      return found.length;
    });
    if (counts.join() !== '1,2')
      throw new Error(`found ${counts.join(' and ')} processes that handle requests`);
    const [ofOne, ofTwo]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      ofOne.push(await perSecond(one, SECONDS));
      ofTwo.push(await perSecond(two, SECONDS));
    }
    const [first, second] = [spread(ofOne), spread(ofTwo)];
    console.log(
      `each process may use ${share} of a core; requests a second, median of ${rounds} (min, max)`,
    );
    for (const [name, { median, min, max }] of [
      ['one process', first],
      ['two workers', second],
    ] as const)
      console.log(`${name}  ${median.toFixed(0)} (${min.toFixed(0)}, ${max.toFixed(0)})`);
    console.log(`two workers x one: ${(second.median / first.median).toFixed(2)}`);
  } finally {
    for (const running of [one, two]) await running.stop();
    for (const group of groups) rmdirSync(group);
  }
});
