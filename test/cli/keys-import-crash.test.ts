import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { withKeys } from '../../src/cli/with-keystore.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { finished, storegate } from '../support/storegate.ts';
import { until } from '../support/until.ts';

const COUNT = 10_000;
const hashes = Array.from({ length: COUNT }, (_, i) => createHash('sha256').update(`old-${i}`).digest('base64url'));

let redis: RedisServer;
let cwd: string;
beforeAll(async () => {
  redis = await startRedis();
  cwd = mkdtempSync(join(tmpdir(), 'storegate-crash-'));
  writeFileSync(join(cwd, 'keys.csv'), `hash,plan,account\n${hashes.map((hash) => `${hash},pro,acme\n`).join('')}`);
});
afterAll(async () => {
  await redis.stop();
  rmSync(cwd, { recursive: true });
});

test.each([
  ['a folder', () => ({ STOREGATE_DATA: join(cwd, 'data') })],
  ['Redis', () => ({ REDIS_URL: redis.url })],
])(
  'an import into %s that was killed is completed when it is repeated',
  async (_where, environment) => {
    const env = environment();
    const args = ['keys', 'import', '--file', 'keys.csv'];
    const keys = <T>(work: Parameters<typeof withKeys<T>>[1]) => withKeys(loadConfig({ cwd, env }), work);
    const killed = storegate(args, { cwd, env });
    await until('some are imported', () => keys(async (store) => (await store.findMany([hashes[0]!]))[0] !== null));
    killed.child.kill('SIGKILL');
    await killed.exit;
    const before = await keys(async (store) => store.list());
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(COUNT);

    // What the killed one had locked in Redis is free again in 10 s at most.
    let repeated = await finished(args, { cwd, env });
    await until('it is completed', async () => {
      if (repeated.code !== 0) repeated = await finished(args, { cwd, env });
      return repeated.code === 0;
    });
    expect(repeated).toMatchObject({ code: 0, err: '' });
    const [, imported, already] = /^(\d+) keys imported, (\d+) there already/.exec(repeated.out)!.map(Number);
    expect(imported! + already!).toBe(COUNT);
    const found = await keys(async (store) => store.findMany(hashes));
    expect(found.filter((record) => record?.account === 'acme')).toHaveLength(COUNT);
    const listed = await keys(async (store) => store.list());
    expect(listed).toHaveLength(COUNT);
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
  },
  60_000,
);
