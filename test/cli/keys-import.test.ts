import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { jsonOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const hex = (secret: string) => createHash('sha256').update(secret).digest('hex');
const secretOf = () => `old-${randomBytes(9).toString('hex')}`;
const lines = (...rows: readonly unknown[]) =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const folder = temporaryFolders({ keep: true })();

function write(name: string, text: string | Uint8Array): string {
  writeFileSync(join(folder, name), text);
  return name;
}

let redis: RedisServer;
const gateways: { embedded?: TestGateway; redis?: TestGateway } = {};
beforeAll(async () => {
  redis = await startRedis();
  gateways.embedded = await TestGateway.start();
  gateways.redis = await TestGateway.start({ env: { REDIS_URL: redis.url } });
});
afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway.stop();
  await redis.stop();
});

describe.each([
  [
    'a gateway on a folder, by its admin API',
    'embedded',
    (gateway: TestGateway) => ({ STOREGATE_ADMIN_URL: gateway.adminUrl }),
  ],
  [
    'a gateway on a folder, beside it',
    'embedded',
    (gateway: TestGateway) => ({ STOREGATE_DATA: gateway.config.data }),
  ],
  ['a gateway on Redis, beside it', 'redis', () => ({ REDIS_URL: redis.url })],
] as const)('keys of a file go to %s:', (_where, kind, environment) => {
  let gateway: TestGateway;
  let account: string;
  beforeAll(() => {
    gateway = gateways[kind]!;
  });
  beforeEach(() => {
    account = `acct-${randomBytes(6).toString('hex')}`;
  });

  const run: CommandLine = (args, more = {}) =>
    commandLine(folder)(args, { ...more, env: environment(gateway) });
  const importing = (file: string, ...more: string[]) =>
    run(['keys', 'import', '--file', file, ...more]);
  const listed = async () => jsonOf(await run(['keys', 'list', '--account', account, '--json']));
  const status = async (secret: string) =>
    (await gateway.client.get('/pets').set('X-API-Key', secret)).status;

  test('imported keys work with their secrets, and the audit log names the importer', async () => {
    const [hashed, plain, off] = [secretOf(), secretOf(), secretOf()];
    const file = write(
      'keys.ndjson',
      lines(
        {
          account,
          hash: `sha256:${hex(hashed)}`,
          plan: 'pro',
          label: 'one, two',
          limits: '7/minute,70/day',
          expires: '2999-01-01T00:00:00Z',
          scopes: ['pets:write', 'backend:admin'],
          metadata: { team: 'pets' },
        },
        {
          account,
          key: plain,
          plan: 'pro',
          expires: 4102444800,
          addresses: ['127.0.0.0/8', '::1'],
          disabled: false,
        },
        { account, hash: hex(off), plan: 'pro', disabled: true },
      ),
    );
    expect(await importing(file)).toEqual({
      code: 0,
      out: '3 keys imported, 0 exist already.\n',
      err: 'keys.ndjson contains secrets: delete it after the import.\n',
    });
    for (const secret of [hashed, plain])
      await until('the key works', async () => (await status(secret)) === 200);
    expect(await status(off)).toBe(401);
    const keys = await listed();
    expect(keys).toHaveLength(3);
    expect(keys).toContainEqual(
      expect.objectContaining({
        label: 'one, two',
        limits: '7/minute,70/day',
        scopes: ['pets:write', 'backend:admin'],
        metadata: { team: 'pets' },
      }),
    );
    expect(keys).toContainEqual(
      expect.objectContaining({
        addresses: ['127.0.0.0/8', '::1'],
        expires: '2100-01-01T00:00:00.000Z',
      }),
    );
    expect(keys).toContainEqual(expect.objectContaining({ status: 'disabled' }));
    for (const { id } of keys) {
      const { out } = await run(['audit', 'list', '--target', id, '--json']);
      expect(JSON.parse(out)).toMatchObject([
        { action: 'keys.import', target: 'keys', after: { count: 3 } },
      ]);
      expect(out).not.toContain(plain);
    }
  });

  test('a repeated import changes nothing, and a longer file adds new keys', async () => {
    const rows = Array.from({ length: 1_203 }, () => ({
      hash: hex(secretOf()),
      plan: 'pro',
      account,
    }));
    const file = write('keys.ndjson', lines(...rows.slice(0, 1_102)));
    expect((await importing(file)).out).toBe('1,102 keys imported, 0 exist already.\n');
    expect((await importing(file)).out).toBe('0 keys imported, 1102 exist already.\n');
    expect((await importing(write('more.ndjson', lines(...rows)))).out).toBe(
      '101 keys imported, 1102 exist already.\n',
    );
    expect(await listed()).toHaveLength(1_203);
  });

  test('one invalid line prevents the import, and every invalid line is reported', async () => {
    const [secret, twin, there] = [secretOf(), secretOf(), secretOf()];
    await importing(write('there.ndjson', JSON.stringify({ key: there, plan: 'pro', account })));
    const before = await listed();
    const file = write(
      'bad.ndjson',
      lines(
        { key: secretOf(), plan: 'pro', account },
        { key: secret, plan: 'gold', account },
        secret,
        { key: twin, plan: 'pro', account },
        { key: twin, plan: 'pro', account },
        { key: secretOf(), plan: 'enterprise', account },
        { key: secretOf(), plan: secret, account: `/${secret}`, limits: secret },
        { key: there, plan: 'free', account },
      ),
    );
    const checked = await importing(file, '--dry-run');
    const plans = 'the plan does not exist; plans: free, pro';
    expect(checked.err.split('\n')).toEqual([
      expect.stringContaining(`line 2: plan: ${plans}`),
      'line 3: is not a JSON object',
      'line 5: hash: is the same key as line 4',
      expect.stringContaining('line 6: limits: plan enterprise has no limits of its own'),
      expect.stringContaining('line 7: limits: must be one to 16 limits'),
      expect.stringContaining('line 7: account: an account is'),
      `line 8: plan: it is there already as ${before[0].id}, with another plan`,
      'bad.ndjson contains secrets: delete it after the import.',
      '6 keys cannot be imported.',
      '',
    ]);
    expect(checked).toMatchObject({
      code: 1,
      out: 'Dry run, no changes: 2 keys would be imported, 0 exist already.\n',
    });
    const refused = await importing(file);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain(
      '6 keys cannot be imported, so none was. To import the others, use --skip-bad.\n',
    );
    expect(await listed()).toEqual(before);
    const skipped = await importing(file, '--skip-bad');
    expect(skipped).toMatchObject({ code: 1, out: '2 keys imported, 0 exist already.\n' });
    expect(await listed()).toHaveLength(3);
    for (const { err } of [checked, refused, skipped])
      for (const one of [secret, twin, there]) expect(err).not.toContain(one);
  });

  test('reads standard input with default plan and account, and prints JSON', async () => {
    const secret = secretOf();
    const input = lines({ key: secret }, { key: 'x', expires: 'soon' });
    const args = ['keys', 'import', '--file', '-', '--plan', 'pro', '--account', account];
    const { code, out, err } = await run([...args, '--skip-bad', '--json'], { input });
    expect(JSON.parse(out)).toEqual({
      dryRun: false,
      imported: 1,
      already: 0,
      bad: 1,
      problems: [
        {
          line: 2,
          field: 'expires',
          message: expect.stringContaining('is not a time'),
        },
      ],
      moreProblems: 0,
    });
    expect(code).toBe(1);
    expect(err).toContain('The input contains secrets');
    await until('the key works', async () => (await status(secret)) === 200);
  });
});

describe('keys import', () => {
  beforeAll(() => {
    write('latin.ndjson', Buffer.from([0x7b, 0x7d, 0x0a, 0xc3, 0x28, 0x0a]));
  });

  test.each([
    [
      ['--hash', 'a'.repeat(64), '--plan', 'pro'],
      2,
      'use --hash, --plan and --account for one key, or --file',
    ],
    [
      ['--file', 'a.ndjson', '--hash', 'a'.repeat(64)],
      2,
      "'--file <file>' cannot be used with option '--hash <sha256>'",
    ],
    [['--hash', 'a'.repeat(64), '--plan', 'pro', '--account', 'a', '--dry-run'], 2, 'need --file'],
    [['--file', 'a.ndjson'], 1, 'Cannot read a.ndjson: it does not exist.'],
    [['--file', '.'], 1, 'Cannot read .: it is a folder.'],
    [['--file', 'latin.ndjson'], 1, 'The file is not UTF-8.'],
  ])('%j fails with a reason', async (args, code, message) => {
    const result = await commandLine(folder)(['keys', 'import', ...args]);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
  });

  test('counts problems beyond the first 50', async () => {
    const file = write('many.ndjson', '{"key":"a"}\n'.repeat(2_500));
    const args = ['keys', 'import', '--file', file, '--dry-run', '--json'];
    const { err } = await commandLine(folder)(args);
    const lines = err.split('\n');
    expect(lines.slice(0, 3)).toEqual([
      'line 1: plan: is missing; use --plan for a default',
      'line 1: account: is missing; use --account for a default',
      'line 2: plan: is missing; use --plan for a default',
    ]);
    expect(lines.slice(50)).toEqual(['and 4950 more', '2,500 keys cannot be imported.', '']);
  });
});
