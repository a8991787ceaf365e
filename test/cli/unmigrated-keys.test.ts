import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { folderTarget } from '../../src/records/transfer/folder.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { recommendedUser } from '../support/redis/user.ts';
import { storegate } from '../support/storegate.ts';
import { movable, moveAll, sourceOf, temporaryFolder, WITH_CLOCK } from '../support/transfer.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'a-password-to-hide';
let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ password: PASSWORD });
});
afterAll(() => redis.stop());

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  writeFileSync(join(folder.path, 'gateway.yaml'), 'redis: { deadline: 1m }\n');
  await redis.admin.flushall();
});
afterEach(() => folder.remove());

const env = () => ({
  STOREGATE_HOST: '127.0.0.1',
  STOREGATE_PORT: '0',
  STOREGATE_ADMIN_PORT: '0',
  BACKEND_URL: 'http://127.0.0.1:1',
  STOREGATE_DATA: 'old data',
  STOREGATE_CONFIG: 'gateway.yaml',
  REDIS_URL: redis.url,
});
const here = (...args: string[]) => commandLine(folder.path)(args, { env: env() });

async function shownAtStart(): Promise<string> {
  const stop = new AbortController();
  const command = commandLine(folder.path, (text) => {
    if (text.includes('New key')) stop.abort();
  });
  const silent = { ...env(), LOG_LEVEL: 'silent' };
  return (
    await command(['serve', '--no-demo-keys'], { env: silent, isTerminal: true, stop: stop.signal })
  ).out;
}

test('a start with Redis reports unmigrated keys, and its command copies them', async () => {
  const data = join(folder.path, 'old data');
  await moveAll(sourceOf({ key: [movable(1), movable(2)] }), folderTarget(data, WITH_CLOCK));
  const running = storegate(['serve', '--no-demo-keys'], {
    cwd: folder.path,
    env: env(),
    onTerminal: true,
  });
  await until('the gateway has said it', () => running.out().includes('New key'));
  running.child.kill('SIGKILL');
  await running.exit;
  const shown = stripVTControlCharacters(running.out());
  expect(shown).toContain(`${data} has 2 keys, and Redis does not know at least 2 of them`);
  expect(shown).toMatch(/warn {2}state\.unmigrated_keys /);
  expect(shown).toContain(`Keys, counters and bans are in Redis at 127.0.0.1:${redis.port}.`);
  expect(shown).not.toContain(PASSWORD);
  expect(shown).not.toContain('Keys and data are in');
  const gateway = await TestGateway.start({
    settings: 'redis: { deadline: 1m }\n',
    env: { ...env(), STOREGATE_DATA: data },
  });
  await gateway.stop();
  const report = gateway.log.find(({ msg }) => msg === 'state.unmigrated_keys')!;
  expect(report).toMatchObject({ level: 40, folder: data, keys: 2, unknown: 2 });

  const checked = await here('check');
  expect(checked.code).toBe(0);
  expect(checked.err).toMatch(/^note: .* has 2 keys/);
  expect(checked.err).toContain(report.command);
  expect(shown).toContain(report.command);
  expect(report.command).toBe(`storegate state copy --from '${data}' --to redis`);
  // The killed gateway is not counted as running after a few seconds.
  await redis.admin.del(keyOf.gateways);
  expect(await here('state', 'copy', '--from', data, '--to', 'redis')).toMatchObject({
    code: 0,
    err: expect.stringMatching(
      /had usage of requests without a valid key .*: an import replaces it/,
    ),
  });
  expect((await here('check')).err).toBe('');
  expect(await shownAtStart()).not.toContain('does not know');
});

test('check creates no state, and accepts an unreachable Redis', async () => {
  expect(await shownAtStart()).not.toContain('does not know');
  expect(existsSync(join(folder.path, 'old data', 'state.db'))).toBe(false);
  await moveAll(
    sourceOf({ key: [movable(1)] }),
    folderTarget(join(folder.path, 'old data'), WITH_CLOCK),
  );
  const offline = { ...env(), REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:1` };
  const { code, err } = await commandLine(folder.path)(['check'], { env: offline });
  expect(code).toBe(0);
  expect(err).toMatch(/has keys that may be missing in Redis: cannot use Redis at 127\.0\.0\.1:1/);
  expect(err).not.toContain(PASSWORD);
});

test('check accepts a Redis without INFO, notes one that is unreachable, and fails if Redis refuses the gateway', async () => {
  const ready = jest.spyOn(console, 'warn').mockReturnValue();
  const check = (url: string, ...args: string[]) =>
    commandLine(folder.path)(['check', ...args], { env: { ...env(), REDIS_URL: url } });
  expect(await check(await recommendedUser(redis))).toMatchObject({ code: 0, err: '' });
  const withoutInfo = await check(await recommendedUser(redis, '-info'), '--json');
  expect(withoutInfo).toMatchObject({
    code: 0,
    err: '',
  });
  expect(JSON.parse(withoutInfo.out)).toMatchObject({ redis: 'usable' });
  const withoutRight = await check(await recommendedUser(redis, '-evalsha'));
  expect(withoutRight).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('lacks a permission'),
  });
  const wrongPassword = await check(`redis://:wrong@127.0.0.1:${redis.port}`);
  expect(wrongPassword).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('refuses the user or password'),
  });
  const unreachable = await check('redis://127.0.0.1:1');
  expect(unreachable.code).toBe(0);
  expect(unreachable.err).toMatch(
    /^note: cannot use Redis at 127\.0\.0\.1:1.*; a start needs Redis, or the key cache/,
  );
  expect(unreachable.out).toContain('Not checked: Redis. It is unreachable.');
  ready.mockRestore();
});
