/**
 * Two ways for the workers of one gateway to take connections, side by side. One command, no arguments:
 *
 *     node --disable-warning=ExperimentalWarning bench/accepting.ts
 *
 * `in turn`: the primary process accepts and hands each connection to the next worker; this is how storegate works.
 * `beside`: each worker listens by itself at the same address and the system spreads connections (SO_REUSEPORT); storegate
 * does so where workers of a killed primary process still have the address, which this run makes it believe.
 */

import { readdirSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { makeSecret } from '../src/keys/secret.ts';
import { startBackend } from './backend.ts';
import { type Child, Children } from './children.ts';
import { Connection, OK } from './connection.ts';
import { childrenOf, ownCpuTime } from './cpu.ts';
import { startRedis } from './redis-server.ts';
import { missingExecutable } from './targets/executable.ts';
import { type PreparedStoregate, prepareStoregate } from './targets/storegate-process.ts';

const WORKERS = 4;
const CALLERS = 32;
/** Requests after which code is compiled as well as it will be. */
const WARM = 8_000;
/** Milliseconds. */
const LOAD = 6_000;
const TRIALS = 25;
const WAYS = ['in turn', 'beside'] as const;

/** A gateway under test. */
interface Gateway {
  readonly prepared: PreparedStoregate;
  readonly child: Child;
  readonly port: number;
  readonly request: string;
}

/** Requests on connections of their own. */
interface Answers {
  /** Milliseconds of each, in rising order. */
  readonly waits: number[];
  readonly lost: Map<string, number>;
}

for (const name of ['nginx', 'redis-server'] as const) {
  const missing = missingExecutable(name);
  if (missing !== null) throw new Error(missing);
}
for (const way of WAYS) {
  const children = new Children();
  try {
    const gateway = await start(children, way);
    console.log(`\n${way}, ${WORKERS} workers`);
    await tellCost(gateway);
    for (const connections of [8, 32]) await tellBalance(gateway, connections);
    await tellReplaced(gateway);
    await tellHung(gateway);
    await tellKilled(children, gateway);
  } finally {
    await children.close();
  }
}

async function start(children: Children, way: (typeof WAYS)[number]): Promise<Gateway> {
  const backend = await startBackend(children);
  const redis = await startRedis(children);
  const keys = { admitted: makeSecret('bench'), refused: makeSecret('bench'), unknown: makeSecret('bench') };
  const surroundings = { children, backend, redis, node: process.execPath, keys };
  const prepared = await prepareStoregate('gateway', surroundings, {
    redis: true,
    workers: WORKERS,
    drainDelay: '500ms',
  });
  redis.close();
  const { command } = prepared;
  const holder = way === 'beside' ? await hold(command.port) : null;
  const child = await children.start(command);
  await ready(prepared);
  holder?.close();
  const request = `GET /pets HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${prepared.keys.admitted}\r\n`;
  return { prepared, child, port: command.port, request };
}

/** What a worker of a killed primary process would hold. */
function hold(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy()).once('error', reject);
    server.listen({ port, host: '127.0.0.1', reusePort: true }, () => resolve(server));
  });
}

async function ready({ adminUrl }: PreparedStoregate): Promise<void> {
  const isReady = () =>
    fetch(`${adminUrl}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await pause(50);
}

async function tellCost(gateway: Gateway): Promise<void> {
  await load(gateway, ({ waits }) => waits.length >= WARM);
  const pids = [gateway.child.pid, ...childrenOf(gateway.child.pid)];
  const before = pids.map(ownCpuTime);
  const { waits } = await load(gateway, after(LOAD));
  const [primary = 0, ...workers] = pids.map((pid, i) => (ownCpuTime(pid) - before[i]!) / waits.length);
  const inWorkers = workers.reduce((sum, cost) => sum + cost, 0);
  console.log(
    `a request on a connection of its own: CPU ${primary.toFixed(0)} us in the primary, ${inWorkers.toFixed(0)} us in workers; ` +
      `median wait ${at(waits, 0.5)} ms, p99 ${at(waits, 0.99)} ms (${CALLERS} callers)`,
  );
}

function at(waits: readonly number[], share: number): string {
  return waits[Math.floor(waits.length * share)]!.toFixed(1);
}

function after(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds;
  return () => performance.now() > end;
}

/** Callers that take a new connection for each request. */
async function load({ port, request }: Gateway, over: (far: Answers) => boolean): Promise<Answers> {
  const answers: Answers = { waits: [], lost: new Map() };
  async function call(): Promise<void> {
    while (!over(answers)) {
      const begun = performance.now();
      const outcome = await new Connection(port).ask(`${request}Connection: close\r\n\r\n`);
      if (outcome === OK) answers.waits.push(performance.now() - begun);
      else {
        answers.lost.set(outcome, (answers.lost.get(outcome) ?? 0) + 1);
        // As callers do whose connection was refused.
        await pause(10);
      }
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call));
  answers.waits.sort((a, b) => a - b);
  return answers;
}

/** Connections that are kept, opened one after the other, as the pool of a balancer grows. */
async function tellBalance({ child, port, request }: Gateway, count: number): Promise<void> {
  const workers = childrenOf(child.pid);
  const most: number[] = [];
  for (let trial = 0; trial < TRIALS; trial++) {
    const before = workers.map(sockets);
    const connections: Connection[] = [];
    for (let i = 0; i < count; i++) {
      const connection = new Connection(port);
      await connection.ask(`${request}\r\n`);
      connections.push(connection);
    }
    most.push(Math.max(...workers.map((pid, i) => sockets(pid) - before[i]!)));
    for (const connection of connections) connection.close();
    while (workers.some((pid, i) => sockets(pid) > before[i]!)) await pause(10);
  }
  most.sort((a, b) => a - b);
  console.log(
    `${count} kept connections, ${count / WORKERS} for each: the busiest worker has ${most[TRIALS >> 1]} (median of ${TRIALS}), ${most.at(-1)} at most`,
  );
}

function sockets(pid: number): number {
  const files = readdirSync(`/proc/${pid}/fd`);
  return files.filter((file) => linkOf(`/proc/${pid}/fd/${file}`).startsWith('socket:')).length;
}

/** Empty for a file that was closed just now. */
function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

async function tellReplaced(gateway: Gateway): Promise<void> {
  const { pid } = gateway.child;
  let over = false;
  const loading = load(gateway, () => over);
  for (const worker of childrenOf(pid)) {
    process.kill(worker, 'SIGTERM');
    while (childrenOf(pid).includes(worker) || (await serving(gateway)) < WORKERS) await pause(50);
  }
  over = true;
  console.log(`each worker replaced after a SIGTERM: ${told(await loading)}`);
}

async function serving({ prepared }: Gateway): Promise<number> {
  const text = await (await fetch(`${prepared.adminUrl}/metrics`)).text();
  return Number(/^storegate_workers (\d+)$/m.exec(text)?.[1]);
}

function told({ waits, lost }: Answers): string {
  const count = lost.values().reduce((sum, one) => sum + one, 0);
  const reasons = [...lost].map(([reason, one]) => `, ${one} x ${reason}`).join('');
  return `${count} lost of ${waits.length + count}${reasons}`;
}

async function tellHung(gateway: Gateway): Promise<void> {
  await pause(2_000);
  const [worker] = childrenOf(gateway.child.pid);
  process.kill(worker!, 'SIGSTOP');
  const loading = load(gateway, after(2_000));
  await pause(2_000);
  process.kill(worker!, 'SIGCONT');
  const { waits, lost } = await loading;
  const waited = waits.filter((wait) => wait > 500).length;
  console.log(`one worker stopped for 2 s: ${waited} of ${waits.length + lost.size} requests waited more than 0.5 s`);
}

async function tellKilled(children: Children, gateway: Gateway): Promise<void> {
  let over = false;
  const loading = load(gateway, () => over);
  await pause(1_000);
  process.kill(gateway.child.pid, 'SIGKILL');
  await pause(1_000);
  await children.start(gateway.prepared.command);
  await ready(gateway.prepared);
  // The old workers leave.
  await pause(LOAD);
  over = true;
  console.log(`the primary killed, and started again after 1 s: ${told(await loading)}`);
}
