/**
 * Effects of a failing backend on clients at an even pace: before, during and after the fault.
 * About six minutes:
 *
 *     node --disable-warning=ExperimentalWarning bench/backends.ts
 *
 * Backends are nginx; of two the first fails. `--faults hang,refuse`, `--backends 1`, `--rate` and
 * `--seconds` (per part) reduce the run; `--project` measures another checkout. "first callers"
 * sent their requests before the gateway reported the backend down, or during the whole fault if it
 * never did.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeSecret } from '../src/records/keys/secret.ts';
import { type Fault, NginxBackend } from '../test/support/nginx-backend.ts';
import { Children } from './children.ts';
import { PacedClients, type TimedResponse } from './paced-clients.ts';
import { stepAside } from './processors.ts';
import { percentile } from './statistics.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: 'hang,refuse,reset' },
    backends: { type: 'string', default: '1,2' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '12' },
    project: { type: 'string' },
  },
});
const faults = values.faults.split(',') as Fault[];
const [rate, seconds] = [Number(values.rate), Number(values.seconds)];
/** Milliseconds. */
const LOOK = 10;
/** Milliseconds. */
const BACK_WITHIN = 60_000;

/** On the clock of `performance.now()`; `null`: never. */
interface Moments {
  readonly failed: number;
  readonly down: number | null;
  readonly restored: number;
  readonly back: number | null;
}

stepAside();
console.log(`${rate} requests/s; milliseconds`);
console.log(
  'backends  fault   part           requests  failed      p50      p99      max   lasted s  failed with',
);
for (const count of values.backends.split(',').map(Number))
  for (const fault of faults) await measure(count, fault);

async function measure(count: number, fault: Fault): Promise<void> {
  const children = new Children();
  const backends = await Promise.all(
    ['a', 'b', 'c'].slice(0, count).map((name) => NginxBackend.start(name)),
  );
  try {
    const gateway = await prepareStoregate('storegate', surroundings(children, backends), {
      ...(values.project === undefined ? {} : { project: values.project }),
    });
    await children.start({ ...gateway.command, place: 'anywhere' });
    const callers = new PacedClients(`${gateway.url}/pets`, gateway.keys.admitted, rate);
    const asking = callers.run();
    await pause(2_000);
    const begun = performance.now();
    await pause(seconds * 1_000);
    const moments = await suffer(backends[0]!, fault, gateway.adminUrl);
    await pause(seconds * 1_000);
    callers.stop();
    await asking;
    printOutage(count, fault, callers.asked, begun, moments);
  } finally {
    await children.close();
    await Promise.all(backends.map((backend) => backend.stop()));
  }
}

function surroundings(children: Children, backends: readonly NginxBackend[]) {
  const keys = {
    admitted: makeSecret('bench'),
    refused: makeSecret('bench'),
    unknown: makeSecret('bench'),
  };
  const backend = {
    url: backends.map(({ url }) => url).join(','),
    port: backends[0]!.port,
    pid: 0,
  };
  return { children, backend, redis: null, node: process.execPath, keys };
}

async function suffer(backend: NginxBackend, fault: Fault, adminUrl: string): Promise<Moments> {
  const isUp = () => upOf(backend.label, adminUrl);
  const failed = performance.now();
  await backend.fail(fault);
  const down = await moment(async () => (await isUp()) === 0, failed + seconds * 2_000);
  // The same time as the load before the failure.
  await pause(Math.max(0, (down ?? failed) + seconds * 1_000 - performance.now()));
  const restored = performance.now();
  await backend.recover();
  const back =
    down === null ? null : await moment(async () => (await isUp()) === 1, restored + BACK_WITHIN);
  return { failed, down, restored, back };
}

async function moment(holds: () => Promise<boolean>, latest: number): Promise<number | null> {
  while (!(await holds())) {
    if (performance.now() > latest) return null;
    await pause(LOOK);
  }
  return performance.now();
}

/** `null`: unknown. */
async function upOf(backend: string, adminUrl: string): Promise<number | null> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text
    .split('\n')
    .find((one) => one.startsWith('storegate_backend_up{') && one.includes(`"${backend}"`));
  return line === undefined ? null : Number(line.split(' ').at(-1));
}

function printOutage(
  count: number,
  fault: Fault,
  asked: readonly TimedResponse[],
  begun: number,
  moments: Moments,
): void {
  const { failed, down, restored, back } = moments;
  const parts: readonly (readonly [name: string, from: number, to: number])[] = [
    ['before', begun, failed],
    ['first callers', failed, down ?? restored],
    ['while down', down ?? restored, restored],
    ['coming back', restored, back ?? restored],
    ['after', back ?? restored, Number.POSITIVE_INFINITY],
  ];
  for (const [name, from, to] of parts) {
    const those = asked.filter(({ at }) => at >= from && at < to);
    if (those.length === 0) continue;
    const times = those.map(({ took }) => took).sort((one, other) => one - other);
    const figures = [percentile(times, 0.5), percentile(times, 0.99), times.at(-1)!];
    const failed = those.filter(({ status }) => status !== 200);
    const lasted = Number.isFinite(to) ? ((to - from) / 1_000).toFixed(2) : '';
    console.log(
      `${count}       ${fault.padEnd(8)}${name.padEnd(15)}${String(those.length).padStart(8)}${String(failed.length).padStart(8)}` +
        `${figures.map((figure) => figure.toFixed(2).padStart(9)).join('')}${lasted.padStart(11)}  ${codesOf(failed)}`,
    );
  }
}

/** `0`: no complete response. */
function codesOf(failed: readonly TimedResponse[]): string {
  const counts = [...Map.groupBy(failed, ({ status }) => status)].map(
    ([status, { length }]) => `${length} x ${status}`,
  );
  return counts.join(', ');
}
