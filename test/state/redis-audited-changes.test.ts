import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/errors/outage.ts';
import {
  type AuditDraft,
  type AuditNote,
  IdempotencyConflict,
  type IdempotentAnswer,
} from '../../src/operators/audit-log.ts';
import { AuditedChanges } from '../../src/state/redis/audit-log.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => server.admin.flushall());

const idempotent: IdempotentAnswer = { name: 'call', question: 'what', sealed: 'answer' };
const entry = { at: 1, actor: 'anna', action: 'test', target: 't', before: null, after: null, requestId: 'r' };
const note: AuditNote = { entry, idempotent };

describe('a change that must not be made twice', () => {
  test('and died half-way is finished when it is asked for again', async () => {
    const made: string[] = [];
    let away = true;
    const auditedChanges = new AuditedChanges<string>(server.admin, async (change) => {
      if (away) throw new Outage('state_unavailable');
      made.push(change);
    });
    await expect(auditedChanges.make(note, 'change')).rejects.toBeInstanceOf(Outage);
    expect(made).toEqual([]);
    away = false;
    expect(await auditedChanges.answered('call')).toEqual(idempotent);
    expect(made).toEqual(['change']);
    expect(await auditedChanges.answered('call')).toEqual(idempotent);
    expect(made).toEqual(['change']);
  });

  test('is made by one of those who ask at once', async () => {
    const made: string[] = [];
    const auditedChanges = new AuditedChanges<string>(server.admin, async (change) => void made.push(change));
    const results = await Promise.allSettled([1, 2, 3].map(() => auditedChanges.make(note, 'change')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(IdempotencyConflict);
    expect(made).toEqual(['change']);
    expect(await server.admin.pttl(keyOf.idempotentAnswer('call'))).toBeGreaterThan(0);
  });

  test('and was refused may be asked for again', async () => {
    const auditedChanges = new AuditedChanges<string>(server.admin, async () => {
      throw new Error('refused');
    });
    await expect(auditedChanges.make(note, 'change')).rejects.toThrow('refused');
    expect(await auditedChanges.answered('call')).toBeNull();
  });

  test('and was refused is told as failed', async () => {
    const auditedChanges = new AuditedChanges<string>(server.admin, async () => {
      throw new Error('refused');
    });
    await expect(auditedChanges.make(note, 'change')).rejects.toThrow('refused');
    const entries = await server.admin.lrange(keyOf.audit, '0', '-1');
    expect(entries.map((text) => (JSON.parse(text) as AuditDraft).action)).toEqual(['test', 'test.failed']);
  });
});
