import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DAY, HOUR, MINUTE, SECOND } from '../src/common/time.ts';
import { sumName } from '../src/ledger/names.ts';
import { createUsageReader } from '../src/ledger/reader.ts';
import { createRecorder } from '../src/ledger/recorder.ts';
import { type Dimension, report } from '../src/ledger/report.ts';
import { createRollup } from '../src/ledger/rollup.ts';
import type { UsageStore } from '../src/ledger/store.ts';
import { packAllRows, packRows, UsageTable } from '../src/ledger/usage-table.ts';
import { NO_CONTENT, packValue } from '../src/ledger/value.ts';
import { createUsageWriter } from '../src/ledger/writer.ts';
import { createRowWriter } from '../src/state/rows/row-writer.ts';
import { usageInFolder } from '../src/state/usage-folder.ts';
import { requestEvent } from '../test/support/request-event.ts';

// What the ledger costs: counting, memory, reports, and a day on disk.
// Run: node bench/ledger.ts [counting memory accounts keys day]

const FIRST = Date.UTC(2026, 9, 1);
const DAYS = 31;
const ADMITTED = { status: 200, code: null, verdict: 'admitted', deprecated: false } as const;

/** Milliseconds of CPU of this process. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const ms = (value: number) => `${value.toFixed(value < 10 ? 3 : 0)} ms`;
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
/** As random as the ids of keys. */
const keyOf = (number: number) =>
  `key_${BigInt.asUintN(95, 0x9e3779b97f4a7c15f39cc060n * BigInt(number + 1)).toString(36)}`;

async function counting(): Promise<void> {
  const recorder = createRecorder(Date.now, () => {});
  const events = Array.from({ length: 1_000 }, (_, i) => requestEvent({ keyId: keyOf(i) }));
  const count = () => {
    for (const event of events) recorder.observe(event);
  };
  count();
  const times = 2_000;
  const cpu = await cpuOf(() => {
    for (let i = 0; i < times; i++) count();
  });
  console.log(
    `a request, one of 1,000 keys: ${((cpu * 1e6) / times / 1_000).toFixed(0)} ns of CPU`,
  );
  const { usage } = recorder.minute;
  const packing = await cpuOf(() => {
    for (let i = 0; i < 100; i++) packRows(usage);
  });
  console.log(`1,000 keys of a minute: ${ms(packing / 100)} of CPU to pack`);
}

/** Of the open minute: 200,000 keys that send all the time. */
async function memory(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const keys = 200_000;
  let now = FIRST;
  const names = Array.from({ length: keys }, (_, i) => keyOf(i));
  const recorder = createRecorder(
    () => now,
    () => {},
  );
  const send = () => {
    for (const keyId of names) recorder.observe(requestEvent({ keyId, account: 'a', plan: 'p' }));
  };
  const before = used();
  send();
  const first = used();
  for (let second = 1; second < 5; second++) {
    now += 10 * SECOND;
    send();
  }
  const bytes = (used() - before) / keys;
  console.log(`a key in the open minute: ${bytes.toFixed(0)} bytes of memory with its name`);
  console.log(`of these in rows: ${((recorder.minute.usage.size * 64) / keys).toFixed(0)}`);
  console.log(`more for four more requests of each: ${((used() - first) / keys).toFixed(1)}`);
}

function openFolder(given: string | null = null) {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'storegate-ledger-'));
  const writer = createRowWriter(folder);
  const store = usageInFolder(folder, writer, (error) => console.error(error));
  const bytes = () =>
    readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  return {
    path: folder,
    store,
    bytes,
    async close() {
      await store.close();
      await writer.close();
      return bytes();
    },
  };
}

/** The most CPU time that this thread took at once, while others waited. */
async function longestStep(work: () => Promise<unknown>): Promise<string> {
  const steps: number[] = [];
  let isDone = false;
  let before = process.threadCpuUsage();
  const step = () => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    steps.push((user + system) / 1_000);
    if (!isDone) setImmediate(step);
  };
  setImmediate(step);
  await work();
  isDone = true;
  steps.sort((one, other) => one - other);
  return `steps of at most ${ms(steps.at(-1)!)}, 99 % of ${ms(steps[Math.floor(0.99 * steps.length)]!)}`;
}

/** A month in which each account, or key, has sent each operation every day. */
async function month(clients: number, operations: number) {
  const folder = openFolder();
  let bytes = 0;
  for (let day = 0; day < DAYS; day++) {
    const start = FIRST + day * DAY;
    const table = new UsageTable();
    const { names } = table;
    const outcome = names.outcome(ADMITTED);
    for (let one = 0; one < clients; one++) {
      const account = `account-${one % 1_000}`;
      const client = names.client({ key: keyOf(one), account, plan: 'free' });
      for (let operation = 0; operation < operations; operation++) {
        const row = table.row(client, names.operation(`operation${operation}`), outcome);
        const requests = [Math.floor(Math.random() * 500), one % 20, one % 7, 0, 0];
        const sum = requests.reduce((all, each) => all + each, 0);
        const last = start / SECOND + Math.floor(Math.random() * 86_400);
        const sent = sum * 1_000 + Math.floor(Math.random() * 500);
        const numbers = [0, 0, 0, ...requests, 0, last, sum, 0, sent];
        table.add(
          row,
          numbers.map((number) => [number]),
          0,
        );
      }
    }
    const head = { start, span: DAY, policies: 0, sources: {} };
    const usage = [...packAllRows(table)];
    const value = packValue(head, { ...NO_CONTENT, usage }, { compress: true });
    bytes += value.length;
    const sums = new Map([[sumName('d', start, value), value]]);
    await folder.store.inTurn((commit) => commit(sums, new Map()));
  }
  const perDay = bytes / DAYS;
  console.log(
    `${DAYS} days of ${clients} clients and ${operations} operations: ${mb(bytes)}; 400 days: ${mb(400 * perDay)}`,
  );
  await folder.close();
  return folder.path;
}

/** Each in a process of its own, with the arguments of Node.js that a gateway has. */
function reporting(path: string, bys: readonly string[]): void {
  const [start] = readFileSync(new URL('../src/main.js', import.meta.url), 'utf8').split('\n');
  const flags = start!.split(' ').filter((one) => one.startsWith('--'));
  for (const by of bys) {
    const args = [...flags, import.meta.filename, 'report', path, by];
    execFileSync(process.execPath, args, { stdio: 'inherit' });
  }
  rmSync(path, { recursive: true });
}

async function reportOf(path: string, by: string): Promise<void> {
  const { store, close } = openFolder(path);
  const reader = createUsageReader(store, console.error);
  const period = { from: FIRST, to: FIRST + DAYS * DAY };
  const question = { ...period, by: by.split(',') as Dimension[], filter: {} };
  let rows = 0;
  let most = process.memoryUsage.rss();
  const before = most;
  const cpu = await cpuOf(async () => {
    for await (const part of report(reader, question)) {
      rows += part.length;
      most = Math.max(most, process.memoryUsage.rss());
    }
  });
  const steps = await longestStep(async () => {
    for await (const _ of report(reader, question));
  });
  console.log(`by ${by}: ${rows} rows, CPU ${ms(cpu)}, ${steps}, ${mb(before)} to ${mb(most)}`);
  await close();
}

async function accounts(): Promise<void> {
  const bys = ['account,operation', 'account', 'operation', 'day,account,operation'];
  reporting(await month(1_000, 50), bys);
}

async function keys(): Promise<void> {
  reporting(await month(100_000, 1), ['key', 'account', 'day,key']);
}

/** A million requests of 1,000 keys, stored every ten seconds of a virtual day. */
async function day(): Promise<void> {
  const { path, store, bytes, close } = openFolder();
  let now = FIRST;
  const clock = () => now;
  const writer = createUsageWriter({ process: 'host:1#a', clock, failed: console.error });
  writer.begin(store, null);
  const ofStore: UsageStore = { ...store, now: clock };
  const retention = () => ({ hours: 35 * DAY, days: 400 * DAY, maxBytes: 1 << 30 });
  const rollup = createRollup({ store: ofStore, retention, damaged: console.error });
  const each = Math.round(1e6 / (DAY / (10 * SECOND)));
  for (; now < FIRST + DAY; now += 10 * SECOND) {
    for (let i = 0; i < each; i++) {
      const key = Math.floor(Math.random() * 1_000);
      const operation = `operation${Math.floor(Math.random() * 10)}`;
      const about = { account: `account-${key % 100}`, operation };
      writer.recorder.observe(requestEvent({ keyId: keyOf(key), ...about }));
    }
    await writer.flush();
    if (now % MINUTE === 20 * SECOND) await rollup.run(now);
  }
  const sizes = async () => {
    const { sizes, parts } = await store.index();
    const groups = Map.groupBy(sizes, ([name]) => name[0]);
    const all = [...groups].map(
      ([kind, of]) =>
        `${kind} ${of.length} with ${mb(of.reduce((sum, [, size]) => sum + size, 0))}`,
    );
    return `${all.join(', ')}, ${parts.size} parts`;
  };
  console.log(`a day of a million requests: ${await sizes()}; ${mb(bytes())} on disk`);
  now += 4 * HOUR;
  await writer.flush();
  await rollup.run(now);
  console.log(`four hours later: ${await sizes()}`);
  await writer.close();
  console.log(`${mb(await close())} on disk`);
  rmSync(path, { recursive: true });
}

const ALL = { counting, memory, accounts, keys, day };
const [first, path, by] = process.argv.slice(2);
const expected = process.argv.slice(2);
if (first === 'report') await reportOf(path!, by!);
else
  for (const [name, work] of Object.entries(ALL))
    if (expected.length === 0 || expected.includes(name)) await work();
