/**
 * Kills an embedded gateway at random moments under load and operator changes, and counts losses:
 *
 *     node --disable-warning=ExperimentalWarning bench/kills.ts --kills 200
 *
 * With `--power` every kill also loses what was not synced (bench/crashes/lost-power.c); `--power
 * --deaf` loses all since the last start, which validates the measurement. Exits with 1 if a
 * promise was broken.
 */

import { rmSync } from 'node:fs';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Actions } from '../test/support/actions.ts';
import { CrashingGateway, Load, statusOf } from '../test/support/crashes.ts';
import { LostPower } from './crashes/lost-power.ts';
import { spread } from './statistics.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    callers: { type: 'string', default: '16' },
    power: { type: 'boolean', default: false },
    deaf: { type: 'boolean', default: false },
  },
});
const [kills, callers] = [Number(values.kills), Number(values.callers)];

/** Milliseconds of load before a kill, at most. */
const LONGEST = 3_000;
/** Units of the small key, the most that should be admitted. */
const LIMIT = 300;
/** Milliseconds of counting that a crash may lose. */
const PROMISED = 1_000;

interface Crash {
  /** Admitted requests that are not counted, and the age of the oldest at the kill. */
  readonly uncounted: number;
  readonly late: number;
  /** Units admitted over the limit of the small key. */
  readonly beyond: number;
  readonly lost: readonly string[];
}

const missing = values.power ? LostPower.missing : null;
if (missing !== null) {
  console.log(missing);
  process.exit(0);
}
const backend = createServer(
  (_, response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'),
);
await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
const gateway = new CrashingGateway(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
const power = values.power ? new LostPower(gateway.folder, values.deaf) : null;
try {
  power?.begin();
  if (power) gateway.env = power.env;
  await gateway.start();
  report(await killAgainAndAgain());
} finally {
  await gateway.kill();
  backend.close();
  backend.closeAllConnections();
  power?.close();
  rmSync(gateway.folder, { recursive: true });
}

async function killAgainAndAgain(): Promise<Crash[]> {
  const large = await gateway.key('1000000000/day');
  const crashes: Crash[] = [];
  let actions = new Actions(gateway);
  let small = { ...(await gateway.key(`${LIMIT}/day`)), admitted: 0 };
  let counted = 0;
  for (let i = 0; i < kills; i++) {
    const load = new Load(gateway.url, large.key, callers);
    const operating = actions.run();
    const exhausting = exhaust(small.key);
    await pause(Math.random() * LONGEST);
    const killedAt = performance.now();
    await gateway.kill();
    await Promise.all([load.stop(), operating]);
    small.admitted += await exhausting;
    power?.lose();
    power?.begin();
    await gateway.start();

    if ((await gateway.admin('GET', `/keys/${large.id}`)).status !== 200) {
      crashes.push({
        uncounted: 0,
        late: 0,
        beyond: 0,
        lost: ['the key of the load, and all that came after it'],
      });
      show(i, crashes.at(-1)!);
      return crashes;
    }
    const used = await gateway.used(large.id);
    const uncounted = Math.max(0, load.admitted.length - (used - counted));
    const oldest = load.admitted.at(-uncounted)!;
    small.admitted += await exhaust(small.key);
    crashes.push({
      uncounted,
      late: uncounted === 0 ? 0 : killedAt - oldest,
      beyond: Math.max(0, small.admitted - LIMIT),
      lost: await actions.missing(),
    });
    counted = used;
    show(i, crashes.at(-1)!);
    // Checking all actions again would take longer with each kill.
    if (actions.done.length > 100) actions = new Actions(gateway, actions.count);
    if (small.admitted >= LIMIT) small = { ...(await gateway.key(`${LIMIT}/day`)), admitted: 0 };
  }
  return crashes;
}

/** Returns the admitted requests. */
async function exhaust(key: string): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  let admitted = 0;
  while ((await statusOf(`${gateway.url}/pets`, key, agent)) === 200) admitted += 1;
  agent.destroy();
  return admitted;
}

function show(i: number, { uncounted, late, beyond, lost }: Crash): void {
  const line = `kill ${i + 1}: ${uncounted} requests uncounted, the oldest ${late.toFixed(0)} ms before the kill; ${beyond} beyond a limit`;
  console.log(lost.length === 0 ? line : `${line}; LOST: ${lost.join(', ')}`);
}

function report(crashes: readonly Crash[]): void {
  const late = spread(crashes.map((crash) => crash.late));
  const longest = Math.max(...crashes.map((crash) => crash.late));
  const lost = crashes.reduce((sum, crash) => sum + crash.lost.length, 0);
  const beyond = crashes.map((crash) => crash.beyond);
  console.log(
    `${crashes.length} kills${power ? ' with lost power' : ''}: ${lost} acknowledged actions of operators lost; uncounted requests go back ` +
      `${late.median.toFixed(0)} ms (median), ${longest.toFixed(0)} ms (longest); ${Math.max(...beyond)} requests beyond a limit of ` +
      `${LIMIT} at most, ${(beyond.reduce((sum, one) => sum + one, 0) / beyond.length).toFixed(1)} on average`,
  );
  if (lost > 0 || longest > PROMISED) process.exitCode = 1;
}
