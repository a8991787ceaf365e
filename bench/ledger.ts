import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY, HOUR, MINUTE, SECOND } from '../src/common/time.ts';
import { sumName } from '../src/ledger/names.ts';
import { createUsageReader } from '../src/ledger/reader.ts';
import { createRecorder } from '../src/ledger/recorder.ts';
import { type Dimension, report } from '../src/ledger/report.ts';
import { createRollup } from '../src/ledger/rollup.ts';
import type { UsageStore } from '../src/ledger/store.ts';
import { packAllRows, UsageTable } from '../src/ledger/usage-table.ts';
import { NO_CONTENT, packValue } from '../src/ledger/value.ts';
import { createUsageWriter } from '../src/ledger/writer.ts';
import { createRowWriter } from '../src/state/rows/row-writer.ts';
import { usageInFolder } from '../src/state/usage-folder.ts';
import { requestEvent } from '../test/support/request-event.ts';
import { heldMemory, total } from './cpu.ts';
import { mainArguments } from './targets/storegate-process.ts';

// What the ledger costs: counting, memory, reports, and a day on disk.
// Run: node bench/ledger.ts [counting memory accounts keys day]

const FIRST = Date.UTC(2026, 9, 1);
const DAYS = 31;
const ADMITTED = { status: 200, code: null, verdict: 'admitted', deprecated: false } as const;

/** Milliseconds of CPU of this process. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return total(process.cpuUsage(before)) / 1_000;
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
  const each = (cpu * 1e6) / times / events.length;
  console.log(`a request, one of 1,000 keys: ${each.toFixed(0)} ns of CPU`);
}

/** Of the open minute: 200,000 keys that send all the time. */
async function memory(): Promise<void> {
  const keys = 200_000;
  let now = FIRST;
  const names = Array.from({ length: keys }, (_, i) => keyOf(i));
  const recorder = createRecorder(
    () => now,
    () => {},
  );
  const before = heldMemory();
  for (let sent = 0; sent < 5; sent++, now += 10 * SECOND)
    for (const keyId of names) recorder.observe(requestEvent({ keyId, account: 'a', plan: 'p' }));
  const bytes = (heldMemory() - before) / keys;
  console.log(`a key in the open minute: ${bytes.toFixed(0)} bytes of memory with its name`);
  console.log(`of these in rows: ${((recorder.minute.usage.size * 64) / keys).toFixed(0)}`);
}

function openFolder(given: string | null = null) {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'storegate-ledger-'));
  const writer = createRowWriter(folder);
  const store = usageInFolder(folder, writer, (error) => console.error(error));
  return {
    path: folder,
    store,
    /** Resolves with the bytes on disk. */
    async close() {
      await store.close();
      await writer.close();
      return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    },
  };
}

/** The most CPU time that this thread took at once, while others waited. */
async function longestStep(work: () => Promise<unknown>): Promise<string> {
  let longest = 0;
  let isDone = false;
  let before = process.threadCpuUsage();
  const step = () => {
    longest = Math.max(longest, total(process.threadCpuUsage(before)) / 1_000);
    before = process.threadCpuUsage();
    if (!isDone) setImmediate(step);
  };
  setImmediate(step);
  await work();
  isDone = true;
  return `steps of at most ${ms(longest)}`;
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
  const flags = mainArguments(join(import.meta.dirname, '../src/main.js')).slice(0, -1);
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

/** A million requests of 1,000 keys, stored every ten seconds of a virtual day. */
async function day(): Promise<void> {
  const { path, store, close } = openFolder();
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
  now += 4 * HOUR;
  await writer.flush();
  await rollup.run(now);
  const { sizes } = await store.index();
  const groups = [...Map.groupBy(sizes, ([name]) => name[0])].map(([kind, values]) => {
    const sum = values.reduce((sum, [, size]) => sum + size, 0);
    return `${kind} ${values.length} with ${mb(sum)}`;
  });
  await writer.close();
  const disk = mb(await close());
  console.log(`a day of a million requests: ${groups.join(', ')}; ${disk} on disk`);
  rmSync(path, { recursive: true });
}

const ALL = {
  counting,
  memory,
  accounts: async () =>
    reporting(await month(1_000, 50), ['account,operation', 'day,account,operation']),
  keys: async () => reporting(await month(100_000, 1), ['key']),
  day,
};
const names = process.argv.slice(2);
if (names[0] === 'report') await reportOf(names[1]!, names[2]!);
else
  for (const [name, work] of Object.entries(ALL))
    if (names.length === 0 || names.includes(name)) await work();
