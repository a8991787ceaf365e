import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY } from '../../src/common/time.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { hashSecret, makeSecret } from '../../src/records/keys/secret.ts';
import type { KeyStore } from '../../src/records/keys/store.ts';
import { KEPT } from '../../test/support/audit.ts';
import { DEFAULTS } from '../../test/support/redis/settings.ts';
import type { Child, Command } from '../children.ts';
import { Connection, get, OK } from '../connection.ts';
import { cpuTime, residentMemory } from '../cpu.ts';
import { PacedClient, timesOf } from '../pace.ts';
import { redisInfo } from '../redis-server.ts';
import { type Spread, spread } from '../statistics.ts';
import { checkouts, withSurroundings } from '../surroundings.ts';
import { printHead, printRow } from '../table.ts';
import { HTTP, mainArguments, prepareGateway } from '../targets/storegate-process.ts';
import type { Surroundings } from '../targets/target.ts';
import type { Stops } from './event-loop.ts';

const FOLDERS = 2;
const PROCESSES = 8;
/** Milliseconds between two requests about a revocation; requests per second meanwhile. */
const [PACE, RATE] = [5, 100];
const [REVOCATIONS, QUESTIONS, LOOK_UPS] = [20, 40, 20_000];
const RARE = 'large';
const WINDOWS = '{ windows: [{ limit: 1000000000000, per: day }] }';
const PLANS = `plans: { free: ${WINDOWS}, pro: ${WINDOWS}, ${RARE}: ${WINDOWS} }\n`;

/**
 * An import, a gateway with an empty folder, questions of operators, look-ups, a restart, and
 * revocations seen by eight processes in two folders. An account has ten keys, one key in ten is of
 * the plan pro, one in a hundred expires.
 */
export async function records(count: number, before: string | null): Promise<void> {
  if (count < 1_000) throw new Error('--keys is below 1000');
  const work = async (surroundings: Surroundings) => {
    for (const { name, folder } of checkouts(before, surroundings.children.folder)) {
      printHead('what', `${count.toLocaleString('en')} keys, ${name}`);
      await measure(name, folder, count, surroundings);
      await surroundings.redis!.client.flushall();
    }
  };
  await withSurroundings(work, ['redis-server']);
}

interface Gateway extends Child {
  readonly adminUrl: string;
  readonly loop: string;
}

async function measure(
  name: string,
  project: string,
  count: number,
  { children, backend, redis: running }: Surroundings,
): Promise<void> {
  const redis = running!;
  const place = join(children.folder, name);
  /** Keys that are used; the last ones, so that a reading has no reason to find them first. */
  const secrets = Array.from({ length: REVOCATIONS + 1 }, () => makeSecret('bench'));
  const request = get('/pets', secrets[0]!);
  let started = 0;
  mkdirSync(place);
  await run();

  async function run(): Promise<void> {
    const data = (i: number) => join(place, `data-${i % FOLDERS}`);
    await importKeys();
    await firstStart(data(0));
    const copy = readdirSync(data(0)).find((file) => /^(records|keys-copy)\.db$/.test(file))!;
    printRow(`size of ${copy}`, perKey(statSync(join(data(0), copy)).size));
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
    for (let i = 0; i < count; i++) target.add({ type: 'key', values: [record(i)] });
    await target.finish(null, { isCopy: true });
    const memory = () => redisInfo(redis, 'memory', 'used_memory:');
    const [before, began] = [await memory(), performance.now()];
    const command = ['state', 'import', file, '--to', redis.url];
    const args = [...mainArguments(join(project, 'src/main.js')), ...command];
    execFileSync(process.execPath, args, { cwd: place, stdio: 'ignore' });
    printRow('import of a file into Redis', seconds(began));
    printRow('memory of Redis', perKey((await memory()) - before));
  }

  // biome-ignore lint/suspicious/noExplicitAny: modules of another commit have other types.
  function moduleOf(file: string): Promise<any> {
    return import(join(project, file));
  }

  function perKey(bytes: number): string {
    return `${(bytes / count).toFixed(0)} bytes a key`;
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

  async function start(data: string, where: Command['place'] = 'measured'): Promise<Gateway> {
    const process = `${name}-${++started}`;
    const loop = join(children.folder, process, 'loop');
    const { command, adminUrl } = await prepareGateway(children, process, {
      project,
      files: { 'plans.yaml': PLANS, 'gateway.yaml': JSON.stringify({ http: HTTP }) },
      env: {
        STOREGATE_DATA: data,
        STOREGATE_CONTRACT: join(project, 'config/openapi.yaml'),
        BACKEND_URL: backend.url,
        REDIS_URL: redis.url,
        LOG_LEVEL: 'warn',
        EVENT_LOOP: loop,
      },
      place: where,
    });
    const watch = `--import=${join(import.meta.dirname, 'event-loop.ts')}`;
    const child = await children.start({ ...command, args: [watch, ...command.args] });
    return { ...child, adminUrl, loop };
  }

  /** A gateway that has answered, and how long that took. */
  async function startKnown(data: string): Promise<[Gateway, string]> {
    const began = performance.now();
    const gateway = await start(data);
    const connection = new Connection(gateway.port);
    const outcome = await connection.ask(request);
    if (outcome !== OK) throw new Error(`a known key got ${outcome}`);
    connection.close();
    return [gateway, seconds(began)];
  }

  async function firstStart(data: string): Promise<void> {
    const began = performance.now();
    const [gateway, time] = await startKnown(data);
    printRow('empty folder: first response for a known key', time);
    await stopsOf(gateway);
    const client = new PacedClient(gateway.port);
    let isWhole = false;
    const pace = { rate: RATE, isOver: () => isWhole };
    const requests = client.run(request, pace);
    const memory = await untilWhole(gateway);
    isWhole = true;
    const cpu = cpuTime(gateway.pid) / 1e6;
    printRow('empty folder: the copy is whole', `${seconds(began)}, ${cpu.toFixed(1)} s of CPU`);
    printRow('most resident memory meanwhile', `${(memory / 2 ** 20).toFixed(0)} MiB`);
    const { longest, longestCpu, over5, over20 } = await stopsOf(gateway);
    printRow(
      'stops of the event loop meanwhile',
      `at most ${longest.toFixed(1)} ms (CPU ${longestCpu.toFixed(1)}), ${over5} over 5 ms, ${over20} over 20 ms`,
    );
    const timed = await requests;
    const failed = timed.find(({ outcome }) => outcome !== OK);
    if (failed) throw new Error(`a known key got ${failed.outcome}`);
    printRow('requests meanwhile', spreadText(timesOf(timed)));
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
      for (const [what, ask] of questions)
        printRow(what, spreadText(spread(await times(QUESTIONS, ask))));
      const find = async (i: number) => {
        if ((await keys.find(hash((i * 7919) % count))) === null)
          throw new Error('a key is missing');
      };
      const lookUps = (await times(LOOK_UPS, find)).map((time) => 1_000 * time);
      printRow('look-ups of keys not in memory', spreadText(spread(lookUps), 'µs'));
    } finally {
      await storage.close();
    }
  }

  async function restart(data: string): Promise<void> {
    const read = () => redisInfo(redis, 'commandstats', 'cmdstat_h?scan:calls=');
    const before = await read();
    const [gateway, time] = await startKnown(data);
    await untilWhole(gateway);
    await pause(5_000);
    const cpu = cpuTime(gateway.pid) / 1e6;
    printRow(
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
    const refusals = `refused by a process, of ${PROCESSES} in ${FOLDERS} folders`;
    printRow('revocation: response of the admin API', spreadText(spread(calls!)));
    printRow(refusals, spreadText(spread(seen!)));
    printRow('refused by all of them', spreadText(spread(last!)));
    for (const connection of connections) connection.close();
  }
}

function idOf(i: number): string {
  return `key_${hashSecret(`id ${i}`).replace(/[-_]/g, 'x').slice(0, 16)}`;
}

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(2)} s`;

async function times(count: number, work: (i: number) => unknown): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await work(i);
    found.push(performance.now() - began);
  }
  return found;
}

function spreadText({ median, p99, max }: Spread, unit = 'ms'): string {
  return `p50 ${median.toFixed(1)} ${unit}, p99 ${p99.toFixed(1)}, at most ${max.toFixed(1)}`;
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
