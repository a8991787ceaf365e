/**
 * What an idle gateway costs, embedded, with Redis and with workers, and resident memory per idle
 * connection:
 *
 *     node --disable-warning=ExperimentalWarning bench/idle.ts --before main
 *     node --disable-warning=ExperimentalWarning bench/idle.ts --connections 10000
 *
 * `--before` measures a commit, too.
 */

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeSecret } from '../src/records/keys/secret.ts';
import { checkOut } from '../test/support/checkout.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { Connection, OK } from './connection.ts';
import { proportionalMemory, residentMemory, wakeUps } from './cpu.ts';
import { stepAside } from './processors.ts';
import { startRedis } from './redis-server.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const STEPS = 5;
const AT_ONCE = 50;
/** Enough to compile the code; more would leave room in the heap that hides the connections. */
const WARM = 500;
/** Milliseconds for garbage collection. */
const REST = 3_000;
/** V8 returns the memory of a start 100 seconds after its last collection. */
const LONG_REST = 120_000;

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    connections: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '4' },
  },
});
const connections = Number(values.connections);
const seconds = Number(values.seconds);

stepAside();
const children = new Children();
try {
  const backend = await startBackend(children);
  const keys = {
    admitted: makeSecret('bench'),
    refused: makeSecret('bench'),
    unknown: makeSecret('bench'),
  };
  if (connections === 0) await measureIdle();
  else await measureConnections();

  /** All gateways rest and are measured at the same time. */
  async function measureIdle(): Promise<void> {
    const redis = await startRedis(children);
    const surroundings = { children, backend, redis, node: process.execPath, keys };
    const projects = [{ name: 'today', folder: join(import.meta.dirname, '..') }];
    if (values.before !== undefined) projects.unshift(checkOut(values.before, children.folder));
    const kinds = {
      embedded: {},
      redis: { redis: true },
      workers: { redis: true, workers: Number(values.workers) },
    };
    const gateways: { name: string; pid: number }[] = [];
    for (const [kind, options] of Object.entries(kinds)) {
      for (const { name: project, folder } of projects) {
        const name = `${kind}-${project}`;
        const { command } = await prepareStoregate(name, surroundings, {
          ...options,
          project: folder,
        });
        gateways.push({ name, ...(await children.start(command)) });
      }
    }
    await pause(LONG_REST);
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
    redis.close();
  }

  async function measureConnections(): Promise<void> {
    const surroundings = { children, backend, redis: null, node: process.execPath, keys };
    // Above nine tenths idle connections end.
    const most = Math.ceil((connections + 2 * AT_ONCE) * 1.2);
    const listener = [
      `maxConnections: ${most}`,
      `maxConnectionsPerAddress: ${most}`,
      'keepAliveTimeout: 1h',
    ];
    const gateway = await prepareStoregate('storegate', surroundings, {
      listener,
      nodeOptions: ['--max-semi-space-size=1'],
    });
    const { pid } = await children.start(gateway.command);
    await measure(Number(new URL(gateway.url).port), pid, gateway.keys.admitted);
  }
} finally {
  await children.close();
}

async function measure(port: number, pid: number, key: string): Promise<void> {
  const request = `GET /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;
  const warm = await open(AT_ONCE, port, request);
  for (let sent = 0; sent < WARM; sent += AT_ONCE)
    await Promise.all(warm.map((one) => good(one, request)));
  for (const one of warm) one.close();
  await pause(REST);
  const before = residentMemory(pid);
  const idle: Connection[] = [];
  console.log(
    `connections   RSS MiB   KB each   KB each of this step (${(before / 2 ** 20).toFixed(1)} MiB before)`,
  );
  let last = before;
  for (let step = 1; step <= STEPS; step++) {
    while (idle.length < (connections * step) / STEPS)
      idle.push(...(await open(AT_ONCE, port, request)));
    await pause(REST);
    const now = residentMemory(pid);
    const each = (bytes: number, count: number) => (bytes / count / 1_000).toFixed(2);
    const cells = [`${idle.length}`.padStart(11), (now / 2 ** 20).toFixed(1).padStart(9)];
    cells.push(
      each(now - before, idle.length).padStart(9),
      each(now - last, connections / STEPS).padStart(9),
    );
    console.log(cells.join(' '));
    last = now;
  }
  const ended = idle.filter((one) => one.ended).length;
  if (ended > 0) throw new Error(`${ended} connections did not stay open`);
  for (const one of idle) one.close();
}

async function open(count: number, port: number, request: string): Promise<Connection[]> {
  const opened = Array.from({ length: count }, () => new Connection(port));
  await Promise.all(opened.map((one) => good(one, request)));
  return opened;
}

async function good(connection: Connection, request: string): Promise<void> {
  const outcome = await connection.ask(request);
  if (outcome !== OK) throw new Error(`a request was answered with: ${outcome}`);
}
