import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { folderTarget } from '../../src/records/transfer/folder.ts';
import { FILE_VERSION } from '../../src/state/embedded/file.ts';
import { DATA_FORMAT, EPOCH } from '../../src/state/redis/data-mark.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { commandLine } from '../support/command-line.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { movable, moveAll, sourceOf, temporaryFolder, WITH_CLOCK } from '../support/transfer.ts';
import { until } from '../support/until.ts';

const FIXTURES = resolve(import.meta.dirname, '../records/fixtures');
const PORTS = { STOREGATE_HOST: '127.0.0.1', STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0' };

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  await redis.admin.flushall();
  await moveAll(sourceOf({ key: [movable(1)] }), folderTarget(at('this'), WITH_CLOCK));
  expect(await run(['state', 'export', 'this.ndjson', '--from', 'this'])).toMatchObject(OK);
});
afterEach(() => folder.remove());

const at = (name: string) => join(folder.path, name);
const OK = { code: 0 };

function run(args: readonly string[], env: Record<string, string> = {}) {
  return commandLine(folder.path)(args, { env: { STOREGATE_CONTRACT: 'none', ...PORTS, ...env } });
}

const FORMATS = ['this', 'an older', 'a newer', 'an unmarked', 'a damaged'] as const;
type Format = (typeof FORMATS)[number];

/** What to do with another version's data: `with that version`. */
const EXPORT_IT =
  /run "storegate state export FILE" with that version, and "storegate state import FILE" with this one and an empty/;
const USE_IT = /was written by a newer storegate \(format \d+\): use that version/;
const REFUSALS: Readonly<Record<Exclude<Format, 'this'>, RegExp>> = {
  'an older': EXPORT_IT,
  'a newer': USE_IT,
  'an unmarked': EXPORT_IT,
  'a damaged': EXPORT_IT,
};

interface Place {
  readonly name: string;
  /** Makes a place of this version with a key into one of another format. */
  readonly become: (format: Format) => Promise<void>;
  readonly env: () => Record<string, string>;
  readonly content: () => Promise<string>;
  readonly refusal: (format: Exclude<Format, 'this'>) => RegExp;
}

const A_FOLDER: Place = {
  name: 'a folder',
  env: () => ({ STOREGATE_DATA: 'data' }),
  async become(format) {
    await moveAll(sourceOf({ key: [movable(1)] }), folderTarget(at('data'), WITH_CLOCK));
    if (format === 'a damaged') writeFileSync(at('data/state.db'), 'not a database'.repeat(99));
    const version = { 'an older': FILE_VERSION - 1, 'a newer': FILE_VERSION + 1, 'an unmarked': 0 }[
      format as string
    ];
    if (version === undefined) return;
    const db = new DatabaseSync(at('data/state.db'));
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
  },
  async content() {
    return readFileSync(at('data/state.db'), 'latin1');
  },
  refusal: (format) =>
    format === 'a damaged' ? /cannot use the data folder .*data: / : REFUSALS[format],
};

const A_REDIS: Place = {
  name: 'a Redis',
  env: () => ({ STOREGATE_DATA: 'beside', REDIS_URL: redis.url }),
  async become(format) {
    const { admin } = redis;
    expect(
      await run(['state', 'copy', '--from', 'this', '--to', 'redis'], this.env()),
    ).toMatchObject(OK);
    const { head } = keyOf.records;
    const marks = {
      'an older': `${DATA_FORMAT - 1} 357bf201-a9f7-4c9c-a60c-8c4456750784`,
      'a newer': `${DATA_FORMAT + 1} x`,
    };
    const mark = marks[format as keyof typeof marks];
    if (mark !== undefined) await admin.hset(head, EPOCH, mark);
    if (format === 'an unmarked') await admin.del(head);
    if (format !== 'a damaged') return;
    await admin.del(head);
    await admin.rpush(head, 'x');
  },
  async content() {
    const names = (await redis.admin.keys('*')).filter((name) => !name.startsWith('sg:probe'));
    const dumps = names.sort().map((name) => redis.admin.dump(name));
    return JSON.stringify([names, await Promise.all(dumps)]);
  },
  refusal: (format) => REFUSALS[format],
};

const COMMANDS: readonly (readonly [name: string, (place: Place) => readonly string[]])[] = [
  ['serve', () => ['serve']],
  ['check', () => ['check']],
  ['import', () => ['state', 'import', 'this.ndjson']],
  ['backup', () => ['state', 'backup', 'new.ndjson']],
  ['copy from', ({ name }) => copyOf(name === A_REDIS.name ? 'redis' : 'data', 'other')],
  ['copy to', ({ name }) => copyOf('this', name === A_REDIS.name ? 'redis' : 'data')],
  ['keys list', () => ['keys', 'list']],
];

const copyOf = (from: string, to: string) => ['state', 'copy', '--from', from, '--to', to];

describe.each([A_FOLDER, A_REDIS])('$name', (place) => {
  test.each(FORMATS.filter((format) => format !== 'this'))(
    'of %s format is refused by every command, which says what to do and changes nothing',
    async (format) => {
      await place.become(format);
      const before = await place.content();
      for (const [name, argsFor] of COMMANDS) {
        const { code, out, err } = await run(argsFor(place), place.env());
        expect({ name, code, out, err }).toEqual({
          name,
          code: 1,
          out: '',
          err: expect.stringMatching(place.refusal(format)),
        });
      }
      expect(await place.content()).toBe(before);
      const made = readdirSync(folder.path);
      expect(made).not.toContain('new.ndjson');
      expect(made).not.toContain('other');
    },
  );

  test('of this format is served, checked, copied and listed, and no target', async () => {
    await place.become('this');
    for (const [name, argsFor] of COMMANDS.slice(1)) {
      const isTarget = /^(import|copy to)/.test(name);
      const { code, err } = await run(argsFor(place), place.env());
      expect({ name, code, err }).toEqual({
        name,
        code: isTarget ? 1 : 0,
        err: expect.stringMatching(isTarget ? / is not empty, it has 1 keys/ : /^/),
      });
    }
    const stop = new AbortController();
    let printed = '';
    const served = commandLine(folder.path, (text) => {
      printed += text;
    })(['serve'], {
      env: { STOREGATE_CONTRACT: 'none', LOG_LEVEL: 'silent', ...PORTS, ...place.env() },
      isTerminal: true,
      stop: stop.signal,
    });
    await until('it is served', () => printed !== '');
    stop.abort();
    expect(await served).toMatchObject(OK);
  });
});

describe('a file', () => {
  test.each([
    ['this', 'state-3.ndjson', '3 keys'],
    ['an older', 'state-1.ndjson', '3 keys'],
  ])('of %s format is read by every command', async (_format, name, content) => {
    const file = join(FIXTURES, name);
    expect(await run(['state', 'import', file, '--to', 'target'])).toMatchObject({
      code: 0,
      out: expect.stringContaining(content),
    });
    const restore = ['state', 'restore', file];
    expect(await run(restore, { STOREGATE_DATA: 'restored' })).toMatchObject(OK);
    expect(await run(copyOf(file, redis.url))).toMatchObject(OK);
  });

  const change = (from: string | RegExp, to: string) => (text: string) => text.replace(from, to);
  test.each<[string, (text: string) => string, RegExp]>([
    ['a newer', change('"version":3', '"version":4'), /line 1: .*format 4.* reads 1, 3: use th/],
    ['a damaged', change('"plan":"free"', '"plan":"FREE"'), /line 2: key: plan must be/],
  ])('of %s format is refused by every command, which names the line', async (_, spoil, reason) => {
    const whole = readFileSync(at('this.ndjson'), 'utf8');
    const spoilt = spoil(whole);
    expect(spoilt).not.toBe(whole);
    writeFileSync(at('other.ndjson'), spoilt);
    for (const args of [
      ['state', 'import', 'other.ndjson', '--to', 'target'],
      ['state', 'restore', 'other.ndjson'],
      copyOf('other.ndjson', redis.url),
    ])
      expect(await run(args, { STOREGATE_DATA: 'target' })).toMatchObject({
        code: 1,
        err: expect.stringMatching(reason),
      });
    expect(readdirSync(folder.path)).not.toContain('target');
    expect(await redis.admin.keys('*')).toEqual([]);
  });
});
