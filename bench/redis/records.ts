import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { hashSecret, makeSecret } from '../../src/records/keys/secret.ts';
import type { KeyStore } from '../../src/records/keys/store.ts';
import { KEPT } from '../../test/support/audit.ts';
import { mainOf } from '../../test/support/checkout.ts';
import { type RedisServer, startRedis } from '../../test/support/redis/server.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';
import { type Child, Children } from '../children.ts';
import { Connection, get, OK } from '../connection.ts';
import { cpuTime, residentMemory } from '../cpu.ts';
import { PacedClient } from '../pace.ts';
import { stepAside } from '../processors.ts';
import { percentile } from '../statistics.ts';
import { checkouts } from '../surroundings.ts';
import { gatewayIn } from '../targets/storegate-process.ts';
import type { Stops } from './event-loop.ts';

const DAY = 86_400_000;
const BATCH = 1_000;
const FOLDERS = 2;
const PROCESSES = 8;
/** Milliseconds between two requests about a revocation; requests per second meanwhile. */
const [PACE, RATE] = [5, 100];
const [REVOCATIONS, QUESTIONS, LOOK_UPS] = [20, 40, 20_000];
const RARE = 'large';
const PLANS = ['free', 'pro', RARE]
  .map((plan) => `  ${plan}: { windows: [{ limit: 1000000000000, per: day }] }`)
  .join('\n');
const SETTINGS = `http:
  authFailureLimit: { failures: 1000000, window: 1s }
  maxRequestsPerConnection: 1000000000
`;

/**
 * An import, a gateway with an empty folder, questions of operators, look-ups, a restart, and
 * revocations seen by eight processes in two folders. An account has ten keys, one key in ten is of
 * the plan pro, one in a hundred expires.
 */
export async function records(count: number, before: string | undefined): Promise<void> {
  if (!Number.isSafeInteger(count) || count < 1_000) throw new Error('--keys is below 1000');
  stepAside();
  const children = new Children();
  const backend = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('[{"id":1,"name":"Minka","categoryId":1,"status":"available"}]');
  }).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const { port } = backend.address() as AddressInfo;
  try {
    for (const { name, folder } of checkouts(before, children.folder)) {
      console.log(`\n${name}, ${count.toLocaleString('en')} keys`);
      const redis = await startRedis();
      try {
        await measure({ name, project: folder, count, redis, children, backend: port });
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
}

interface Gateway extends Child {
  readonly port: number;
  readonly adminUrl: string;
  readonly loop: string;
}

interface Setting {
  readonly name: string;
  readonly project: string;
  readonly count: number;
  readonly redis: RedisServer;
  readonly children: Children;
  readonly backend: number;
}

async function measure({ name, project, count, redis, children, backend }: Setting): Promise<void> {
  const place = join(children.folder, name);
  /** Keys that are used; the last ones, so that a reading has no reason to find them first. */
  const secrets = Array.from({ length: REVOCATIONS + 1 }, () => makeSecret('bench'));
  let started = 0;
  mkdirSync(place);
  await run();

  async function run(): Promise<void> {
    const data = (i: number) => join(place, `data-${i % FOLDERS}`);
    await importKeys();
    await firstStart(data(0));
    const copy = readdirSync(data(0)).find((file) => /^(records|keys-copy)\.db$/.test(file))!;
    report(`size of ${copy}`, `${perKey(statSync(join(data(0), copy)).size, count)}`);
    await ask(data(0));
    await restart(data(0));
    for (let i = 1; i < FOLDERS; i++) {
      mkdirSync(data(i));
      cpSync(join(data(0), copy), join(data(i), copy));
    }
    const gateways: Gateway[] = [];
    for (let i = 0; i < PROCESSES; i++) {
      gateways.push(await start(data(i), 'anywhere'));
      await untilWhole(gateways[i]!);
    }
    await revoke(gateways);
    for (const one of gateways) await one.stop();
  }

  async function importKeys(): Promise<void> {
    const file = join(place, 'made.ndjson');
    const { fileTarget } = await moduleOf('src/records/transfer/file-writer.ts');
    const header = { from: 'embedded', storegate: '0.0.0', at: new Date().toISOString() };
    const target = fileTarget(file, header);
    for (let at = 0; at < count; at += BATCH) {
      const length = Math.min(BATCH, count - at);
      target.add({
        type: 'key',
        values: Array.from({ length }, (_, i) => record(at + i)),
      });
    }
    await target.finish(null, { isCopy: true });
    const memory = async () =>
      Number(/^used_memory:(\d+)/m.exec(await redis.admin.info('memory'))![1]);
    const [before, began] = [await memory(), performance.now()];
    const flags = ['--disable-warning=ExperimentalWarning', mainOf(project)];
    const command = ['state', 'import', file, '--to', redis.url];
    execFileSync(process.execPath, [...flags, ...command], { cwd: place, stdio: 'ignore' });
    report('import of a file into Redis', seconds(began));
    report('memory of Redis', perKey((await memory()) - before, count));
  }

  // biome-ignore lint/suspicious/noExplicitAny: modules of another commit have other types.
  function moduleOf(file: string): Promise<any> {
    return import(join(project, file));
  }

  function secret(i: number): string | undefined {
    return secrets[count - 1 - i];
  }

  function hash(i: number): string {
    return hashSecret(secret(i) ?? `secret ${i}`);
  }

  function record(i: number): KeyRecord {
    return {
      id: idOf(i),
      version: 1,
      hash: hash(i),
      account: `account-${Math.floor(i / 10)}`,
      plan: secret(i) !== undefined ? RARE : i % 10 === 0 ? 'pro' : 'free',
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

  async function start(
    data: string,
    where: 'measured' | 'anywhere' = 'measured',
  ): Promise<Gateway> {
    const name = `gateway-${++started}`;
    const folder = join(place, name);
    const loop = join(folder, 'loop');
    mkdirSync(folder);
    writeFileSync(join(folder, 'plans.yaml'), `plans:\n${PLANS}\n`);
    writeFileSync(join(folder, 'gateway.yaml'), SETTINGS);
    const gateway = await gatewayIn(folder, project, {
      STOREGATE_DATA: data,
      STOREGATE_CONTRACT: join(project, 'config/openapi.yaml'),
      BACKEND_URL: `http://127.0.0.1:${backend}`,
      REDIS_URL: redis.url,
      LOG_LEVEL: 'warn',
      EVENT_LOOP: loop,
    });
    const watch = `--import=${join(import.meta.dirname, 'event-loop.ts')}`;
    const args = [watch, ...gateway.args, 'serve'];
    const command = { ...gateway, name, file: process.execPath, args, place: where };
    return { ...gateway, ...(await children.start(command)), loop };
  }

  async function known(gateway: Gateway): Promise<Connection> {
    const connection = new Connection(gateway.port);
    const outcome = await connection.ask(get('/pets', secrets[0]!));
    if (outcome !== OK) throw new Error(`a known key got ${outcome}`);
    return connection;
  }

  async function firstStart(data: string): Promise<void> {
    const began = performance.now();
    const gateway = await start(data);
    (await known(gateway)).close();
    report('empty folder: first response for a known key', seconds(began));
    await stopsOf(gateway);
    const client = new PacedClient(gateway.port);
    let isWhole = false;
    const pace = { rate: RATE, isOver: () => isWhole };
    const requests = client.run(get('/pets', secrets[0]!), pace);
    const memory = await untilWhole(gateway);
    isWhole = true;
    const cpu = cpuTime(gateway.pid) / 1e6;
    report('empty folder: the copy is whole', `${seconds(began)}, ${cpu.toFixed(1)} s of CPU`);
    report('most resident memory meanwhile', `${(memory / 2 ** 20).toFixed(0)} MiB`);
    const { longest, longestCpu, over5, over20 } = await stopsOf(gateway);
    report(
      'stops of the event loop meanwhile',
      `at most ${longest.toFixed(1)} ms (CPU ${longestCpu.toFixed(1)}), ${over5} over 5 ms, ${over20} over 20 ms`,
    );
    const timed = await requests;
    const failed = timed.find(({ outcome }) => outcome !== OK);
    if (failed) throw new Error(`a known key got ${failed.outcome}`);
    const latencies = timed.map(({ took }) => took);
    report('requests meanwhile', spreadOf(latencies, 'ms'));
    client.close();
    await gateway.stop();
  }

  /** In this process, with the copy of the folder. */
  async function ask(folder: string): Promise<void> {
    const { openRedis } = await moduleOf('src/records/redis/open.ts');
    const settings = {
      ...DEFAULTS,
      url: redis.url,
      deadline: 1_000,
      keyCacheTtl: 30_000,
      keyCache: { ...DEFAULTS.keyCache, resyncInterval: DAY },
    };
    const storage = await openRedis(settings, { observe: () => {}, audit: KEPT, folder });
    const keys = storage.keys as KeyStore;
    const account = (i: number) => `account-${(i * 7919) % Math.floor(count / 10)}`;
    const page = (filter: Parameters<KeyStore['read']>[0]) => first(keys.read(filter));
    const week = () => first(keys.readExpiring(Date.now(), Date.now() + 7 * DAY));
    const questions: readonly (readonly [string, (i: number) => unknown])[] = [
      ['keys of an account', (i) => page({ account: account(i) })],
      ['first page of a plan', () => page({ plan: 'pro' })],
      ['first page of a plan, newest first', () => page({ plan: 'pro', newestFirst: true })],
      ['first page, newest first', () => page({ newestFirst: true })],
      ['first page of keys that expire in a week', week],
      ['names of 100 accounts', (i) => keys.accounts(account(i), 100)],
      ['counts of two plans', () => keys.countKeys(['free', 'pro'])],
    ];
    try {
      for (const [what, ask] of questions) report(what, await times(QUESTIONS, ask, 'ms'));
      const find = async (i: number) => {
        if ((await keys.find(hash((i * 7919) % count))) === null)
          throw new Error('a key is missing');
      };
      report('look-ups of keys not in memory', await times(LOOK_UPS, find, 'µs'));
    } finally {
      await storage.close();
    }
  }

  async function restart(data: string): Promise<void> {
    const read = async () => {
      const stats = await redis.admin.info('commandstats');
      const calls = [...stats.matchAll(/^cmdstat_h?scan:calls=(\d+)/gm)];
      return calls.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const [before, began] = [await read(), performance.now()];
    const gateway = await start(data);
    (await known(gateway)).close();
    const time = seconds(began);
    await untilWhole(gateway);
    await pause(5_000);
    const cpu = cpuTime(gateway.pid) / 1e6;
    report(
      'restart: first response for a known key',
      `${time}; ${(await read()) - before} pages of keys read and ${cpu.toFixed(1)} s of CPU within 5 s`,
    );
    await gateway.stop();
  }

  /** By the admin API of the first gateway. */
  async function revoke(gateways: readonly Gateway[]): Promise<void> {
    const connections = gateways.map(({ port }) => new Connection(port));
    const keysAt = `${gateways[0]!.adminUrl}/keys`;
    // Loads the admin API.
    await fetch(`${keysAt}?limit=1`);
    const [calls, seen, last]: number[][] = [[], [], []];
    for (const [i, secret] of secrets.slice(1).entries()) {
      const request = get('/pets', secret);
      for (const connection of connections) await connection.ask(request);
      const began = performance.now();
      const refused = connections.map(async (connection, n) => {
        await pause((n * PACE) / PROCESSES);
        while ((await connection.ask(request)) === OK) await pause(PACE);
        return performance.now() - began;
      });
      const id = idOf(count - 2 - i);
      const response = await fetch(`${keysAt}/${id}`, { method: 'DELETE' });
      if (!response.ok) throw new Error(`a revocation got ${response.status}`);
      calls!.push(performance.now() - began);
      seen!.push(...(await Promise.all(refused)));
      last!.push(Math.max(...seen!.slice(-PROCESSES)));
    }
    report('revocation: response of the admin API', spreadOf(calls!, 'ms'));
    report(`refused by a process, of ${PROCESSES} in ${FOLDERS} folders`, spreadOf(seen!, 'ms'));
    report('refused by all of them', spreadOf(last!, 'ms'));
    for (const connection of connections) connection.close();
  }
}

function idOf(i: number): string {
  return `key_${hashSecret(`id ${i}`).replace(/[-_]/g, 'x').slice(0, 16)}`;
}

function report(what: string, result: string): void {
  console.log(`${what.padEnd(48)} ${result}`);
}

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(2)} s`;
const perKey = (bytes: number, count: number) => `${(bytes / count).toFixed(0)} bytes a key`;

async function times(count: number, work: (i: number) => unknown, unit: 'ms' | 'µs') {
  const found: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await work(i);
    found.push((performance.now() - began) * (unit === 'ms' ? 1 : 1_000));
  }
  return spreadOf(found, unit);
}

function spreadOf(figures: readonly number[], unit: string): string {
  const sorted = [...figures].sort((a, b) => a - b);
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(sorted, share).toFixed(1));
  return `p50 ${p50} ${unit}, p99 ${p99}, at most ${most}`;
}

/** Resolves with its most resident memory until then. */
async function untilWhole({ adminUrl, pid }: Gateway): Promise<number> {
  let memory = 0;
  for (;;) {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const age = /^storegate_key_cache_age_seconds (\S+)/m.exec(text);
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

async function first(pages: AsyncIterable<readonly KeyRecord[]>): Promise<void> {
  for await (const page of pages) if (page.length > 0) return;
  throw new Error('no keys were found');
}
