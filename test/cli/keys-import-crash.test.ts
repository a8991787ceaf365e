import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { withKeys } from '../../src/cli/connect/storage.ts';
import { loadConfig } from '../../src/config/load.ts';
import { commandLine } from '../support/command-line.ts';
import { allKeys } from '../support/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { storegate } from '../support/storegate.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const COUNT = 10_000;
const hashes = Array.from({ length: COUNT }, (_, i) =>
  createHash('sha256').update(`old-${i}`).digest('base64url'),
);

const cwd = temporaryFolders({ keep: true })();
let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
  writeFileSync(
    join(cwd, 'keys.ndjson'),
    hashes.map((hash) => `{"hash":"${hash}","plan":"pro","account":"acme"}\n`).join(''),
  );
});
afterAll(() => redis.stop());

test.each([
  ['a folder', () => ({ STOREGATE_DATA: join(cwd, 'data') })],
  ['Redis', () => ({ REDIS_URL: redis.url })],
])('a repeated import into %s completes one that was killed', async (_where, environment) => {
  const env = environment();
  const args = ['keys', 'import', '--file', 'keys.ndjson'];
  const keys = <T>(work: Parameters<typeof withKeys<T>>[1]) =>
    withKeys(loadConfig({ cwd, env }), work);
  const killed = storegate(args, { cwd, env });
  await until('some are imported', () =>
    keys(async (backend) => (await backend.findMany([hashes[0]!]))[0] !== null),
  );
  killed.child.kill('SIGKILL');
  await killed.exit;
  const before = await keys(allKeys);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(COUNT);

  // The lock of the killed process in Redis expires after at most 10 s.
  const repeat = () => commandLine(cwd)(args, { env });
  let repeated = await repeat();
  await until('it is completed', async () => {
    if (repeated.code === 0) return true;
    await pause(500);
    repeated = await repeat();
    return repeated.code === 0;
  });
  expect(repeated.err).toBe('');
  const [, imported, already] = /^([\d,]+) keys? imported, (\d+) exist already/
    .exec(repeated.out)!
    .map((text) => Number(text.replace(',', '')));
  expect(imported! + already!).toBe(COUNT);
  const found = await keys(async (backend) => backend.findMany(hashes));
  expect(found.filter((record) => record?.account === 'acme')).toHaveLength(COUNT);
  const listed = await keys(allKeys);
  expect(listed).toHaveLength(COUNT);
  const ids = (records: typeof listed) => new Set(records.map(({ id }) => id));
  expect(ids(before).isSubsetOf(ids(listed))).toBe(true);
});
