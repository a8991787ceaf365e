import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { isDeep } from '../runner/fast-check.ts';
import { KEPT } from '../support/audit.ts';
import type { WriterOrders } from '../support/records-writer.ts';
import { connectRecords, modelOf } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { temporaryFolders } from '../support/temporary.ts';

const WRITER = join(import.meta.dirname, '../support/records-writer.ts');
const CHANGES = isDeep ? 10_000 : 400;
/** Changes that a process makes before it is killed. */
const LIFE = CHANGES / 5;
const newFolder = temporaryFolders();

let server: RedisServer;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  server = await startRedis();
});
afterEach(() => {
  for (const process of running) process.kill('SIGKILL');
});
afterAll(() => server.stop());

/** Two processes make the same changes, and are killed on the way, until all are made. */
async function makeAll(orders: Omit<WriterOrders, 'numbers'>): Promise<number> {
  const remaining = new Set(Array.from({ length: CHANGES }, (_, i) => i));
  let kills = 0;

  async function run(): Promise<void> {
    const numbers = [...remaining].sort(() => Math.random() - 0.5);
    const process = fork(WRITER, { execArgv: ['--disable-warning=ExperimentalWarning'] });
    running.add(process);
    let made = 0;
    process.on('message', (number: number) => {
      remaining.delete(number);
      if (++made < LIFE || remaining.size === 0) return;
      process.kill('SIGKILL');
    });
    process.send({ ...orders, numbers });
    const [, signal] = await once(process, 'exit');
    running.delete(process);
    if (signal === 'SIGKILL') kills++;
  }

  async function runUntilAllAreMade(): Promise<void> {
    while (remaining.size > 0) await run();
  }

  await Promise.all([runUntilAllAreMade(), runUntilAllAreMade()]);
  return kills;
}

const EXPECTED = Array.from({ length: CHANGES }, (_, i) => `change ${i}`).sort();

function check({ keys, audit }: Pick<Awaited<ReturnType<typeof modelOf>>, 'keys' | 'audit'>): void {
  expect(keys).toHaveLength(CHANGES);
  expect(audit.map(({ target }) => target).sort()).toEqual(EXPECTED);
  expect(audit.map(({ number }) => number)).toEqual(audit.map((_, i) => i + 1));
}

test('no change in a folder is lost or made twice, though its processes are killed', async () => {
  const folder = newFolder();
  expect(await makeAll({ folder, redis: null })).toBeGreaterThan(2);
  const db = openStateFile(folder);
  check(await modelOf(recordsInFile(db, KEPT)));
  db.close();
});

test('no change in Redis is lost or made twice, though its gateways are killed, and copies have each', async () => {
  const folder = newFolder();
  const settings = { ...DEFAULTS, url: server.url };
  expect(await makeAll({ folder, redis: settings })).toBeGreaterThan(2);
  const { keys, hashes } = keyOf.records;
  for (const name of [keys, hashes]) expect(await server.admin.hlen(name)).toBe(CHANGES);
  const connection = await connectRecords(settings);
  for (const place of [folder, null]) {
    const { records, failures, close } = connection.open({ folder: place });
    check(await modelOf(records));
    expect(failures).toEqual([]);
    await close();
  }
  await connection.close();
});
