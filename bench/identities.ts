/**
 * What a gateway keeps of those it has seen, by the million, through HTTP with embedded state. One command:
 *
 *     node --expose-gc --disable-warning=ExperimentalWarning bench/identities.ts
 *
 * `--rounds <n>`: so many quarters of a million (4); `--only addresses`: that kind alone. Each kind of caller meets a new gateway, in this process; a thread of its
 * own sends. Prints MB beyond those of the start after each round, as the collector leaves them.
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { withStore } from '../src/config/describe.ts';
import { loadConfig } from '../src/config/load.ts';
import { createGateway } from '../src/run/gateway.ts';
import { openStateFile } from '../src/state/embedded/file.ts';
import { FORGOTTEN, KINDS, type Kind, makeKeys, PLANS, SETTINGS } from './identities/kinds.ts';
import type { Sending } from './identities/sender.ts';

const ROUND = 250_000;
/** Requests before the start, after which code is compiled. */
const WARM = 10_000;
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '4' }, only: { type: 'string' } } });
const rounds = Number(values.rounds);

console.log(
  'MB of heap (and of the process) beyond the start, after each quarter of a million and when they are forgotten',
);
for (const kind of KINDS.filter((one) => values.only === undefined || one === values.only))
  console.log(`${kind.padEnd(12)} ${(await measure(kind)).join('   ')}`);

async function measure(kind: Kind): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-identities-'));
  writeFileSync(join(folder, 'gateway.yaml'), SETTINGS);
  writeFileSync(join(folder, 'plans.yaml'), PLANS);
  const env = { STOREGATE_CONFIG: 'gateway.yaml', STOREGATE_HOST: '127.0.0.1', STOREGATE_PORT: '0' };
  const config = loadConfig({ cwd: folder, env: { ...env, STOREGATE_ADMIN_PORT: '0' } });
  const db = openStateFile(config.data);
  const secrets = kind === 'known keys' ? makeKeys(db, rounds * ROUND + WARM) : '';
  db.close();
  // No request comes as far as the store.
  const gateway = await createGateway(withStore(config, 'http://127.0.0.1:1'));
  const { url } = await gateway.start();
  const sending: Sending = { kind, port: Number(new URL(url).port), secrets };
  const sender = new Worker(new URL('identities/sender.ts', import.meta.url), { workerData: sending });
  const send = async (count: number) => {
    sender.postMessage(count);
    await once(sender, 'message');
  };

  await send(WARM);
  const start = held();
  const rows: string[] = [];
  for (let round = 0; round < rounds; round++) {
    await send(ROUND);
    rows.push(since(start));
  }
  await pause(FORGOTTEN);
  rows.push(`then ${since(start)}`);
  await sender.terminate();
  await gateway.stop();
  rmSync(folder, { recursive: true });
  return rows;
}

/** Bytes that this thread holds after garbage collection, and those of the whole process. */
function held(): { heap: number; process: number } {
  globalThis.gc!();
  globalThis.gc!();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, process: rss };
}

function since(start: ReturnType<typeof held>): string {
  const now = held();
  const grown = (name: keyof typeof start) => ((now[name] - start[name]) / 1e6).toFixed(1);
  return `${grown('heap')} (${grown('process')})`;
}
