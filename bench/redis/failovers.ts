/**
 * Kills the master of a Sentinel set repeatedly and checks that every client of the gateways
 * reconnects:
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/failovers.ts --failovers 32
 *
 * A master, two replicas and three Sentinels, `--distance` milliseconds from `--gateways` gateways
 * with two clients each. The killed master restarts empty. Exits with 1 if a client stays
 * disconnected or a gateway refuses the key (401).
 */

import { parseArgs } from 'node:util';
import { openFailovers, type Return } from '../../test/support/redis/failovers.ts';

const { values } = parseArgs({
  options: {
    failovers: { type: 'string', default: '32' },
    gateways: { type: 'string', default: '4' },
    distance: { type: 'string', default: '150' },
    patience: { type: 'string', default: '30000' },
  },
});
const [failovers, gateways, distance, patience] = [
  values.failovers,
  values.gateways,
  values.distance,
  values.patience,
].map(Number) as [number, number, number, number];

const set = await openFailovers({ gateways, distance });
const returns: Return[] = [];
try {
  for (let done = 1; done <= failovers; done++) {
    returns.push(...(await set.next(patience)));
    console.error(`${done} of ${failovers}: ${summary(returns)}; ${set.lookUps.wrong} x 401`);
  }
} finally {
  await set.stop();
}
console.log(`${failovers} deaths of the master, ${gateways} gateways, Sentinels at a distance of ${distance} ms
${summary(returns)}
${set.lookUps.found + set.lookUps.outages + set.lookUps.wrong} look-ups of a key: ${set.lookUps.outages} x 503, ${set.lookUps.wrong} x 401`);
if (returns.some(({ after }) => after === null) || set.lookUps.wrong > 0) process.exitCode = 1;

function summary(all: readonly Return[]): string {
  const times = all.flatMap(({ after }) => after ?? []).sort((a, b) => a - b);
  const median = Math.round(times[times.length >> 1] ?? 0);
  const longest = Math.round(times.at(-1) ?? 0);
  return `${times.length} returns, ${all.length - times.length} did not return; median ${median} ms, longest ${longest} ms after the new master was there`;
}
