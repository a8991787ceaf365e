import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { Outage } from '../../src/common/errors/outage.ts';
import {
  type AuditDraft,
  IDEMPOTENCY_LIFETIME,
  IdempotencyConflict,
} from '../../src/records/operators/audit-log.ts';
import { auditEntriesIn } from '../../src/records/redis/audit-entries.ts';
import { auditedChangesIn } from '../../src/records/redis/audited-changes.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { KEPT } from '../support/audit.ts';
import { note, outcomes } from '../support/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => server.admin.flushall());

const NOTE = note({ target: 'changed' }, 'call');
const entries = () => server.admin.lrange(keyOf.audit, '0', '-1');

/** Changes that are texts, made by noting them. */
function open(redis: Redis = server.admin) {
  const made: string[] = [];
  const changes = auditedChangesIn<string>(
    redis,
    auditEntriesIn(redis, KEPT),
    async (change) => void made.push(change),
  );
  return {
    made,
    answered: (name: string) => changes.answered(name),
    make: (plan: () => Promise<string> = async () => 'change') =>
      changes.make({ note: NOTE, locks: ['thing'], plan }),
  };
}

/** A connection that breaks when this command is sent. */
function breakingAt(command: 'evalsha' | 'set', times = Infinity): Redis {
  let left = times;
  const send = async (...args: unknown[]) => {
    if (left-- > 0) throw new Error('cut off');
    return server.admin.call(command, ...(args as string[]));
  };
  return Object.create(server.admin, { [command]: { value: send } }) as Redis;
}

describe('a change that must not be made twice', () => {
  test('and died before its entry was written gets both when it is asked for again', async () => {
    await expect(open(breakingAt('evalsha')).make()).rejects.toBeInstanceOf(Outage);
    expect(await entries()).toEqual([]);
    const { made, answered } = open();
    for (let i = 0; i < 2; i++) expect(await answered('call')).toEqual(NOTE.idempotent);
    expect(made).toEqual(['change']);
    expect(await entries()).toEqual([JSON.stringify(NOTE.entry)]);
  });

  test('and died after its entry was written is finished, with one entry', async () => {
    let isDown = true;
    const made: string[] = [];
    const changes = auditedChangesIn<string>(
      server.admin,
      auditEntriesIn(server.admin, KEPT),
      async (change) => {
        if (isDown) throw new Outage('state_unavailable');
        made.push(change);
      },
    );
    const change = { note: NOTE, locks: [], plan: async () => 'change' };
    await expect(changes.make(change)).rejects.toBeInstanceOf(Outage);
    expect([made, await entries()]).toEqual([[], [JSON.stringify(NOTE.entry)]]);
    isDown = false;
    await server.admin.rpush(keyOf.audit, 'somebody else’s');
    for (let i = 0; i < 2; i++) expect(await changes.answered('call')).toEqual(NOTE.idempotent);
    expect(made).toEqual(['change']);
    expect(await entries()).toEqual([JSON.stringify(NOTE.entry), 'somebody else’s']);
  });

  test('is made by one of those who ask at once; the others get its answer when it is made', async () => {
    const { made, make, answered } = open();
    const errors = await outcomes([1, 2, 3].map(() => () => make()));
    expect(errors.filter((error) => error === null)).toHaveLength(1);
    for (const error of errors)
      if (error !== null) expect(error).toBeInstanceOf(IdempotencyConflict);
    expect(await answered('call')).toEqual(NOTE.idempotent);
    expect([made, await entries()]).toEqual([['change'], [JSON.stringify(NOTE.entry)]]);
    const life = await server.admin.pttl(keyOf.idempotentAnswer('call'));
    expect([life > IDEMPOTENCY_LIFETIME - 60_000, life <= IDEMPOTENCY_LIFETIME]).toEqual([
      true,
      true,
    ]);
  });

  test('and whose plan is refused leaves nothing, and may be asked for again', async () => {
    const { made, make, answered } = open();
    await expect(
      make(async () => {
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(await answered('call')).toBeNull();
    expect(await server.admin.keys('*')).toEqual([]);
    await make();
    expect(made).toEqual(['change']);
  });

  test('and cannot be made after all may be asked for again', async () => {
    const changes = auditedChangesIn<string>(
      server.admin,
      auditEntriesIn(server.admin, KEPT),
      async () => {
        throw new Error('refused');
      },
    );
    const change = { note: NOTE, locks: [], plan: async () => 'change' };
    await expect(changes.make(change)).rejects.toThrow('refused');
    expect(await changes.answered('call')).toBeNull();
  });

  test('and cannot be made after all is reported as failed', async () => {
    const changes = auditedChangesIn<string>(
      server.admin,
      auditEntriesIn(server.admin, KEPT),
      async () => {
        throw new Error('refused');
      },
    );
    const change = { note: NOTE, locks: [], plan: async () => 'change' };
    await expect(changes.make(change)).rejects.toThrow('refused');
    const actions = (await entries()).map((text) => (JSON.parse(text) as AuditDraft).action);
    expect(actions).toEqual([NOTE.entry.action, `${NOTE.entry.action}.failed`]);
  });
});

test('a bound of the audit log that was lowered is reached a thousand entries at a time', async () => {
  const wide = auditEntriesIn(server.admin, KEPT);
  await Promise.all(Array.from({ length: 1_300 }, () => wide.append(NOTE.entry)));
  const narrow = auditEntriesIn(server.admin, { ...KEPT, maxEntries: 20 });
  const kept = async () => {
    const { oldest, newest } = await narrow.read(1, 0);
    return [oldest, newest];
  };
  await narrow.append(NOTE.entry);
  expect(await kept()).toEqual([1_001, 1_301]);
  await narrow.append(NOTE.entry);
  expect(await kept()).toEqual([1_283, 1_302]);
});
