/**
 * Resident memory of a gateway per idle connection:
 *
 *     node --disable-warning=ExperimentalWarning bench/idle.ts --connections 10000
 */

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeSecret } from '../src/keys/secret.ts';
import { startBackend } from './backend.ts';
import { Children } from './children.ts';
import { Connection, OK } from './connection.ts';
import { residentMemory } from './cpu.ts';
import { stepAside } from './processors.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const STEPS = 5;
const AT_ONCE = 50;
/** Enough to compile the code; more would leave room in the heap that hides the connections. */
const WARM = 500;
/** Milliseconds for garbage collection. */
const REST = 3_000;

const { values } = parseArgs({ options: { connections: { type: 'string', default: '10000' } } });
const connections = Number(values.connections);

stepAside();
const children = new Children();
try {
  const backend = await startBackend(children);
  const keys = { admitted: makeSecret('bench'), refused: makeSecret('bench'), unknown: makeSecret('bench') };
  const surroundings = { children, backend, redis: null, node: process.execPath, keys };
  const most = connections + 2 * AT_ONCE;
  const door = [`maxConnections: ${most}`, `maxConnectionsPerAddress: ${most}`, 'keepAliveTimeout: 1h'];
  const gateway = await prepareStoregate('storegate', surroundings, { door, nodeOptions: ['--max-semi-space-size=1'] });
  const { pid } = await children.start(gateway.command);
  await measure(Number(new URL(gateway.url).port), pid, gateway.keys.admitted);
} finally {
  await children.close();
}

async function measure(port: number, pid: number, key: string): Promise<void> {
  const request = `GET /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;
  const warm = await open(AT_ONCE, port, request);
  for (let sent = 0; sent < WARM; sent += AT_ONCE) await Promise.all(warm.map((one) => good(one, request)));
  for (const one of warm) one.close();
  await pause(REST);
  const before = residentMemory(pid);
  const idle: Connection[] = [];
  console.log(`connections   RSS MiB   KB each   KB each of this step (${(before / 2 ** 20).toFixed(1)} MiB before)`);
  let last = before;
  for (let step = 1; step <= STEPS; step++) {
    while (idle.length < (connections * step) / STEPS) idle.push(...(await open(AT_ONCE, port, request)));
    await pause(REST);
    const now = residentMemory(pid);
    const each = (bytes: number, count: number) => (bytes / count / 1_000).toFixed(2);
    const cells = [`${idle.length}`.padStart(11), (now / 2 ** 20).toFixed(1).padStart(9)];
    cells.push(each(now - before, idle.length).padStart(9), each(now - last, connections / STEPS).padStart(9));
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
