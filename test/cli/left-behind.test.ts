import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { folderTarget } from '../../src/state/embedded/transfer/target.ts';
import { movable, moveAll, sourceOf, targetOptions, temporaryFolder } from '../support/moving.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { finished, type Running, storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'a-password-that-nobody-may-see';
let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ password: PASSWORD });
});
afterAll(() => redis.stop());

let folder: ReturnType<typeof temporaryFolder>;
let running: Running[];
beforeEach(() => {
  folder = temporaryFolder();
  running = [];
});
afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ exit }) => exit));
  folder.remove();
});

const env = () => ({
  STOREGATE_PORT: '0',
  STOREGATE_ADMIN_PORT: '0',
  STORE_URL: 'http://127.0.0.1:1',
  STOREGATE_DATA: 'old data',
  REDIS_URL: redis.url,
});

/** What a start shows until it has said this too. */
async function start(last = 'To make a key', onTerminal = true): Promise<string> {
  const gateway = storegate(['serve', '--no-demo-keys'], { cwd: folder.path, env: env(), onTerminal });
  running.push(gateway);
  await until('the gateway has said it', () => gateway.out().includes(last));
  return stripVTControlCharacters(gateway.out());
}

test('a start with Redis names the keys that its folder still has, and the command that it shows copies them', async () => {
  const data = join(folder.path, 'old data');
  await moveAll(sourceOf({ key: [movable(1), movable(2)] }), folderTarget(data, targetOptions()));
  const shown = await start();
  expect(shown).toContain(`${data} has 2 keys, and Redis does not know at least 2 of them`);
  expect(shown).toMatch(/warn {2}state\.left /);
  expect(shown).toContain(`Keys, counters and bans are in Redis at 127.0.0.1:${redis.port}.`);
  expect(shown).not.toContain(PASSWORD);
  expect(shown).not.toContain('Keys and data are in');
  const logged = (await start('"msg":"state.left"', false)).split('\n').find((line) => line.includes('"state.left"'));
  const told = JSON.parse(logged!) as { level: number; command: string };
  expect(told).toMatchObject({ level: 40, folder: data, keys: 2, unknown: 2 });

  const where = { cwd: folder.path, env: env() };
  const checked = await finished(['check'], where);
  expect(checked.code).toBe(0);
  expect(checked.err).toMatch(/^note: .* has 2 keys/);
  expect(checked.err).toContain(told.command);
  expect(shown).toContain(told.command);
  expect(told.command).toBe(`storegate state copy --from '${data}' --to redis`);
  expect(await finished(['state', 'copy', '--from', data, '--to', 'redis'], where)).toMatchObject({ code: 0 });
  expect((await finished(['check'], where)).err).toBe('');
  expect(await start()).not.toContain('does not know');
});

test('a state that is not there is not made, and a Redis that is away is no mistake for check', async () => {
  expect(await start()).not.toContain('does not know');
  expect(existsSync(join(folder.path, 'old data', 'state.db'))).toBe(false);
  await moveAll(sourceOf({ key: [movable(1)] }), folderTarget(join(folder.path, 'old data'), targetOptions()));
  const away = { cwd: folder.path, env: { ...env(), REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:1` } };
  const { code, err } = await finished(['check'], away);
  expect(code).toBe(0);
  expect(err).toMatch(/nobody can say whether Redis knows them: cannot use Redis at 127\.0\.0\.1:1/);
  expect(err).not.toContain(PASSWORD);
});
