import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openEmbedded } from '../../src/records/embedded/open.ts';
import { folderTarget } from '../../src/records/transfer/folder.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { KEPT } from '../support/audit.ts';
import { commandLine, type Surroundings } from '../support/command-line.ts';
import { HOUR, limits, window } from '../support/limits.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import {
  idOf,
  movable,
  moveAll,
  partOf,
  sourceOf,
  temporaryFolder,
  WITH_CLOCK,
} from '../support/transfer.ts';

const PASSWORD = 'a-password-to-hide';
let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ password: PASSWORD });
});
afterAll(() => redis.stop());

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  await redis.admin.flushall();
});
afterEach(() => folder.remove());

const at = (name: string) => join(folder.path, name);

/**
 * Runs `storegate state …` in this process on the folder `data`, and checks that no output contains
 * the password.
 */
async function state(args: readonly string[], surroundings: Surroundings = {}) {
  const ended = await commandLine(folder.path)(['state', ...args], surroundings);
  expect(ended.out + ended.err).not.toContain(PASSWORD);
  return ended;
}

async function fill(name: string, ...numbers: readonly number[]): Promise<void> {
  const source = sourceOf({ key: numbers.map((number) => movable(number)) });
  await moveAll(source, folderTarget(at(name), WITH_CLOCK));
}

describe('storegate state', () => {
  test('backs up a running gateway and restores into an empty folder', async () => {
    await fill('data', 1, 2);
    const gateway = openEmbedded(at('data'), { clock: Date.now, audit: KEPT, observe: () => {} });
    expect(await state(['backup', 'backup.ndjson'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/backup\.ndjson has 2 keys, 0 tokens, 1 audit entries/),
    });
    const plan = limits([window(5, HOUR)]);
    await gateway.state.ban(`key:${idOf(1)}`, plan, HOUR);
    const later = await state(['export', 'later.ndjson', '--json']);
    expect(JSON.parse(later.out)).toMatchObject({ has: { key: 2, counters: 1 } });
    expect(readFileSync(at('later.ndjson'), 'utf8')).toContain(`"bannedSince":`);
    await gateway.close();
    expect(statSync(at('backup.ndjson')).mode & 0o777).toBe(0o600);
    const env = { STOREGATE_DATA: 'restored' };
    expect(await state(['restore', 'backup.ndjson'], { env })).toMatchObject({ code: 0 });
    const again = await state(['restore', 'backup.ndjson'], { env });
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `${at('restored')} is not empty, it has 2 keys, 2 audit entries`,
      ),
    });
  });

  test('reports usage that no gateway exports from the target', async () => {
    const now = Date.now();
    await moveAll(sourceOf({ usage: [partOf(now)] }), folderTarget(at('data'), WITH_CLOCK));
    const env = { STOREGATE_USAGE_EXPORT_URL: 'https://billing.example/events' };
    const stays = `Usage of 1 minute that waits for usage.export stays in ${at('data')}: no gateway exports it from `;
    expect((await state(['backup', 'a.ndjson'], { env })).err).toBe(`${stays}${at('a.ndjson')}.\n`);
    expect((await state(['backup', 'b.ndjson'])).err).toBe('');
    const gateway = openEmbedded(at('data'), { clock: Date.now, audit: KEPT, observe: () => {} });
    const copy = ['copy', '--from', 'data', '--to', 'other'];
    expect((await state(copy, { env })).err).toBe(`${stays}${at('other')}.\n`);
    await gateway.close();
    expect(await state([...copy.slice(0, -1), 'moved'], { env })).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 values of usage'),
      err: '',
    });
  });

  test('repairs a folder with a missing file', async () => {
    await fill('data', 1);
    for (const file of ['state.db', 'state.db-wal', 'state.db-shm'])
      rmSync(join(at('data'), file), { force: true });
    writeFileSync(join(at('data'), 'state.last-change'), '3\n');
    expect(await state(['backup', 'backup.ndjson'])).toMatchObject({ code: 1 });
    expect(await state(['repair'])).toEqual({
      code: 0,
      out: `Gateways start on ${at('data')} again, without state.db, the last 3 changes of operators.\n`,
      err: '',
    });
    expect((await state(['repair'])).out).toBe(
      `No file is missing in ${at('data')}. Nothing was changed.\n`,
    );
    const gateway = openEmbedded(at('data'), { clock: Date.now, audit: KEPT, observe: () => {} });
    expect(await state(['repair'])).toEqual({
      code: 1,
      out: '',
      err: `Stop the gateway that uses ${at('data')} first: nothing was changed.\n`,
    });
    await gateway.close();
    expect(await state(['repair', '--json'])).toMatchObject({
      code: 0,
      out: `${JSON.stringify({ folder: at('data'), files: [], changes: 0 })}\n`,
    });
    const env = { REDIS_URL: 'redis://127.0.0.1:1' };
    expect(await state(['repair'], { env })).toMatchObject({
      code: 1,
      err: expect.stringContaining('is in Redis'),
    });
  });

  test('overwrites no file', async () => {
    await fill('data', 1);
    writeFileSync(at('there'), 'mine');
    expect(await state(['export', 'there'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is there already'),
    });
    expect(readFileSync(at('there'), 'utf8')).toBe('mine');
  });

  test('copies a folder to the configured Redis and back without printing the password', async () => {
    await fill('data', 1, 2, 3);
    const env = { REDIS_URL: redis.url };
    const dry = await state(['copy', '--from', 'data', '--to', 'redis', '--dry-run'], { env });
    expect(dry).toMatchObject({ code: 0, err: expect.stringContaining('nothing was changed') });
    // A start probe may exist for a second.
    expect((await redis.admin.keys('*')).filter((name) => !name.startsWith('sg:probe:'))).toEqual(
      [],
    );
    expect(await state(['copy', '--from', 'data', '--to', 'redis'], { env })).toMatchObject({
      code: 0,
    });
    expect(await redis.admin.hlen(keyOf.records.keys)).toBe(3);
    expect(await state(['copy', '--from', redis.url, '--to', 'back'])).toMatchObject({ code: 0 });
    const { out } = await state(['export', 'back.ndjson', '--from', 'back', '--json']);
    expect(JSON.parse(out)).toMatchObject({ has: { key: 3, audit: 3 } });
  });

  test.each([
    [['copy', '--from', 'data', '--to', 'redis'], /has no Redis\. Set REDIS_URL/],
    [['copy', '--from', 'none', '--to', 'other'], /none does not contain a state/],
    [['copy', '--from', 'data', '--to', 'data'], /Source and target are the same/],
    [['copy', '--from', 'none.ndjson', '--to', 'data'], /the file does not exist/],
    [['copy', '--from', 'data', '--to', 'new.ndjson', '--dry-run'], /A dry run writes no file/],
    [['copy', '--from', 'data', '--to', `redis://:${PASSWORD}@127.0.0.1:x`], /Invalid Redis URL/],
    [
      ['copy', '--from', 'data', '--to', `rediss://:${PASSWORD}@127.0.0.1:1`],
      /cannot use Redis at 127\.0\.0\.1:1/,
    ],
  ])('refuses %j', async (args, message) => {
    await fill('data', 1);
    expect(await state(args)).toMatchObject({ code: 1, err: expect.stringMatching(message) });
  });

  test('refuses a folder that a gateway uses as a target', async () => {
    await fill('data', 1);
    await fill('used', 2);
    const gateway = openEmbedded(at('used'), { clock: Date.now, audit: KEPT, observe: () => {} });
    const refused = await state(['copy', '--from', 'data', '--to', 'used']);
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^Stop the gateway that uses .*used first: nothing was changed\.\n$/,
      ),
    });
    await gateway.close();
    rmSync(at('used'), { recursive: true });
    expect(await state(['copy', '--from', 'data', '--to', 'used'])).toMatchObject({ code: 0 });
  });

  test('warns of plans that the configuration lacks', async () => {
    const keys = [
      movable(1, { plan: 'gone' }),
      movable(2, { plan: 'enterprise', account: 'big' }),
      movable(3),
    ];
    await moveAll(sourceOf({ key: keys }), folderTarget(at('data'), WITH_CLOCK));
    const { err } = await state(['copy', '--from', 'data', '--to', 'other']);
    expect(err).toMatch(/plans that are not in plans\.yaml: gone\./);
    expect(err).toMatch(/Accounts of custom plans lack limits in plans\.yaml: big\./);
  });

  test('reports a failure of Redis, and starts over in a second run', async () => {
    await fill('data', ...Array.from({ length: 1_200 }, (_, i) => i));
    const args = ['copy', '--from', 'data', '--to', redis.url];
    const used = Number(/used_memory:(\d+)/.exec(await redis.admin.info('memory'))![1]);
    await redis.admin.config('SET', 'maxmemory', String(used + 300_000));
    const { code, err } = await state(args);
    expect(code).toBe(1);
    expect(err).toMatch(/^Redis failed: .*OOM.*\n$/);
    await redis.admin.config('SET', 'maxmemory', '0');
    expect(await state(args)).toMatchObject({ code: 0 });
    expect(await redis.admin.hlen(keyOf.records.keys)).toBe(1_200);
  });

  test('reports an unreadable or full folder in one line', async () => {
    mkdirSync(at('broken'));
    writeFileSync(at('broken/state.db'), 'this text is not a database, however long it gets');
    expect((await state(['copy', '--from', 'broken', '--to', 'other'])).err).toMatch(
      /^cannot use the data folder .*\n$/,
    );
    await fill('more', 1, 2);
    openStateFile(at('data')).close();
    const db = new DatabaseSync(at('data/state.db'));
    db.exec(
      "CREATE TRIGGER full BEFORE INSERT ON keys BEGIN SELECT RAISE(FAIL, 'disk is full'); END",
    );
    db.close();
    const { code, err } = await state(['copy', '--from', 'more', '--to', 'data']);
    expect({ code, err }).toEqual({
      code: 1,
      err: 'The disk failed: disk is full. Nothing was changed.\n',
    });
  });

  test('that the disk refuses is reported in one line, as by other commands', async () => {
    await openEmbedded(at('data'), { clock: Date.now, audit: KEPT, observe: () => {} }).close();
    // SQLite then cannot open the file.
    rmSync(at('data/counters.db-wal'), { force: true });
    mkdirSync(at('data/counters.db-wal'));
    for (const command of ['state repair', 'keys list', 'check', 'serve'])
      expect(await commandLine(folder.path)(command.split(' '))).toMatchObject({
        code: 1,
        err: 'The data folder cannot be read or written: a file or folder is missing. Free space, or correct its permissions.\n',
      });
  });

  test('shows progress on a terminal only', async () => {
    await fill('data', 1, 2);
    expect((await state(['export', 'a.ndjson'])).err).toBe('');
    const { err } = await state(['export', 'b.ndjson'], { errIsTerminal: true });
    expect(err).toMatch(/moving \[#+\.*\] \d+ %/);
    expect(err.endsWith('\r\x1b[K')).toBe(true);
  });

  test('stops on a signal without changes', async () => {
    await fill('data', 1);
    const stop = AbortSignal.abort();
    expect(await state(['copy', '--from', 'data', '--to', 'other'], { stop })).toMatchObject({
      code: 1,
    });
    expect((await state(['export', 'o.ndjson', '--from', 'other'])).out).toContain('has 0 keys');
    expect(await state(['export', 'c.ndjson'], { stop })).toMatchObject({ code: 1 });
    expect(existsSync(at('c.ndjson'))).toBe(false);
  });
});
