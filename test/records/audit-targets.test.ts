import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import { type AuditLog, MANY_KEYS } from '../../src/records/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from '../support/audit.ts';
import { openShared } from '../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

/** Names that look like a part of another. */
const TARGETS = ['key_1', 'key_11', 'acme', 'acme:other', 'me', 'ACME', 'a%e'];

const opened: { [K in 'embedded' | 'Redis']?: AuditLog } = {};
const closing: (() => unknown)[] = [];
let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis();
  const shared = await openShared({ url: redis.url });
  const folder = mkdtempSync(join(tmpdir(), 'storegate-audit-'));
  const db = openStateFile(folder);
  opened.Redis = shared.auditLog;
  opened.embedded = recordsInFile(db, KEPT).auditLog;
  closing.push(
    () => db.close(),
    () => rmSync(folder, { recursive: true }),
    () => shared.close(),
    () => redis.stop(),
  );
  for (const auditLog of [opened.embedded, opened.Redis]) {
    for (const target of TARGETS) {
      const entry = {
        at: 1,
        actor: 'anna',
        action: 'test',
        target,
        before: null,
        after: null,
        requestId: 'r',
      };
      await auditLog.append({ entry, idempotent: null });
    }
    for (const after of [{ count: 2, ids: ['key_2', 'key_22'] }, { ids: 'key_2' }, null]) {
      const entry = {
        at: 1,
        actor: 'anna',
        action: 'keys.import',
        target: MANY_KEYS,
        before: null,
        after,
      };
      await auditLog.append({ entry: { ...entry, requestId: 'r' }, idempotent: null });
    }
  }
});
afterAll(async () => {
  for (const close of closing) await close();
});

describe.each(['embedded', 'Redis'] as const)('entries of the %s audit log', (store) => {
  test.each([
    ['key_1', ['key_1']],
    ['acme', ['acme']],
    ['me', ['me']],
    ['a%e', ['a%e']],
    ['key_2', ['keys']],
    ['key_22', ['keys']],
    ['key_', []],
    ['keys', ['keys', 'keys', 'keys']],
    ['other', []],
    ['', []],
  ])('about %j are found', async (target, expected) => {
    const entries = await opened[store]!.list({ target, limit: 100 });
    expect(entries.map((entry) => entry.target).reverse()).toEqual(expected);
  });
});
