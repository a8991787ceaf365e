import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/errors/outage.ts';
import { type Once, OnceTaken, type Trail } from '../../src/operators/audit-log.ts';
import { Trails } from '../../src/state/redis/audit-log.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => server.admin.flushall());

const once: Once = { name: 'call', question: 'what', sealed: 'answer' };
const deed = { at: 1, actor: 'anna', action: 'test', target: 't', before: null, after: null, requestId: 'r' };
const trail: Trail = { deed, once };

describe('a change that must not be made twice', () => {
  test('and died half-way is finished when it is asked for again', async () => {
    const made: string[] = [];
    let away = true;
    const trails = new Trails<string>(server.admin, async (change) => {
      if (away) throw new Outage('state_unavailable');
      made.push(change);
    });
    await expect(trails.make(trail, 'change')).rejects.toBeInstanceOf(Outage);
    expect(made).toEqual([]);
    away = false;
    expect(await trails.answered('call')).toEqual(once);
    expect(made).toEqual(['change']);
    expect(await trails.answered('call')).toEqual(once);
    expect(made).toEqual(['change']);
  });

  test('is made by one of those who ask at once', async () => {
    const made: string[] = [];
    const trails = new Trails<string>(server.admin, async (change) => void made.push(change));
    const results = await Promise.allSettled([1, 2, 3].map(() => trails.make(trail, 'change')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(OnceTaken);
    expect(made).toEqual(['change']);
    expect(await server.admin.pttl(keyOf.once('call'))).toBeGreaterThan(0);
  });

  test('and was refused may be asked for again', async () => {
    const trails = new Trails<string>(server.admin, async () => {
      throw new Error('refused');
    });
    await expect(trails.make(trail, 'change')).rejects.toThrow('refused');
    expect(await trails.answered('call')).toBeNull();
  });
});
