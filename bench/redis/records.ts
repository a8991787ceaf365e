/**
 * What many keys in Redis cost, and how soon gateways have them:
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/records.ts --keys 1000000
 *
 * An import, a gateway with an empty folder, questions of operators, look-ups, a restart, and
 * revocations seen by eight processes in two folders. An account has ten keys, one key in ten is of
 * the plan pro, one in a hundred expires. `--before` measures a commit, too.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { hashSecret, makeSecret } from '../../src/records/keys/secret.ts';
import type { KeyStore } from '../../src/records/keys/store.ts';
import { KEPT } from '../../test/support/audit.ts';
import { checkOut, mainOf } from '../../test/support/checkout.ts';
import { freePort } from '../../test/support/free-port.ts';
import { type RedisServer, startRedis } from '../../test/support/redis/server.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';
import { type Child, Children } from '../children.ts';
import { Connection, OK } from '../connection.ts';
import { cpuTime, residentMemory } from '../cpu.ts';
import { stepAside } from '../processors.ts';
import { percentile } from '../statistics.ts';
import type { Stops } from './event-loop.ts';

const { values } = parseArgs({
  options: { before: { type: 'string' }, keys: { type: 'string', default: '1000000' } },
});
const count = Number(values.keys);
if (!Number.isSafeInteger(count) || count < 1_000) throw new Error('--keys takes a whole number');

const DAY = 86_400_000;
const BATCH = 1_000;
const FOLDERS = 2;
const PROCESSES = 8;
/** Milliseconds between two requests of a client. */
const PACE = 5;
/** Milliseconds of requests without a reading, for comparison. */
const COMPARED = 5_000;
const [REVOCATIONS, QUESTIONS, LOOK_UPS] = [20, 40, 20_000];
const RARE = 'large';
const PLANS = ['free', 'pro', RARE]
  .map((plan) => `  ${plan}: { windows: [{ limit: 1000000000000, per: day }] }`)
  .join('\n');
const SETTINGS = `http:
  authFailureLimit: { failures: 1000000, window: 1s }
  maxRequestsPerConnection: 1000000000
`;
const run = promisify(execFile);
let started = 0;

/** Keys that are used; the last ones, so that a reading has no reason to find them first. */
const secrets = Array.from({ length: REVOCATIONS + 1 }, () => makeSecret('bench'));

stepAside();
const children = new Children();
const backend = createServer((_, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('[{"id":1,"name":"Minka","categoryId":1,"status":"available"}]');
}).listen(0, '127.0.0.1');
await once(backend, 'listening');
try {
  const builds = [{ name: 'today', folder: join(import.meta.dirname, '../..') }];
  if (values.before !== undefined) builds.unshift(checkOut(values.before, children.folder));
  for (const { name, folder } of builds) {
    console.log(`\n${name}, ${count.toLocaleString('en')} keys`);
    const redis = await startRedis();
    try {
      await measure(name, folder, redis);
    } finally {
      await redis.stop();
    }
  }
} catch (error) {
  for (const death of children.deaths) console.error(death);
  throw error;
} finally {
  backend.close();
  await children.close();
}

async function measure(name: string, project: string, redis: RedisServer): Promise<void> {
  const place = join(children.folder, name);
  mkdirSync(place);
  const data = join(place, 'data-0');
  await importKeys(project, place, redis);
  let gateway = await firstStart(project, data, redis);
  await gateway.stop();
  const copy = readdirSync(data).find((file) => /^(records|keys-copy)\.db$/.test(file))!;
  report(`size of ${copy}`, `${(statSync(join(data, copy)).size / count).toFixed(0)} bytes a key`);
  await ask(project, data, redis);
  await restart(project, data, redis);
  for (let i = 1; i < FOLDERS; i++) {
    mkdirSync(join(place, `data-${i}`));
    cpSync(join(data, copy), join(place, `data-${i}`, copy));
  }
  const gateways = [];
  for (let i = 0; i < PROCESSES; i++) {
    gateway = await start(project, join(place, `data-${i % FOLDERS}`), redis, 'anywhere');
    await untilWhole(gateway);
    gateways.push(gateway);
  }
  await revoke(gateways);
  for (const one of gateways) await one.stop();
}

function report(what: string, result: string): void {
  console.log(`${what.padEnd(48)} ${result}`);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(2)} s`;
}

async function importKeys(project: string, place: string, redis: RedisServer): Promise<void> {
  const file = join(place, 'made.ndjson');
  const { fileTarget } = await ofBuild(project, 'src/records/transfer/file-writer.ts');
  const header = { from: 'embedded', storegate: '0.0.0', at: new Date().toISOString() };
  const target = fileTarget(file, header);
  for (let at = 0; at < count; at += BATCH)
    target.add({
      type: 'key',
      values: Array.from({ length: Math.min(BATCH, count - at) }, (_, i) => record(at + i)),
    });
  await target.finish(null, { isCopy: true });
  const memory = async () =>
    Number(/^used_memory:(\d+)/m.exec(await redis.admin.info('memory'))![1]);
  const [before, began] = [await memory(), performance.now()];
  const args = ['state', 'import', file, '--to', redis.url];
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', mainOf(project), ...args], {
    cwd: place,
    maxBuffer: 2 ** 30,
  });
  report('import of a file into Redis', seconds(began));
  report('memory of Redis', `${(((await memory()) - before) / count).toFixed(0)} bytes a key`);
}

// biome-ignore lint/suspicious/noExplicitAny: modules of another commit have other types.
function ofBuild(project: string, file: string): Promise<any> {
  return import(join(project, file));
}

function idOf(i: number): string {
  return `key_${hashSecret(`id ${i}`).replace(/[-_]/g, 'x').slice(0, 16)}`;
}

function hashOf(i: number): string {
  return hashSecret(isUsed(i) ? secrets[count - 1 - i]! : `secret ${i}`);
}

function isUsed(i: number): boolean {
  return i >= count - secrets.length;
}

function record(i: number): KeyRecord {
  return {
    id: idOf(i),
    version: 1,
    hash: hashOf(i),
    account: `account-${Math.floor(i / 10)}`,
    plan: isUsed(i) ? RARE : i % 10 === 0 ? 'pro' : 'free',
    label: `key number ${i}`,
    windows: null,
    addresses: null,
    scopes: [],
    metadata: {},
    createdAt: 1_700_000_000_000 + i,
    expiresAt: i % 100 === 0 ? Date.now() + (1 + (i % 89)) * DAY : null,
    disabledAt: null,
    revokedAt: null,
    rotatedAt: null,
    previous: null,
    imported: false,
  };
}

interface Gateway extends Child {
  readonly port: number;
  readonly adminPort: number;
  readonly loop: string;
}

async function start(
  project: string,
  data: string,
  redis: RedisServer,
  place: 'measured' | 'anywhere' = 'measured',
): Promise<Gateway> {
  const folder = join(children.folder, `gateway-${++started}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'plans.yaml'), `plans:\n${PLANS}\n`);
  writeFileSync(join(folder, 'gateway.yaml'), SETTINGS);
  const [port, adminPort, loop] = [await freePort(), await freePort(), join(folder, 'loop')];
  const child = await children.start({
    name: `gateway-${started}`,
    file: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      '--min-semi-space-size=16',
      `--import=${join(import.meta.dirname, 'event-loop.ts')}`,
      mainOf(project),
      'serve',
    ],
    env: {
      STOREGATE_HOST: '127.0.0.1',
      STOREGATE_PORT: `${port}`,
      STOREGATE_ADMIN_PORT: `${adminPort}`,
      STOREGATE_DATA: data,
      STOREGATE_CONFIG: join(folder, 'gateway.yaml'),
      STOREGATE_PLANS: join(folder, 'plans.yaml'),
      STOREGATE_CONTRACT: join(project, 'config/openapi.yaml'),
      BACKEND_URL: `http://127.0.0.1:${(backend.address() as AddressInfo).port}`,
      REDIS_URL: redis.url,
      LOG_LEVEL: 'warn',
      EVENT_LOOP: loop,
    },
    port,
    place,
  });
  return { ...child, port, adminPort, loop };
}

function requestWith(secret: string): string {
  return `GET /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${secret}\r\n\r\n`;
}

/** Includes a request with a known key. */
async function firstStart(project: string, data: string, redis: RedisServer): Promise<Gateway> {
  const began = performance.now();
  const gateway = await start(project, data, redis);
  const connection = new Connection(gateway.port);
  const outcome = await connection.ask(requestWith(secrets[0]!));
  if (outcome !== OK) throw new Error(`a known key was answered with: ${outcome}`);
  report('empty folder: first response for a known key', seconds(began));
  await stopsOf(gateway);
  const latencies = client(connection);
  const memory = await untilWhole(gateway);
  const cpu = cpuTime(gateway.pid) / 1e6;
  report('empty folder: the copy is whole', `${seconds(began)}, ${cpu.toFixed(1)} s of CPU`);
  report('most resident memory meanwhile', `${(memory / 2 ** 20).toFixed(0)} MiB`);
  report('stops of the event loop meanwhile', written(await stopsOf(gateway)));
  report('requests meanwhile', spreadOf(await latencies.stop(), 'ms'));
  const quiet = client(connection);
  await pause(COMPARED);
  report('stops in the 5 s after it', written(await stopsOf(gateway)));
  report('requests in the 5 s after it', spreadOf(await quiet.stop(), 'ms'));
  connection.close();
  return gateway;
}

/** Sends requests until it is stopped; then resolves with their durations in milliseconds. */
function client(connection: Connection) {
  const latencies: number[] = [];
  let isStopped = false;
  const done = (async () => {
    while (!isStopped) {
      const sent = performance.now();
      const outcome = await connection.ask(requestWith(secrets[0]!));
      if (outcome !== OK) throw new Error(`a known key was answered with: ${outcome}`);
      latencies.push(performance.now() - sent);
      await pause(PACE);
    }
    return latencies;
  })();
  done.catch(() => {});
  return {
    stop() {
      isStopped = true;
      return done;
    },
  };
}

/** Resolves with its most resident memory until then. */
async function untilWhole({ adminPort, pid }: Gateway): Promise<number> {
  let memory = 0;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
    const age = /^storegate_key_cache_age_seconds (\S+)/m.exec(await response.text());
    memory = Math.max(memory, residentMemory(pid));
    // Another process of the folder writes the copy.
    if (age === null || age[1] !== '+Inf') return memory;
    await pause(200);
  }
}

async function stopsOf({ loop }: Gateway): Promise<Stops> {
  let text = '';
  for await (const part of connect(loop)) text += part;
  return JSON.parse(text) as Stops;
}

function written({ longest, longestCpu, over5, over20 }: Stops): string {
  return `longest ${longest.toFixed(1)} ms (CPU ${longestCpu.toFixed(1)}), ${over5} over 5 ms, ${over20} over 20 ms`;
}

function spreadOf(figures: readonly number[], unit: string): string {
  const sorted = [...figures].sort((a, b) => a - b);
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  const [fastest, longest] = [sorted[0]!, sorted.at(-1)!];
  return `p50 ${p50.toFixed(1)} ${unit}, p99 ${p99.toFixed(1)}, fastest ${fastest.toFixed(1)}, longest ${longest.toFixed(1)} (${sorted.length})`;
}

/** In this process, with the copy of the folder. */
async function ask(project: string, folder: string, redis: RedisServer): Promise<void> {
  const { openRedis } = await ofBuild(project, 'src/records/redis/open.ts');
  const settings = {
    ...DEFAULTS,
    url: redis.url,
    deadline: 1_000,
    keyCacheTtl: 30_000,
    keyCache: { ...DEFAULTS.keyCache, resyncInterval: DAY },
  };
  const storage = await openRedis(settings, { observe: () => {}, audit: KEPT, folder });
  const keys = storage.keys as KeyStore;
  try {
    const account = (i: number) => `account-${(i * 7919) % Math.floor(count / 10)}`;
    await question('keys of an account', (i) => first(keys.read({ account: account(i) })));
    await question('first page of a plan', () => first(keys.read({ plan: 'pro' })));
    await question('first page of a plan, newest first', () =>
      first(keys.read({ plan: 'pro', newestFirst: true })),
    );
    await question('first page, newest first', () => first(keys.read({ newestFirst: true })));
    await question('first page of keys that expire in a week', () =>
      first(keys.readExpiring(Date.now(), Date.now() + 7 * DAY)),
    );
    await question('names of 100 accounts', (i) => keys.accounts(account(i), 100));
    await question('counts of two plans', () => keys.countKeys(['free', 'pro']));
    const times: number[] = [];
    for (let i = 0; i < LOOK_UPS; i++) {
      const hash = hashOf((i * 7919) % count);
      const began = performance.now();
      const found = keys.find(hash);
      const isFound = (await found) !== null;
      times.push((performance.now() - began) * 1_000);
      if (!isFound) throw new Error('a key is missing');
    }
    report('look-ups of keys not in memory', spreadOf(times, 'us'));
  } finally {
    await storage.close();
  }
}

async function first(pages: AsyncIterable<readonly KeyRecord[]>): Promise<void> {
  for await (const page of pages) if (page.length > 0) return;
  throw new Error('no keys were found');
}

async function question(what: string, ask: (i: number) => unknown): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < QUESTIONS; i++) {
    const began = performance.now();
    await ask(i);
    times.push(performance.now() - began);
  }
  report(what, spreadOf(times, 'ms'));
}

async function restart(project: string, data: string, redis: RedisServer): Promise<void> {
  const read = async () =>
    [...(await redis.admin.info('commandstats')).matchAll(/^cmdstat_h?scan:calls=(\d+)/gm)].reduce(
      (sum, [, calls]) => sum + Number(calls),
      0,
    );
  const [before, began] = [await read(), performance.now()];
  const gateway = await start(project, data, redis);
  const connection = new Connection(gateway.port);
  await connection.ask(requestWith(secrets[0]!));
  const time = seconds(began);
  await untilWhole(gateway);
  await pause(5_000);
  const cpu = cpuTime(gateway.pid) / 1e6;
  const pages = (await read()) - before;
  report(
    'restart: first response for a known key',
    `${time}; ${pages} pages of keys read and ${cpu.toFixed(1)} s of CPU within 5 s`,
  );
  connection.close();
  await gateway.stop();
}

/** By the admin API of the first gateway. */
async function revoke(gateways: readonly Gateway[]): Promise<void> {
  const connections = gateways.map(({ port }) => new Connection(port));
  const keysAt = `http://127.0.0.1:${gateways[0]!.adminPort}/keys`;
  // Loads the admin API.
  await fetch(`${keysAt}?limit=1`);
  const [calls, seen, last]: number[][] = [[], [], []];
  for (const [i, secret] of secrets.slice(1).entries()) {
    const request = requestWith(secret);
    for (const connection of connections) await connection.ask(request);
    const began = performance.now();
    const refused = connections.map(async (connection, n) => {
      await pause((n * PACE) / PROCESSES);
      while ((await connection.ask(request)) === OK) await pause(PACE);
      return performance.now() - began;
    });
    const id = idOf(count - 2 - i);
    const response = await fetch(`${keysAt}/${id}`, { method: 'DELETE' });
    if (!response.ok) throw new Error(`a revocation was answered with ${response.status}`);
    calls!.push(performance.now() - began);
    const times = await Promise.all(refused);
    seen!.push(...times);
    last!.push(Math.max(...times));
  }
  report('revocation: response of the admin API', spreadOf(calls!, 'ms'));
  report(`refused by a process, of ${PROCESSES} in ${FOLDERS} folders`, spreadOf(seen!, 'ms'));
  report('refused by all of them', spreadOf(last!, 'ms'));
  for (const connection of connections) connection.close();
}
