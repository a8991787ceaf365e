/**
 * What an idle gateway costs, embedded, with Redis and with workers:
 *
 *     node --disable-warning=ExperimentalWarning bench/idle.ts --before main
 *
 * All gateways rest and are measured at the same time. `--before` measures a commit, too.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { proportionalMemory, residentMemory, wakeUps } from './cpu.ts';
import { readOptions } from './options.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { printHead, printRow } from './table.ts';
import { startStoregate } from './targets/storegate-process.ts';

/** V8 returns the memory of a start 100 seconds after its last collection. */
const REST = 120_000;
const SECONDS = 20;
const KINDS = {
  embedded: {},
  redis: { redis: true },
  workers: { redis: true, env: { STOREGATE_WORKERS: '4' } },
};

const { before } = readOptions({ before: null });
await withSurroundings(async (surroundings) => {
  const gateways: { name: string; pid: number }[] = [];
  const projects = checkouts(before, surroundings.children.folder);
  for (const [kind, options] of Object.entries(KINDS))
    for (const { name: commit, folder: project } of projects) {
      const name = `${kind}-${commit}`;
      const child = await startStoregate(name, surroundings, { ...options, project });
      gateways.push({ ...child, name });
    }
  await pause(REST);
  const first = gateways.map(({ pid }) => wakeUps(pid));
  await pause(SECONDS * 1_000);
  printHead('gateway', 'CPU ms/s', 'wake-ups/s', 'RSS MiB', 'PSS MiB');
  for (const [i, { name, pid }] of gateways.entries()) {
    const now = wakeUps(pid);
    printRow(
      name,
      ((now.nanoseconds - first[i]!.nanoseconds) / 1e6 / SECONDS).toFixed(2),
      ((now.times - first[i]!.times) / SECONDS).toFixed(1),
      (residentMemory(pid) / 2 ** 20).toFixed(0),
      (proportionalMemory(pid) / 2 ** 20).toFixed(0),
    );
  }
});
