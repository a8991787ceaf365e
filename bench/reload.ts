/**
 * Latency during a reload from a small to a large contract:
 *
 *     node --disable-warning=ExperimentalWarning bench/reload.ts --contract /tmp/documents/kubernetes.json
 *
 * `--workers 2` needs a Redis, `--before main` measures a commit, too. The requested path is added
 * to the large contract; backend and this program run on another processor, if there is one.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeSecret } from '../src/records/keys/secret.ts';
import { checkOut } from '../test/support/checkout.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { cpuTime, residentMemory } from './cpu.ts';
import { pace } from './pace.ts';
import { stepAside } from './processors.ts';
import { startRedis } from './redis-server.ts';
import { percentile } from './statistics.ts';
import { type PreparedStoregate, prepareStoregate } from './targets/storegate-process.ts';
import type { Request } from './work.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    contract: { type: 'string' },
    rate: { type: 'string', default: '500' },
    reloads: { type: 'string', default: '3' },
    workers: { type: 'string', default: '1' },
  },
});
if (values.contract === undefined)
  throw new Error('--contract names a large OpenAPI document in JSON');
const [rate, reloads, workers] = [values.rate, values.reloads, values.workers].map(Number) as [
  number,
  number,
  number,
];

type Json = Record<string, unknown>;

/** Seconds of requests before and after a reload. */
const AROUND = 10;
const WARM_UP = 5;
const asked = { get: { responses: { '200': { description: 'Done.' } } } };
const large: { paths: Json } = JSON.parse(readFileSync(values.contract, 'utf8'));
const small = {
  openapi: '3.0.3',
  info: { title: 'Small', version: '1' },
  paths: { '/bench': asked },
};
const texts = {
  small: JSON.stringify(small),
  large: JSON.stringify({
    ...large,
    paths: { ...mapMembers(large.paths, unchecked), '/bench': asked, '/bench/large': asked },
  }),
};

stepAside();
const children = new Children();
try {
  await run();
} finally {
  await children.close();
}

async function run(): Promise<void> {
  const backend = await startBackend(children);
  const redis = workers > 1 ? await startRedis(children) : null;
  const keys = {
    admitted: makeSecret('bench'),
    refused: makeSecret('bench'),
    unknown: makeSecret('bench'),
  };
  const surroundings = { children, backend, redis, node: process.execPath, keys };
  const options = workers > 1 ? { redis: true, workers } : {};
  const projects = [{ name: 'today', folder: join(import.meta.dirname, '..') }];
  if (values.before !== undefined) projects.unshift(checkOut(values.before, children.folder));
  for (const { name, folder } of projects) {
    console.log(name);
    await measure(await prepareStoregate(name, surroundings, { ...options, project: folder }));
  }
}

async function measure(gateway: PreparedStoregate): Promise<void> {
  const file = join(children.folder, 'contract.json');
  put(file, 'small');
  const env = { ...gateway.command.env, STOREGATE_CONTRACT: file };
  const { pid, stop } = await children.start({ ...gateway.command, env, place: 'anywhere' });
  const headers = { 'x-api-key': gateway.keys.admitted };
  const request = { method: 'GET', url: `${gateway.url}/bench`, headers, body: null };
  await pace(request, { rate, seconds: WARM_UP });
  console.log('ms                 p50     p99     max   requests   seconds   CPU s   RSS MiB');
  for (let reload = 0; reload < reloads; reload++) {
    await phase('before', pid, () => pace(request, { rate, seconds: AROUND }));
    put(file, 'large');
    await phase('reload', pid, () =>
      until(() => isThere(`${request.url}/large`, headers), request),
    );
    await phase('behind it', pid, () => pace(request, { rate, seconds: AROUND }));
    put(file, 'small');
    await until(async () => !(await isThere(`${request.url}/large`, headers)), request);
  }
  await stop();
}

function unchecked(item: unknown): unknown {
  return mapMembers(item as Json, (member) =>
    member !== null && typeof member === 'object' && 'requestBody' in member
      ? { ...member, 'x-storegate-unchecked-body': true }
      : member,
  );
}

function mapMembers(object: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

/** Atomic, as in editors. */
function put(file: string, which: keyof typeof texts): void {
  writeFileSync(`${file}.new`, texts[which]);
  renameSync(`${file}.new`, file);
}

async function isThere(url: string, headers: Record<string, string>): Promise<boolean> {
  return (await fetch(url, { headers })).status === 200;
}

/** Returns sorted times. */
async function until(holds: () => Promise<boolean>, request: Request): Promise<number[]> {
  const times: number[] = [];
  let over = false;
  const watching = (async () => {
    while (!(await holds())) await pause(100);
    over = true;
  })();
  while (!over) times.push(...(await pace(request, { rate, seconds: 1 })));
  await watching;
  return times.sort((a, b) => a - b);
}

async function phase(name: string, pid: number, work: () => Promise<number[]>): Promise<void> {
  const [start, cpu] = [performance.now(), cpuTime(pid)];
  const times = await work();
  const cells = [percentile(times, 0.5), percentile(times, 0.99), times.at(-1)!].map((time) =>
    time.toFixed(2).padStart(8),
  );
  cells.push(
    String(times.length).padStart(11),
    ((performance.now() - start) / 1_000).toFixed(1).padStart(10),
  );
  cells.push(
    ((cpuTime(pid) - cpu) / 1e6).toFixed(1).padStart(8),
    (residentMemory(pid) / 2 ** 20).toFixed(0).padStart(10),
  );
  console.log(name.padEnd(14) + cells.join(''));
}
