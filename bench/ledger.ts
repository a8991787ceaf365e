import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DAY, SECOND } from '../src/common/time.ts';
import { compressBlock } from '../src/ledger/block.ts';
import { blockName, sliceName } from '../src/ledger/names.ts';
import { createLedgerReader, type LedgerReader } from '../src/ledger/reader.ts';
import { createRecorder } from '../src/ledger/recorder.ts';
import { type Dimension, report } from '../src/ledger/report.ts';
import { packUsage, UsageTable } from '../src/ledger/usage-table.ts';
import { ledgerInFolder } from '../src/state/ledger-folder.ts';
import { createRowWriter } from '../src/state/rows/row-writer.ts';
import { requestEvent } from '../test/support/request-event.ts';

// What the ledger costs: counting, storing a slice, and reports. Run: node bench/ledger.ts

const FIRST = Date.UTC(2026, 9, 1);
const [DAYS, ACCOUNTS, OPERATIONS] = [31, 1_000, 50];
const EMPTY = Buffer.of();
const ADMITTED = { status: 200, code: null, verdict: 'admitted', deprecated: false } as const;

/** Milliseconds of CPU of this process, per turn. */
async function cpuOf(times: number, work: (i: number) => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) await work(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / times;
}

/** The longest time in milliseconds that `work` kept the event loop, and the mean. */
async function blockedBy(times: number, work: (i: number) => unknown) {
  const all: number[] = [];
  for (let i = 0; i < times; i++) {
    const begin = performance.now();
    const done = work(i);
    all.push(performance.now() - begin);
    await done;
  }
  return { mean: all.reduce((sum, one) => sum + one, 0) / times, most: Math.max(...all) };
}

const ms = (value: number) => `${value.toFixed(3)} ms`;

function packed(table: UsageTable): Buffer {
  const packing = packUsage(table);
  let next = packing.next();
  while (!next.done) next = packing.next();
  return next.value;
}

async function counting(): Promise<void> {
  const slices: number[] = [];
  const recorder = createRecorder(Date.now, ({ usage }) => void slices.push(usage.length));
  const events = Array.from({ length: 1_000 }, (_, i) => requestEvent({ keyId: `key_${i}` }));
  for (const event of events) recorder.observe(event);
  const cpu = await cpuOf(2_000, () => {
    for (const event of events) recorder.observe(event);
  });
  console.log(`a request, one of 1,000 keys: ${(cpu * 1_000).toFixed(0)} ns of CPU`);
  recorder.take();
  for (const event of events) recorder.observe(event);
  console.log(`a slice of 1,000 keys: ${ms(await cpuOf(1, () => recorder.take()))} to pack`);
  console.log(`a slice of 1,000 keys: ${slices.at(-1)} bytes`);
}

/** Of the slice that is being counted: 50 recorders with 4,000 keys each. */
function memory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const recorderOf = (turn: number) => {
    const recorder = createRecorder(Date.now, () => {});
    for (let i = 0; i < 4_000; i++)
      recorder.observe(requestEvent({ keyId: `key_${4_000 * turn + i}` }));
    return recorder;
  };
  recorderOf(0);
  const before = used();
  const recorders = Array.from({ length: 50 }, (_, turn) => recorderOf(turn));
  const bytes = (used() - before) / (4_000 * recorders.length);
  console.log(`a key in the open slice: ${bytes.toFixed(0)} bytes of memory`);
}

/** A slice of 1,000 keys, stored in each way. */
async function storing(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-ledger-'));
  const table = new UsageTable();
  const outcome = table.outcome(ADMITTED);
  for (let i = 0; i < 1_000; i++) {
    const client = table.client({ key: `key_${i}`, account: `account-${i}`, plan: 'free' });
    table.count(table.row(client, table.operation('listPets'), outcome), 5, false, 1);
  }
  const slice = packed(table);
  const db = new DatabaseSync(join(folder, 'ledger.db'));
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE sums (minute INTEGER, key TEXT, units INTEGER, PRIMARY KEY (minute, key)) STRICT;
    CREATE TABLE slices (name INTEGER PRIMARY KEY, content BLOB) STRICT;`);
  const add = db.prepare(
    'INSERT INTO sums VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET units = units + 1',
  );
  const insert = db.prepare('INSERT INTO slices VALUES (?, ?)');
  const rows = await blockedBy(100, (i) => {
    db.exec('BEGIN');
    for (let key = 0; key < 1_000; key++) add.run(Math.floor(i / 60), `key_${key}`);
    db.exec('COMMIT');
  });
  const blobs = await blockedBy(100, (i) => insert.run(i, slice));
  db.close();
  const writer = createRowWriter(folder);
  const backend = ledgerInFolder(folder, writer, (error) => console.error(error));
  const name = (number: number) => sliceName({ minute: 0, process: 'a#1', number });
  const files = await blockedBy(100, (i) => backend.add(new Map([[name(i + 1), slice]])));
  await backend.close();
  await writer.close();
  for (const [what, { mean, most }] of Object.entries({
    'node:sqlite, a row per key': rows,
    'node:sqlite, a blob': blobs,
    'rows, written by a thread': files,
  }))
    console.log(`${what}: blocks requests for ${ms(mean)}, at most ${ms(most)}`);
  const sizes = readdirSync(folder).map((file) => statSync(join(folder, file)).size);
  console.log(`${sizes.length} files`);
  rmSync(folder, { recursive: true });
}

/** A month in which every account calls every operation each day. */
async function month(): Promise<LedgerReader> {
  const blocks = new Map<string, Buffer>();
  for (let day = 0; day < DAYS; day++) {
    const start = FIRST + day * DAY;
    const table = new UsageTable();
    const outcome = table.outcome(ADMITTED);
    for (let one = 0; one < ACCOUNTS; one++) {
      const key = `key_${one.toString(36).padStart(16, 'x')}`;
      const client = table.client({ key, account: `account-${one}`, plan: 'free' });
      for (let operation = 0; operation < OPERATIONS; operation++) {
        const place = table.row(client, table.operation(`operation${operation}`), outcome);
        const requests = [300 + operation, 20, one % 7, 0, 0];
        const last = start / SECOND;
        table.add(place, {
          requests,
          marked: 0,
          last,
          units: 321 + one,
          received: 99,
          sent: 5_000,
        });
      }
    }
    const head = { start, span: DAY, policies: 0, sources: {} };
    const usage = packed(table);
    blocks.set(
      blockName('d', start),
      await compressBlock(head, { traffic: EMPTY, usage, uses: EMPTY }),
    );
  }
  const bytes = [...blocks.values()].reduce((sum, { length }) => sum + length, 0);
  console.log(`${DAYS} days of ${ACCOUNTS} accounts and ${OPERATIONS} operations: ${bytes} bytes`);
  const backend = {
    slices: async () => new Map(),
    sizes: async () => new Map([...blocks].map(([name, { length }]) => [name, length])),
    read: async (names: readonly string[]) => names.map((name) => blocks.get(name) ?? null),
  };
  return createLedgerReader(backend, (damage) => console.error(damage));
}

async function reporting(reader: LedgerReader): Promise<void> {
  for (const by of [['account', 'operation'], ['account'], ['day', 'account', 'operation']]) {
    const question = { from: FIRST, to: FIRST + DAYS * DAY, by: by as Dimension[], filter: {} };
    const begin = performance.now();
    let rows = 0;
    let most = 0;
    const cpu = await cpuOf(1, async () => {
      for await (const part of report(reader, question)) {
        rows += part.length;
        most = Math.max(most, process.memoryUsage.rss());
      }
    });
    const took = performance.now() - begin;
    console.log(
      `by ${by}: ${rows} rows, ${ms(took)}, CPU ${ms(cpu)}, ${Math.round(most / 1e6)} MB`,
    );
  }
}

await counting();
memory();
await storing();
await reporting(await month());
