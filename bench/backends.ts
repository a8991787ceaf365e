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
import { type Fault, NginxBackend } from '../test/support/nginx-backend.ts';
import { get, OK } from './connection.ts';
import { readOptions } from './options.ts';
import { outcomes, PacedClient, type Timed, timesOf } from './pace.ts';
import { withSurroundings } from './surroundings.ts';
import { printHead, printRow } from './table.ts';
import { prepareStoregate } from './targets/storegate-process.ts';
import { KEYS } from './work.ts';

const { seconds } = readOptions({ seconds: 12 });
/** Requests per second. */
const RATE = 50;
/** Milliseconds. */
const LOOK = 10;
/** Milliseconds. */
const BACK_WITHIN = 60_000;

const PARTS = ['before', 'first clients', 'while down', 'coming back', 'after'];

console.log(`${RATE} requests/s; milliseconds`);
const FIGURES = ['requests', 'failed', 'p50', 'p99', 'max', 'lasted s', 'failed with'];
printHead('backends', 'fault', 'part', ...FIGURES);
for (const count of [1, 2])
  for (const fault of ['hang', 'refuse', 'reset'] as const) await measure(count, fault);

async function measure(count: number, fault: Fault): Promise<void> {
  const backends = await Promise.all(
    ['a', 'b', 'c'].slice(0, count).map((name) => NginxBackend.start(name)),
  );
  const backend = { url: backends.map(({ url }) => url).join(','), port: 0 };
  try {
    await withSurroundings(async (surroundings) => {
      const own = { ...surroundings, backend };
      const { command, adminUrl } = await prepareStoregate('storegate', own, {});
      await surroundings.children.start({ ...command, place: 'anywhere' });
      const client = new PacedClient(command.port);
      let isOver = false;
      const pace = { rate: RATE, isOver: () => isOver };
      const requested = client.run(get('/pets', KEYS.admitted), pace);
      await pause(2_000);
      const begun = performance.now();
      await pause(seconds * 1_000);
      const begins = [begun, ...(await suffer(backends[0]!, fault, adminUrl))];
      await pause(seconds * 1_000);
      isOver = true;
      printOutage(count, fault, await requested, begins);
      client.close();
    });
  } finally {
    await Promise.all(backends.map((backend) => backend.stop()));
  }
}

/** Resolves with the begin of each part after the first, on the clock of `performance.now()`. */
async function suffer(backend: NginxBackend, fault: Fault, adminUrl: string): Promise<number[]> {
  const isReported = async (up: 0 | 1) => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return new RegExp(`^storegate_backend_up{.*"${backend.label}".* ${up}$`, 'm').test(text);
  };
  const failed = performance.now();
  await backend.fail(fault);
  const down = await moment(() => isReported(0), failed + seconds * 2_000);
  // The same time as the load before the failure.
  await pause(Math.max(0, (down ?? failed) + seconds * 1_000 - performance.now()));
  const restored = performance.now();
  await backend.recover();
  const back = down === null ? null : await moment(() => isReported(1), restored + BACK_WITHIN);
  return [failed, down ?? restored, restored, back ?? restored];
}

/** `null`: never. */
async function moment(holds: () => Promise<boolean>, latest: number): Promise<number | null> {
  while (!(await holds())) {
    if (performance.now() > latest) return null;
    await pause(LOOK);
  }
  return performance.now();
}

function printOutage(
  count: number,
  fault: Fault,
  requested: readonly Timed[],
  begins: readonly number[],
): void {
  for (const [i, part] of PARTS.entries()) {
    const [from, to = Number.POSITIVE_INFINITY] = begins.slice(i);
    const those = requested.filter(({ at }) => at >= from! && at < to);
    if (those.length === 0) continue;
    const failed = those.filter(({ outcome }) => outcome !== OK);
    const lasted = Number.isFinite(to) ? ((to - from!) / 1_000).toFixed(2) : '';
    const { median, p99, max } = timesOf(those);
    const times = [median, p99, max].map((figure) => figure.toFixed(2));
    const counts = [those, failed].map(({ length }) => `${length}`);
    printRow(`${count}`, fault, part, ...counts, ...times, lasted, outcomes(failed));
  }
}
