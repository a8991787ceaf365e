import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { IDEMPOTENCY_LIFETIME } from '../../src/records/operators/audit-log.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { KEPT } from '../support/audit.ts';
import { entries, note } from '../support/records.ts';
import { type RecordsConnections, twoConnections } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { keepsThePromisesOfRecords } from './records-contract.ts';

describe('in one Redis', () => {
  let server: RedisServer;
  let connections: RecordsConnections;
  beforeAll(async () => {
    server = await startRedis();
    connections = await twoConnections({ ...DEFAULTS, url: server.url }, [server]);
  });
  afterAll(async () => {
    connections.close();
    await server.stop();
  });

  keepsThePromisesOfRecords((audit) => connections.openEmpty(audit));

  test('a bound of the audit log that was lowered is reached a thousand entries at a time', async () => {
    const { auditLog } = (await connections.openEmpty()).one;
    await Promise.all(Array.from({ length: 1_300 }, async () => auditLog.append(note())));
    const narrow = connections.open({ ...KEPT, maxEntries: 20 });
    const kept = async () => {
      const all = await entries(narrow);
      return [all[0]!.number, all.at(-1)!.number];
    };
    await narrow.auditLog.append(note());
    expect(await kept()).toEqual([1_001, 1_301]);
    await narrow.auditLog.append(note());
    expect(await kept()).toEqual([1_283, 1_302]);
  });

  test('an answer is forgotten when its lifetime is over, by the clock of Redis', async () => {
    const { auditLog } = (await connections.openEmpty()).one;
    await auditLog.append(note({}, 'call'));
    const lifetime = await server.admin.pttl(keyOf.records.answer('call'));
    expect(lifetime).toBeLessThanOrEqual(IDEMPOTENCY_LIFETIME);
    await server.admin.pexpire(keyOf.records.answer('call'), lifetime - IDEMPOTENCY_LIFETIME);
    expect(await auditLog.answered('call', 1_000)).toBeNull();
    await auditLog.append(note({}, 'call'));
  });
});
