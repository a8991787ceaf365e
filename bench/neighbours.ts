/**
 * Latency of a client beside connections that send large bodies:
 *
 *     node --disable-warning=ExperimentalWarning bench/neighbours.ts --before main
 *
 * `--before` measures a commit, too, in turns.
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkOut } from '../test/support/checkout.ts';
import { cpuTime } from './cpu.ts';
import { load } from './load.ts';
import { pace } from './pace.ts';
import { percentile, spread } from './statistics.ts';
import { withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { requestOf, works } from './work.ts';

const ROUNDS = 4;
const SECONDS = 8;
const CONNECTIONS = 8;
/** Per second. */
const RATE = 200;

const { values } = parseArgs({ options: { before: { type: 'string' } } });
const workOf = (name: string) => works.find((work) => work.name === name)!;

await withSurroundings(process.execPath, async (surroundings) => {
  const { folder } = surroundings.children;
  const projects = [{ name: 'today', folder: join(import.meta.dirname, '..') }];
  if (values.before !== undefined) projects.unshift(checkOut(values.before, folder));
  const gateways = [];
  for (const { name, folder: project } of projects) {
    const running = await startStoregate(name, surroundings, { project });
    gateways.push({ name, ...running, rounds: [] as number[][] });
  }
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { url, keys, pid, rounds } of gateways) {
      const before = cpuTime(pid);
      const [{ requests, refusals, failures }, times] = await Promise.all([
        load(requestOf(workOf('post-1m'), url, keys), { seconds: SECONDS, connections: CONNECTIONS, folder }),
        pace(requestOf(workOf('get'), url, keys), { rate: RATE, seconds: SECONDS - 1 }),
      ]);
      if (refusals + failures > 0) throw new Error(`${refusals} bodies were refused, ${failures} not answered`);
      const cpu = (cpuTime(pid) - before) / 1_000 / requests;
      if (round > 0) rounds.push([percentile(times, 0.5), percentile(times, 0.99), times.at(-1)!, requests, cpu]);
    }
  }
  console.log('ms of GETs       p50     p99     max   bodies  CPU ms per body');
  for (const { name, rounds } of gateways) {
    const medians = rounds[0]!.map((_, i) => spread(rounds.map((round) => round[i]!)).median);
    const cells = medians.map((value) => value.toFixed(1).padStart(8));
    console.log(name.padEnd(12), ...cells);
  }
});
