import { expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { Records } from '../../src/records/storage.ts';
import { connectRecords } from '../support/redis/records.ts';
import { startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';

const NAMES = ['alice', 'bob'];

test('lists operators’ tokens while it reads all keys for the first time', async () => {
  const server = await startRedis();
  const page = Promise.withResolvers<[string, string[]]>();
  const connection = await connectRecords({ ...DEFAULTS, url: server.url });
  try {
    const first = connection.open();
    for (const name of NAMES) await addToken(first.records, name);
    await first.close();
    (connection.redis as Redis).hscan = () => page.promise;
    const { records } = connection.open();
    expect((await records.tokens.list()).map(({ name }) => name)).toEqual(NAMES);
    await addToken(records, 'carol');
    expect((await records.tokens.list()).map(({ name }) => name)).toEqual([...NAMES, 'carol']);
    await expect(async () => await records.keys.isEmpty()).rejects.toMatchObject({
      code: 'state_unavailable',
    });
  } finally {
    page.resolve(['0', []]);
    await connection.close();
    await server.stop();
  }
});

async function addToken({ tokens }: Records, name: string): Promise<void> {
  const target = { actor: 'test', action: 'tokens.create', target: name, requestId: name };
  const entry = { ...target, at: Date.now(), before: null, after: null };
  const note = { entry, idempotent: null };
  await tokens.add({ name, hash: name, role: 'admin', createdAt: 1 }, note);
}
