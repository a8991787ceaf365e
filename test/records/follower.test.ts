import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { createKeyring } from '../../src/records/keys/keyring.ts';
import type { Records } from '../../src/records/storage.ts';
import { openRedisTarget } from '../../src/records/transfer/redis.ts';
import { DATA_FORMAT, EPOCH } from '../../src/state/redis/data-mark.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { KEPT } from '../support/audit.ts';
import { ESCALATION } from '../support/limits.ts';
import { changed, draft, keyRecord, note } from '../support/records.ts';
import { commandsDuring } from '../support/redis/commands.ts';
import { connectRecords, modelOf, type OpenedRecords } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { movable, movableEntry, moveAll, sourceOf } from '../support/transfer.ts';
import { until } from '../support/until.ts';

const { head, keys, hashes, tokens, audit, bans } = keyOf.records;
const newFolder = temporaryFolders();

let server: RedisServer;
let admin: Redis;
let connection: Awaited<ReturnType<typeof connectRecords>>;
/** Of another gateway, which makes the changes. */
let other: Records;
let closeOther: () => Promise<void>;
beforeAll(async () => {
  server = await startRedis();
  admin = server.admin;
});
afterAll(() => server.stop());
beforeEach(async () => {
  await admin.flushall();
  connection = await connectRecords({ ...DEFAULTS, url: server.url });
  await openOther();
});
afterEach(() => connection.close());

async function openOther() {
  ({ records: other, close: closeOther } = connection.open());
  await modelOf(other);
}

/** Of all that Redis has now. */
async function expected() {
  const fresh = connection.open();
  const model = await modelOf(fresh.records);
  await fresh.close();
  return model;
}

async function fill(count = 300): Promise<KeyRecord[]> {
  const records = Array.from({ length: count }, () => keyRecord());
  for (let at = 0; at < count; at += 1_000)
    await other.keys.addMany(records.slice(at, at + 1_000), note());
  await addToken('anna');
  await other.banLog.append(note({ action: 'bans.start' }));
  return records;
}

const addToken = (name: string) =>
  other.tokens.add({ name, hash: `of ${name}`, role: 'read', createdAt: 1 }, note());

/** One change of each kind. */
async function change(record: KeyRecord): Promise<KeyRecord> {
  const next = changed(record, { label: 'changed' });
  await other.keys.replace(next, note());
  await other.keys.add(keyRecord(), note());
  await addToken(`of ${record.id}`);
  await other.tokens.remove('anna', note());
  await other.auditLog.append(note({ action: 'bans.lift' }));
  return next;
}

async function closedCopy(folder: string): Promise<void> {
  const first = connection.open({ folder });
  await modelOf(first.records);
  await first.close();
}

/** How often all records are read during `work`. */
async function readingsOfAll(work: () => unknown): Promise<number> {
  const commands = await commandsDuring(server, work);
  return commands.filter(([name, , cursor]) => name === 'hscan' && cursor === '0').length;
}

test('goes on from its position after a restart', async () => {
  const folder = newFolder();
  const [record] = await fill();
  await closedCopy(folder);
  await change(record!);
  const model = await expected();
  let opened: OpenedRecords;
  const readings = await readingsOfAll(async () => {
    opened = connection.open({ folder });
    expect(await modelOf(opened.records)).toEqual(model);
  });
  expect([readings, opened!.failures]).toEqual([0, []]);
});

const dumps = () => Promise.all([head, keys, tokens, audit, bans].map((name) => dump(name)));
const dump = async (name: string) => [name, (await admin.dumpBuffer(name))!] as const;
async function restore(saved: Awaited<ReturnType<typeof dumps>>): Promise<void> {
  for (const [name, text] of saved) await admin.restore(name, 0, text, 'REPLACE');
}

/** What happens to Redis after a backup and more changes, and whether that is reported as a loss. */
const GAPS: [
  what: string,
  work: (backup: Awaited<ReturnType<typeof dumps>>) => unknown,
  string[],
][] = [
  [
    'was trimmed',
    async () => {
      const narrow = connection.open({ audit: { ...KEPT, maxEntries: 3 } }).records;
      for (let i = 0; i < 5; i++) await narrow.auditLog.append(note({ target: `${i}` }));
    },
    [],
  ],
  ['was restored from a backup', restore, ['lost']],
  [
    'was restored, and has other entries with the same numbers',
    async (backup) => {
      await restore(backup);
      for (let i = 0; i < 9; i++) await other.keys.add(keyRecord(), note());
    },
    ['lost'],
  ],
  ['is that of other data', () => admin.hset(head, EPOCH, `${DATA_FORMAT} of other data`), []],
];

test.each(GAPS)(
  'reads all records once if the log %s; entries that are gone are reported',
  async (_what, work, failures) => {
    const folder = newFolder();
    const [record] = await fill();
    const backup = await dumps();
    const next = await change(record!);
    await closedCopy(folder);
    await work(backup);
    // It would read all records, too.
    await closeOther();
    await openOther();
    const model = await modelOf(other);
    let opened: OpenedRecords;
    const readings = await readingsOfAll(async () => {
      opened = connection.open({ folder });
      expect(await modelOf(opened.records)).toEqual(model);
    });
    expect([readings, opened!.failures]).toEqual([1, failures]);
    const [now] = await connection.open().records.keys.findMany([next.hash]);
    await other.keys.replace(changed(now!, { label: 'later' }), note());
    expect(await modelOf(opened!.records)).toEqual(await expected());
  },
);

/** Calls `between` after each page of records that this connection reads. */
function afterEachPage(between: (page: number) => unknown): () => void {
  const redis = connection.redis as Redis;
  const read = redis.hscan.bind(redis) as (...args: unknown[]) => Promise<[string, string[]]>;
  let page = 0;
  redis.hscan = (async (...args: unknown[]) => {
    const found = await read(...args);
    await between(page++);
    return found;
  }) as never;
  return () => {
    redis.hscan = read as never;
  };
}

test('has changes that were made while it read all records', async () => {
  const records = await fill(2_000);
  const writer = await connectRecords({ ...DEFAULTS, url: server.url });
  other = writer.open().records;
  let pages = 0;
  afterEachPage(async (page) => {
    pages++;
    // Some of keys that were read, some of keys that were not.
    for (const at of [page, records.length - 1 - page]) {
      const record = records[at]!;
      const rotation = { hash: `new ${record.hash}`, previous: null };
      await other.keys.replace(changed(record, rotation), note());
      await other.keys.add(keyRecord({ hash: record.hash }), note());
      await addToken(`token ${at}`);
      await other.banLog.append(note({ action: 'bans.start' }));
    }
  });
  const model = await modelOf(connection.open().records);
  expect(pages).toBeGreaterThan(10);
  expect(model).toEqual(await modelOf(other));
  expect(model.keys).toHaveLength(2_000 + 2 * pages);
  await writer.close();
});

test('reads all records once after an import into the empty Redis that it knows', async () => {
  const folder = newFolder();
  await closedCopy(folder);
  const target = await openRedisTarget({ ...DEFAULTS, url: server.url }, { dryRun: false });
  await moveAll(sourceOf({ key: [movable(1)], audit: [movableEntry(1)] }), target);
  const readings = await readingsOfAll(async () => {
    const model = await modelOf(connection.open({ folder }).records);
    expect(model.keys).toEqual([movable(1)]);
  });
  expect(readings).toBe(1);
});

test('lists tokens of operators while it reads all keys for the first time', async () => {
  for (const name of ['alice', 'bob']) await addToken(name);
  const page = Promise.withResolvers<void>();
  const restoreReads = afterEachPage(() => page.promise);
  const { records } = connection.open();
  const names = async () => (await records.tokens.list()).map(({ name }) => name);
  expect(await names()).toEqual(['alice', 'bob']);
  await addToken('carol');
  expect(await names()).toEqual(['alice', 'bob', 'carol']);
  await expect(async () => await records.keys.isEmpty()).rejects.toMatchObject({
    code: 'state_unavailable',
  });
  restoreReads();
  page.resolve();
});

test.each([false, true])(
  'begins again after a restart if it had not read all records, also with an older copy: %s',
  async (hasCopy) => {
    const folder = newFolder();
    await fill(2_000);
    if (hasCopy) {
      await closedCopy(folder);
      await admin.hset(head, EPOCH, `${DATA_FORMAT} of other data`);
    }
    const [isHeld, isReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const restoreReads = afterEachPage(async (page) => {
      if (page < 3) return;
      isHeld.resolve();
      await isReleased.promise;
    });
    const first = connection.open({ folder });
    await isHeld.promise;
    expect(first.copy.progress).toMatchObject({ isWhole: hasCopy, isPassing: true });
    await first.close();
    restoreReads();
    isReleased.resolve();
    await admin.hdel(keys, (await admin.hkeys(keys))[0]!);
    const model = await modelOf(connection.open({ folder }).records);
    expect(model.keys).toHaveLength(1_999);
    expect(model).toEqual(await expected());
  },
);

test('reads the log each second, in case that a message is lost', async () => {
  const [record] = await fill(1);
  const deaf = connection.open({ isListening: false });
  await modelOf(deaf.records);
  await other.keys.replace(changed(record!, { revokedAt: 5 }), note());
  await until('it has the change', () => {
    const found = deaf.records.keys.find(record!.hash) as KeyRecord;
    return found.revokedAt === 5;
  });
});

test('forgets what is unknown once Redis has other data, before it believes that its own is lost', async () => {
  await fill(1);
  const { records, copy } = connection.open();
  await modelOf(records);
  const { epoch } = copy.progress!;
  const { hash, id, ...rest } = keyRecord();
  const keyring = createKeyring(records.keys, {
    plans: new Map(),
    escalation: ESCALATION,
    accounts: new Map(),
  });
  expect(await keyring.find(hash)).toBeNull();
  await admin.hset(keys, id, JSON.stringify({ hash, id, ...rest }));
  await admin.hset(hashes, hash, id);
  await admin.hset(head, EPOCH, `${DATA_FORMAT} of other data`);
  await until('it knows the key', async () => (await keyring.find(hash)) !== null);
  expect(copy.progress!.epoch).toBe(epoch);
  keyring.close();
});

const BAD_TEXTS = ['no JSON', 'null', '[]', '{}'];

describe('what is not valid in Redis is reported and left out:', () => {
  const valid = { ...keyRecord(), id: 'key_bad' };
  const BAD_RECORDS = [
    ...BAD_TEXTS,
    JSON.stringify({ ...valid, id: 'key_of_another' }),
    JSON.stringify({ ...valid, hash: 5 }),
    JSON.stringify({ ...valid, scopes: null }),
    JSON.stringify({ ...valid, previous: {} }),
  ];
  const BAD_ENTRIES = [...BAD_TEXTS, JSON.stringify({ ...draft(), target: 5 })];

  async function append(log: 'audit' | 'bans', ...fields: string[]): Promise<void> {
    const number = await admin.hincrby(head, log, 1);
    await admin.xadd(keyOf.records[log], `${number}-5`, ...fields);
  }

  const CASES: [what: string, text: string, named: string, spoil: () => unknown][] = [
    ...BAD_RECORDS.map((text): (typeof CASES)[number] => [
      'a record',
      text,
      `the field key_bad of ${keys}`,
      async () => {
        await admin.hset(keys, 'key_bad', text);
        await append('audit', 'entry', JSON.stringify(draft()), 'keys', 'key_bad key_unknown');
      },
    ]),
    ...(['audit', 'bans'] as const).flatMap((log) =>
      BAD_ENTRIES.map((text): (typeof CASES)[number] => [
        `an entry of ${log}`,
        text,
        `of ${keyOf.records[log]}`,
        () => append(log, 'other', text, 'keys', ''),
      ]),
    ),
    ...BAD_TEXTS.map((text): (typeof CASES)[number] => [
      'a token',
      text,
      `a field of ${tokens}`,
      async () => {
        await admin.hset(tokens, 'bad', text);
        await append('audit', 'entry', JSON.stringify(draft()), 'token', 'bad');
      },
    ]),
  ];

  test.each(CASES)('%s with the text %s', async (_what, _text, named, spoil) => {
    const [record] = await fill(3);
    const opened = connection.open();
    await modelOf(opened.records);
    await spoil();
    const next = await change(record!);
    const model = await modelOf(opened.records);
    expect(model.keys).toHaveLength(4);
    expect(model.keys.find(({ id }) => id === next.id)).toEqual(next);
    expect(model.tokens.map(({ name }) => name)).toEqual([`of ${next.id}`]);
    expect(model.audit.at(-1)?.action).toBe('bans.lift');
    expect(model.bans[0]?.action).toBe('bans.lift');
    expect(opened.failures).not.toEqual([]);
    for (const failure of opened.failures) expect(failure).toContain(named);
    // As in a complete reading.
    expect(await expected()).toEqual(model);
  });
});

test('a log that Redis does not let it read is reported, and keys are looked up in Redis', async () => {
  const [record] = await fill(1);
  const opened = connection.open();
  await modelOf(opened.records);
  const saved = await dump(bans);
  await admin.set(bans, 'of another type');
  let changes = 0;
  opened.records.keys.watch(() => void changes++);
  const revoked = changed(record!, { revokedAt: 5 });
  await other.keys.replace(revoked, note());
  await until('it has the change', async () => {
    const found = await opened.records.keys.find(record!.hash);
    return found?.revokedAt === 5;
  });
  expect(changes).toBeGreaterThan(0);
  expect(opened.failures).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
  );
  await restore([saved]);
  await until(
    'it is in the copy',
    () => !(opened.records.keys.find(record!.hash) instanceof Promise),
  );
  expect(opened.records.keys.find(record!.hash)).toEqual(revoked);
});

test('two tokens with one hash keep nothing else from being read', async () => {
  await fill(1);
  const opened = connection.open();
  await modelOf(opened.records);
  const twin = { name: 'twin', hash: 'of anna', role: 'read', createdAt: 1 };
  await admin.hset(tokens, 'twin', JSON.stringify(twin));
  await addToken('ben');
  const names = (await modelOf(opened.records)).tokens.map(({ name }) => name);
  expect(names).toHaveLength(2);
  expect(names).toContain('ben');
  expect(opened.failures).toEqual([]);
});
