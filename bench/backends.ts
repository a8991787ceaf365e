/**
 * Effects of a failing backend on clients at an even pace: before, during and after the fault.
 * About six minutes:
 *
 *     node --disable-warning=ExperimentalWarning bench/backends.ts
 *
 * Backends are nginx; of two the first fails. `--seconds` is the length of each part. "first clients"
 * sent their requests before the gateway reported the backend down, or during the whole fault if it
 * never did.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Fault, NginxBackend } from '../test/support/nginx-backend.ts';
import { get, OK } from './connection.ts';
import { outcomes, PacedClient, summary, type Timed } from './pace.ts';
import { withSurroundings } from './surroundings.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '12' } } });
const seconds = Number(values.seconds);
/** Requests per second. */
const RATE = 50;
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

console.log(`${RATE} requests/s; milliseconds`);
console.log(
  'backends  fault   part           requests  failed      p50      p99      max   lasted s  failed with',
);
for (const count of [1, 2])
  for (const fault of ['hang', 'refuse', 'reset'] as const) await measure(count, fault);

async function measure(count: number, fault: Fault): Promise<void> {
  const backends = await Promise.all(
    ['a', 'b', 'c'].slice(0, count).map((name) => NginxBackend.start(name)),
  );
  const backend = { url: backends.map(({ url }) => url).join(','), port: 0, pid: 0 };
  try {
    await withSurroundings(async (surroundings) => {
      const gateway = await prepareStoregate('storegate', { ...surroundings, backend }, {});
      await surroundings.children.start({ ...gateway.command, place: 'anywhere' });
      const client = new PacedClient(gateway.command.port);
      let isOver = false;
      const requested = client.run(get('/pets', gateway.keys.admitted), {
        rate: RATE,
        isOver: () => isOver,
      });
      await pause(2_000);
      const begun = performance.now();
      await pause(seconds * 1_000);
      const moments = await suffer(backends[0]!, fault, gateway.adminUrl);
      await pause(seconds * 1_000);
      isOver = true;
      printOutage(count, fault, await requested, begun, moments);
      client.close();
    });
  } finally {
    await Promise.all(backends.map((backend) => backend.stop()));
  }
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
  requested: readonly Timed[],
  begun: number,
  moments: Moments,
): void {
  const { failed, down, restored, back } = moments;
  const parts: readonly (readonly [name: string, from: number, to: number])[] = [
    ['before', begun, failed],
    ['first clients', failed, down ?? restored],
    ['while down', down ?? restored, restored],
    ['coming back', restored, back ?? restored],
    ['after', back ?? restored, Number.POSITIVE_INFINITY],
  ];
  for (const [name, from, to] of parts) {
    const those = requested.filter(({ at }) => at >= from && at < to);
    if (those.length === 0) continue;
    const failed = those.filter(({ outcome }) => outcome !== OK);
    const lasted = Number.isFinite(to) ? ((to - from) / 1_000).toFixed(2) : '';
    const cells = [
      `${count}       ${fault.padEnd(8)}${name.padEnd(15)}`,
      ...[those, failed].map(({ length }) => `${length}`.padStart(8)),
      ...summary(those).map((figure) => figure.toFixed(2).padStart(9)),
      `${lasted.padStart(11)}  ${outcomes(failed)}`,
    ];
    console.log(cells.join(''));
  }
}
