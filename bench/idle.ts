/**
 * What an idle gateway costs, embedded, with Redis and with workers:
 *
 *     node --disable-warning=ExperimentalWarning bench/idle.ts --before main
 *
 * All gateways rest and are measured at the same time. `--before` measures a commit, too.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { proportionalMemory, residentMemory, wakeUps } from './cpu.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { startStoregate } from './targets/storegate-process.ts';

/** V8 returns the memory of a start 100 seconds after its last collection. */
const REST = 120_000;

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '4' },
  },
});
const seconds = Number(values.seconds);
const KINDS = {
  embedded: {},
  redis: { redis: true },
  workers: { redis: true, workers: Number(values.workers) },
};

await withSurroundings(async (surroundings) => {
  const gateways: { name: string; pid: number }[] = [];
  const projects = checkouts(values.before, surroundings.children.folder);
  for (const [kind, options] of Object.entries(KINDS))
    for (const { name: project, folder } of projects) {
      const name = `${kind}-${project}`;
      const { pid } = await startStoregate(name, surroundings, { ...options, project: folder });
      gateways.push({ name, pid });
    }
  await pause(REST);
  const before = gateways.map(({ pid }) => wakeUps(pid));
  await pause(seconds * 1_000);
  console.log('gateway                CPU ms/s   wake-ups/s   RSS MiB   PSS MiB');
  for (const [i, { name, pid }] of gateways.entries()) {
    const now = wakeUps(pid);
    const cells = [
      ((now.nanoseconds - before[i]!.nanoseconds) / 1e6 / seconds).toFixed(2).padStart(9),
      ((now.times - before[i]!.times) / seconds).toFixed(1).padStart(12),
      (residentMemory(pid) / 2 ** 20).toFixed(0).padStart(9),
      (proportionalMemory(pid) / 2 ** 20).toFixed(0).padStart(9),
    ];
    console.log(name.padEnd(22), ...cells);
  }
});
