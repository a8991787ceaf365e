import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { COPY_FILE } from '../../src/records/redis/copy.ts';
import type { Progress } from '../../src/records/redis/progress.ts';
import { createRecordsCopy } from '../../src/records/redis/records-copy.ts';
import { DATA_FORMAT, EPOCH } from '../../src/state/redis/data-mark.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { changed, keyRecord, note } from '../support/records.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { connectRecords, modelOf, type OpenedRecords } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const RETRY_DELAY = 30_000;
const newFolder = temporaryFolders();

let server: RedisServer;
let proxy: TcpProxy;
/** Of one gateway through the proxy, and of another process of its folder. */
let one: Awaited<ReturnType<typeof connectRecords>>;
let other: Awaited<ReturnType<typeof connectRecords>>;
let folder: string;
let record: KeyRecord;

beforeAll(async () => {
  server = await startRedis();
  proxy = await startProxy(server.port);
});
afterAll(async () => {
  await proxy.stop();
  await server.stop();
});
beforeEach(async () => {
  await server.admin.flushall();
  folder = newFolder();
  proxy.admit();
  one = await connectRecords({ ...DEFAULTS, url: proxy.url });
  other = await connectRecords({ ...DEFAULTS, url: server.url }, proxy.url);
  const { records, close } = other.open();
  record = keyRecord();
  await records.keys.add(record, note());
  await records.tokens.add({ name: 'anna', hash: 'h', role: 'read', createdAt: 1 }, note());
  await close();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await one.close();
  await other.close();
});

const file = () => join(folder, COPY_FILE);
/** From the copy: what Redis has comes later. */
const copied = ({ records }: OpenedRecords, hash = record.hash) => {
  const found = records.keys.find(hash);
  return found instanceof Promise ? void found.catch(() => {}) : found;
};
const hasCopied = (opened: OpenedRecords, hash = record.hash) =>
  until('it is in the copy', () => copied(opened, hash)?.hash === hash);

async function openedWith(connection = one, options = {}): Promise<OpenedRecords> {
  const opened = connection.open({ folder, ...options });
  await modelOf(opened.records);
  return opened;
}

/** Repeats at once what waits for half a minute. */
function retryAtOnce(): void {
  const { setTimeout: set } = globalThis;
  jest
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((work: () => void, wait: number) =>
      set(work, wait === RETRY_DELAY ? 5 : wait)) as never);
}

async function isNotified({ records }: OpenedRecords, change: () => unknown): Promise<void> {
  let changes = 0;
  const stop = records.keys.watch(() => void changes++);
  await change();
  await until('it is notified', () => changes > 0, 10_000);
  stop();
}

/** Holds the copy, and does not go on with it. */
function hang(): () => void {
  const copy = createRecordsCopy({
    folder,
    source: proxy.url,
    maxAge: 60_000,
    isWorker: false,
    failed: () => {},
    invalid: () => {},
  });
  return () => copy.close();
}

describe('another process of the folder', () => {
  test('reads what one writes, and is notified of it', async () => {
    const writer = await openedWith();
    const reader = await openedWith(other);
    const added = keyRecord();
    await isNotified(reader, () => writer.records.keys.add(added, note()));
    await hasCopied(reader, added.hash);
    await reader.records.keys.replace(changed(record, { revokedAt: 5 }), note());
    expect(copied(reader)?.revokedAt).toBe(5);
    expect(await modelOf(reader.records)).toEqual(await modelOf(writer.records));
    expect([...writer.failures, ...reader.failures]).toEqual([]);
  });

  test('takes the place of one that ends, and goes on from there', async () => {
    retryAtOnce();
    const writer = await openedWith();
    const reader = await openedWith(other);
    const { audit } = reader.copy.progress!;
    await writer.close();
    await one.open().records.keys.replace(changed(record, { revokedAt: 5 }), note());
    await until('it writes the copy', () => reader.copy.progress!.audit !== audit);
    expect(copied(reader)?.revokedAt).toBe(5);
    expect(await openedWith()).toMatchObject({ failures: [] });
  });

  test('as a worker never takes the place', async () => {
    retryAtOnce();
    const writer = await openedWith();
    const worker = await openedWith(other, { isWorker: true });
    await writer.close();
    await hasCopied(worker);
    const next = await openedWith();
    await next.records.keys.add(keyRecord(), note());
    expect(await modelOf(worker.records)).toEqual(await modelOf(next.records));
  });

  test('does not use the copy of one that hangs, but asks Redis', async () => {
    await (await openedWith()).close();
    const release = hang();
    const reader = other.open({ folder });
    await hasCopied(reader);
    const { keys, auditLog } = one.open().records;
    // The message is enough.
    await isNotified(reader, () => keys.replace(changed(record, { revokedAt: 5 }), note()));
    expect(reader.copy.usable!.keys.find(record.hash)).toMatchObject({ revokedAt: null });
    expect(await reader.records.keys.find(record.hash)).toMatchObject({ revokedAt: 5 });
    await until('the copy is not used', () => reader.copy.usable === null);
    expect(copied(reader)).toBeUndefined();
    await expect((async () => reader.records.keys.isEmpty())()).rejects.toBeInstanceOf(Outage);
    await isNotified(reader, () => keys.add(keyRecord(), note()));
    // What it changes itself is stored.
    const added = keyRecord();
    await reader.records.keys.add(added, note());
    expect((await auditLog.list({ limit: 1 }))[0]!.number).toBe(5);
    expect(await reader.records.keys.find(added.hash)).toEqual(added);
    release();
  });

  test('does not take the copy for that of other data', async () => {
    await (await openedWith()).close();
    const release = hang();
    const reader = await openedWith(other);
    await server.admin.hset(keyOf.records.head, EPOCH, `${DATA_FORMAT} of other data`);
    await expect((async () => reader.records.keys.isEmpty())()).rejects.toBeInstanceOf(Outage);
    release();
  });

  test('asks Redis while there is no file, and reads the next one', async () => {
    const writer = await openedWith();
    const reader = await openedWith(other);
    await writer.close();
    const release = hang();
    rmSync(file());
    await until('it does not use it', () => copied(reader) === undefined);
    expect(await reader.records.keys.find(record.hash)).toEqual(record);
    release();
    await openedWith();
    await hasCopied(reader);
  });
});

test('a worker without a folder asks Redis for each key, and is notified of changes', async () => {
  const worker = one.open({ isWorker: true });
  await isNotified(worker, () => other.open().records.keys.add(keyRecord(), note()));
  expect(copied(worker)).toBeUndefined();
  expect(await worker.records.keys.find(record.hash)).toEqual(record);
  expect(await worker.records.keys.find('unknown')).toBeNull();
});

const inFile = (sql: string) => () => {
  const db = new DatabaseSync(file());
  db.exec(sql);
  db.close();
};
const DAMAGES: [what: string, damage: () => unknown][] = [
  ['is missing', () => rmSync(file())],
  ['is empty', () => writeFileSync(file(), '')],
  ['is not a database', () => writeFileSync(file(), 'not a database'.repeat(999))],
  ['has another format', inFile('PRAGMA user_version = 99')],
  ['lacks a table', inFile('DROP TABLE audit')],
  [
    'is of another Redis',
    inFile(`UPDATE progress SET value = json_set(value, '$.source', 'other')`),
  ],
];

test.each(DAMAGES)('a file that %s is created again at a start', async (_what, damage) => {
  await (await openedWith()).close();
  damage();
  const opened = one.open({ folder });
  expect(opened.copy.unusable).toBe(`${folder} has no copy of its keys yet`);
  expect(await modelOf(opened.records)).toMatchObject({ keys: [record] });
  await opened.close();
  expect(other.open({ folder }).copy.isWhole).toBe(true);
  expect(opened.failures).toEqual([]);
});

describe('a copy that cannot be written', () => {
  test.each<[string, () => unknown]>([
    ['when it is opened', () => mkdirSync(file())],
    [
      'because its folder is a file',
      () => {
        rmSync(folder, { recursive: true });
        writeFileSync(folder, '');
      },
    ],
  ])('%s is in memory until it can be', async (_what, block) => {
    retryAtOnce();
    block();
    const opened = await openedWith();
    expect(copied(opened)).toEqual(record);
    expect(opened.failures.length).toBeGreaterThan(0);
    rmSync(folder, { recursive: true });
    await until('it is in the folder', () => existsSync(file()));
    await modelOf(opened.records);
    await opened.close();
    expect(other.open({ folder }).copy.isWhole).toBe(true);
  });

  test('while it is used is in memory, then in a new file, which others read', async () => {
    retryAtOnce();
    const opened = await openedWith();
    const reader = await openedWith(other);
    inFile('DROP TABLE keys')();
    const added = keyRecord();
    await other.open().records.keys.add(added, note());
    expect(await reader.records.keys.find(added.hash)).toEqual(added);
    await until('it has failed', () => opened.failures.length > 0);
    for (const each of [opened, reader]) await hasCopied(each, added.hash);
    expect(await modelOf(reader.records)).toEqual(await modelOf(opened.records));
  });
});

test('stores a confirmation without a change when the stored one is old, and at the end', async () => {
  const stored = () => {
    const db = new DatabaseSync(file(), { readOnly: true });
    const { value } = db.prepare('SELECT value FROM progress').get() as { value: string };
    db.close();
    return (JSON.parse(value) as Progress).confirmedAt;
  };
  const opened = await openedWith();
  const confirmed = () => opened.copy.progress!.confirmedAt;
  await until('only memory has a confirmation', () => confirmed() > stored());
  const { now } = Date;
  jest.spyOn(Date, 'now').mockImplementation(() => now() + 5_000);
  await until('it is stored', () => stored() > now());
  await until('only memory has the next one', () => confirmed() > stored());
  const last = confirmed();
  await opened.close();
  expect(stored()).toBeGreaterThanOrEqual(last);
});

test('a copy that is too old is not used, and why is said', async () => {
  await (await openedWith()).close();
  const now = Date.now();
  const release = hang();
  const worker = other.open({ folder, isWorker: true, maxAge: 7_200_000 });
  expect([worker.copy.unusable, copied(worker)]).toEqual([null, record]);
  // Also by a clock that was set back.
  for (const way of [1, -1]) {
    jest.spyOn(Date, 'now').mockReturnValue(now + way * 9_000_000);
    expect(worker.copy.unusable).toMatch(/is 2\.5 h old, and redis\.keyCache\.maxAge is 2 h$/);
    expect(copied(worker)).toBeUndefined();
  }
  release();
});

test('while Redis is down, known keys and tokens are known, and nothing else', async () => {
  const opened = await openedWith();
  const { keys, tokens } = opened.records;
  expect(keys.hasImported()).toBe(false);
  proxy.shut();
  expect(keys.find(record.hash)).toEqual(record);
  expect((await tokens.list()).map(({ name }) => name)).toEqual(['anna']);
  expect(opened.copy.lastKnown!.keys.get(record.id)).toEqual(record);
  const requested = [
    () => keys.find('unknown'),
    () => keys.get(record.id),
    () => keys.isEmpty(),
    () => keys.add(keyRecord(), note()),
  ];
  for (const ask of requested) await expect((async () => ask())()).rejects.toBeInstanceOf(Outage);
  // The first import may be newer than the copy.
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 11_000);
  expect(() => keys.hasImported()).toThrow(Outage);
  jest.restoreAllMocks();
  proxy.admit();
  await until('it is up', async () => (await modelOf(opened.records)).keys.length === 1);
});
