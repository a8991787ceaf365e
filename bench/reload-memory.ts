/**
 * Measures what a gateway keeps in memory over reloads of a contract of 4 MB. One command:
 *
 *     node --disable-warning=ExperimentalWarning bench/reload-memory.ts [--before COMMIT] [--reloads 10] [--megabytes 4]
 *
 * Each reload changes the contract, and the start has a small one. Resident memory is read when the gateway is idle again, then once more after
 * a garbage collection: the difference is what V8 would have collected later. `--before` measures the sources of a commit beside it.
 */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeSecret } from '../src/keys/secret.ts';
import { freePort } from '../test/support/free-port.ts';
import { startBackend } from './backend.ts';
import { checkOut } from './checkout.ts';
import { Children } from './children.ts';
import { ownCpuTime, residentMemory } from './cpu.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    reloads: { type: 'string', default: '10' },
    megabytes: { type: 'string', default: '4' },
  },
});
const reloads = Number(values.reloads);
const size = Number(values.megabytes) * 1e6;

const children = new Children();
try {
  const checkouts = [{ name: 'today', folder: join(import.meta.dirname, '..') }];
  if (values.before !== undefined) checkouts.unshift(checkOut(values.before, children.folder));
  const backend = await startBackend(children);
  const gateways = [];
  for (const { name, folder } of checkouts) {
    const keys = { admitted: makeSecret('bench'), refused: makeSecret('bench'), unknown: makeSecret('bench') };
    const surroundings = { children, backend, redis: null, node: process.execPath, keys };
    const inspector = await freePort();
    const nodeOptions = [`--inspect=127.0.0.1:${inspector}`];
    const gateway = await prepareStoregate(name, surroundings, { project: folder, nodeOptions });
    const file = join(children.folder, `${name}.json`);
    writeFileSync(file, contract(0, 1));
    const env = { ...gateway.command.env, STOREGATE_CONTRACT: file };
    const { pid } = await children.start({ ...gateway.command, env, place: 'anywhere' });
    gateways.push({ name, file, pid, adminUrl: gateway.adminUrl, collect: await collector(inspector), kept: [0] });
  }
  console.log(`MiB, then after a collection: ${gateways.map(({ name }) => name).join(', ')}`);
  for (let reload = 1; reload <= reloads; reload++) {
    const each = gateways.map(async ({ file, pid, adminUrl, collect, kept }) => {
      writeFileSync(file, contract(reload, size));
      const { status } = await fetch(`${adminUrl}/reload`, { method: 'POST' });
      if (status !== 200) throw new Error(`the reload was answered with ${status}`);
      const idle = await memoryWhenIdle(pid);
      await collect();
      kept.push(memoryOf(pid));
      return `${idle.toFixed(0).padStart(10)}${kept.at(-1)!.toFixed(0).padStart(6)}`;
    });
    console.log(`reload ${reload}`.padEnd(10) + (await Promise.all(each)).join(''));
  }
  for (const { name, kept } of gateways) {
    console.log(`${name}: ${(kept.at(-1)! / kept[2]!).toFixed(2)} times what is kept after the second reload`);
  }
} finally {
  await children.close();
}

/** Objects with twenty members each, and an operation for each object. */
function contract(version: number, size: number): string {
  const paths: Record<string, unknown> = {};
  const schemas: Record<string, unknown> = {};
  for (let bytes = 0, i = 0; bytes < size; i++) {
    const members = Array.from({ length: 20 }, (_, j) => {
      return [`member${j}`, { type: 'string', maxLength: 10 + i + j, description: `Member ${j} of ${i}. `.repeat(25) }];
    });
    schemas[`Thing${i}`] = { type: 'object', required: ['member0'], properties: Object.fromEntries(members) };
    const schema = { $ref: `#/components/schemas/Thing${i}` };
    const requestBody = { required: true, content: { 'application/json': { schema } } };
    paths[`/things/${i}`] = { put: { requestBody, responses: { 204: { description: 'Done.' } } } };
    bytes += JSON.stringify([paths[`/things/${i}`], schemas[`Thing${i}`]]).length;
  }
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Large', version: `${version}` },
    paths,
    components: { schemas },
  });
}

/** Makes a process collect its garbage, through its inspector. */
async function collector(port: number): Promise<() => Promise<void>> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  const inspector = new WebSocket(target!.webSocketDebuggerUrl);
  await once(inspector, 'open');
  return async () => {
    inspector.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
    await once(inspector, 'message');
  };
}

function memoryOf(pid: number): number {
  return residentMemory(pid) / 2 ** 20;
}

/** MiB, once the process has used next to no CPU for a second: what a reload leaves to do has been done. */
async function memoryWhenIdle(pid: number): Promise<number> {
  for (let before = ownCpuTime(pid); ; ) {
    await pause(1_000);
    const now = ownCpuTime(pid);
    if (now - before < 50_000) return memoryOf(pid);
    before = now;
  }
}
