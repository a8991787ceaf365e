import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import {
  type AuditNote,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
} from '../../src/records/operators/audit-log.ts';
import type { Records } from '../../src/records/storage.ts';
import { CHANNEL, keyOf } from '../../src/state/redis/key-names.ts';
import { loadScript } from '../../src/state/redis/scripts.ts';
import { KEPT } from '../support/audit.ts';
import { changed, entries, keyRecord, note } from '../support/records.ts';
import { startProxy } from '../support/redis/proxy.ts';
import {
  connectRecords,
  modelOf,
  type RecordsConnections,
  twoConnections,
} from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { until } from '../support/until.ts';

/** The other promises: redis-cluster-records.test.ts. */
describe('in one Redis', () => {
  let server: RedisServer;
  let connections: RecordsConnections;
  beforeAll(async () => {
    server = await startRedis();
    connections = await twoConnections({ ...DEFAULTS, url: server.url }, [server]);
  });
  afterAll(async () => {
    await connections.close();
    await server.stop();
  });

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
    const lifetime = await server.admin.pttl(keyOf.records.result('call'));
    expect(lifetime).toBeLessThanOrEqual(IDEMPOTENCY_LIFETIME);
    await server.admin.pexpire(keyOf.records.result('call'), lifetime - IDEMPOTENCY_LIFETIME);
    expect(await auditLog.resultOf('call', 1_000)).toBeNull();
    await auditLog.append(note({}, 'call'));
  });

  const hashes = (hash: unknown, previous: unknown = null) =>
    JSON.stringify({ version: 1, hash, previous });
  test.each(['no JSON', 'null', '5', hashes(5), hashes('h', { hash: 5 })])(
    'a change of a key whose record is not valid is refused, and names it: %s',
    async (text) => {
      const { keys, auditLog } = (await connections.openEmpty()).one;
      const record = keyRecord();
      await keys.add(record, note());
      await server.admin.hset(keyOf.records.keys, record.id, text);
      const change = async () => keys.replace(changed(record, { label: 'new' }), note());
      const place = `the field ${record.id} of ${keyOf.records.keys}`;
      const cause = { message: `${place} is not valid: delete it` };
      await expect(change()).rejects.toMatchObject({ code: 'state_unavailable', cause });
      expect(await auditLog.list({ limit: 9 })).toHaveLength(1);
    },
  );

  /** For gateways that look keys up in Redis. */
  test('a key is found by both secrets, and a change announces those that it had before', async () => {
    const { keys } = (await connections.openEmpty()).one;
    const record = keyRecord({ previous: { hash: 'before', until: 9_000 } });
    await keys.add(record, note());
    const { hashes } = keyOf.records;
    for (const hash of [record.hash, 'before'])
      expect(await server.admin.hget(hashes, hash)).toBe(record.id);
    const received: string[] = [];
    const subscriber = server.admin.duplicate();
    subscriber.on('message', (_, text) => received.push(text));
    await subscriber.subscribe(CHANNEL);
    await keys.replace(changed(record, { hash: 'next', previous: null }), note());
    await until('it is announced', () => received.length > 0);
    expect(received).toEqual([`l:2 ${record.hash} before`]);
    expect(await server.admin.hgetall(hashes)).toEqual({ next: record.id });
    subscriber.disconnect();
  });

  describe('a reading of the log', () => {
    const { head, keys, tokens, audit, bans } = keyOf.records;
    const entriesAfter = async (id: string, mostRecords: number) => {
      const names = [head, keys, tokens, audit, bans];
      const args = [id, '0-0', 9, mostRecords];
      const [, found] = (await loadScript('follow-5.lua')(server.admin, names, args)) as unknown[];
      return found === null ? null : (found as [id: string][]).map(([id]) => id);
    };

    test('ends before an entry with too many records, unless it is the first', async () => {
      const { one } = await connections.openEmpty();
      for (let i = 0; i < 2; i++) await one.keys.addMany([keyRecord(), keyRecord()], note());
      const [first, second] = await server.admin.xrange(audit, '-', '+');
      expect(await entriesAfter('0-0', 1)).toEqual([first![0]]);
      expect(await entriesAfter(first![0], 1)).toEqual([second![0]]);
      expect(await entriesAfter('0-0', 3)).toEqual([first![0], second![0]]);
    });

    test('has nothing if the newest entries are missing', async () => {
      const { one } = await connections.openEmpty();
      for (let i = 0; i < 2; i++) await one.auditLog.append(note());
      const [newest] = (await server.admin.xrevrange(audit, '+', '-'))[0]!;
      expect(await entriesAfter(newest, 9)).toEqual([]);
      await server.admin.xdel(audit, newest);
      expect(await entriesAfter(newest, 9)).toBeNull();
    });
  });

  describe('a change whose answer was lost', () => {
    const [before, added] = [keyRecord(), keyRecord()];
    const token = { name: 'anna', hash: 'h', role: 'read' as const, createdAt: 1 };
    test.each<[string, (records: Records, by: AuditNote) => unknown]>([
      ['a new key', ({ keys }, by) => keys.add(added, by)],
      ['a changed key', ({ keys }, by) => keys.replace(changed(before, { label: 'new' }), by)],
      ['a new token', ({ tokens }, by) => tokens.add(token, by)],
      ['an entry', ({ auditLog }, by) => auditLog.append(by)],
    ])('is not made again under its name, which has its answer: %s', async (_what, change) => {
      const { one } = await connections.openEmpty();
      await one.keys.add(before, note());
      const proxy = await startProxy(server.port);
      const cutOff = await connectRecords({ ...DEFAULTS, url: proxy.url });
      const { records } = cutOff.open();
      await modelOf(records);
      const make = async (target: string) => change(records, note({ target }, 'call'));
      proxy.replies = 'cut';
      await expect(make('first')).rejects.toBeInstanceOf(Outage);
      const made = await modelOf(one);
      expect(made.audit.map(({ target }) => target)).toEqual(['thing', 'first']);
      proxy.replies = 'pass';
      expect(await modelOf(records)).toEqual(made);
      await expect(make('second')).rejects.toBeInstanceOf(IdempotencyConflict);
      const response = note({}, 'call').idempotent;
      expect(await records.auditLog.resultOf('call', 1_000)).toEqual(response);
      for (const each of [one, records]) expect(await modelOf(each)).toEqual(made);
      await cutOff.close();
      await proxy.stop();
    });
  });
});
