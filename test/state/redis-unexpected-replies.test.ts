import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Outage, unlessOutage } from '../../src/common/errors/outage.ts';
import type { Admission } from '../../src/limits/admission.ts';
import { NO_SCOPES } from '../../src/limits/scopes.ts';
import { Batch } from '../../src/state/redis/batches.ts';
import { DATA_FORMAT } from '../../src/state/redis/data-mark.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { checkDone, readBan, readLevel, UnexpectedReply } from '../../src/state/redis/replies.ts';
import { CountersError } from '../../src/state/state.ts';
import { HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { allKeys, keyRecord, note } from '../support/records.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';

const TEN = limits([window(10, HOUR), window(5, MINUTE, 'sliding')]);

const scalar = fc.oneof(
  fc.integer({ min: -2, max: 5 }),
  fc.maxSafeNat(),
  fc.string(),
  fc.constant(null),
);
const responses = fc.oneof(
  scalar,
  fc.array(scalar),
  fc.array(fc.oneof(fc.integer({ min: -2, max: 5 }), fc.maxSafeNat())),
);

describe('any answer of Redis', () => {
  test('to a decision is refused as a whole, or says all about every request', () => {
    fc.assert(
      fc.property(responses, (response) => {
        const batch = new Batch();
        const admissions: Admission[] = [];
        const reject = (error: unknown) => expect(error).toBeInstanceOf(Outage);
        for (const subject of ['key:a', 'key:b']) {
          const resolve = (admission: Admission) => void admissions.push(admission);
          batch.add({ subject, limits: TEN, cost: 1, scopes: NO_SCOPES, resolve, reject });
        }
        try {
          batch.settle(batch.read(response), () => {});
        } catch (error) {
          expect(error).toBeInstanceOf(UnexpectedReply);
          expect(admissions).toEqual([]);
        }
        for (const { verdict, violated, readings } of admissions) {
          if (verdict === 'limited') expect(violated).not.toBeNull();
          for (const { used, resetAt } of readings)
            expect([used, resetAt].every(Number.isInteger)).toBe(true);
        }
      }),
    );
  });

  test.each<[string, (response: unknown) => unknown]>([
    ['the ban level of a subject', readLevel],
    ['the ban of a subject', (response) => readBan('key:a', response)],
    ['a change of counters', (response) => checkDone('grant', response, 'key:a')],
  ])('about %s is understood or refused', (_, read) => {
    fc.assert(
      fc.property(responses, (response) => {
        try {
          read(response);
        } catch (error) {
          if (!(error instanceof CountersError)) expect(error).toBeInstanceOf(UnexpectedReply);
        }
      }),
    );
  });
});

describe('a connection whose answers belong to other commands', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let gateway: SharedGateway;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await server.admin.flushall();
    proxy = await startProxy(server.port);
    gateway = await openShared({ url: proxy.url });
    // Other commands would get the extra answer.
    await allKeys(gateway.keys);
  });
  afterEach(async () => {
    await gateway.close();
    await proxy.stop();
  });

  /** From now on one answer too many stands before the next one that matches. */
  function shift(extra: string, before: RegExp): () => boolean {
    let isShifted = false;
    proxy.rewrite = (reply) => {
      if (isShifted || !before.test(reply)) return reply;
      isShifted = true;
      return extra + reply;
    };
    return () => isShifted;
  }

  test.each(['+OK\r\n', ':1\r\n', '$-1\r\n', '_\r\n', '*2\r\n:0\r\n:0\r\n', '*-1\r\n'])(
    'is ended, and decisions are those of an outage meanwhile: %j',
    async (extra) => {
      await gateway.state.admit('key:a', TEN, 1);
      const before = gateway.eventCount('state.connection');
      const isShifted = shift(extra, /^\*\d+\r\n:1\d{12}\r\n/);
      let last: Admission | null = null;
      await until('it is met', async () => {
        last = await gateway.state.admit('key:a', TEN, 1);
        return isShifted();
      });
      expect(last).toMatchObject({ verdict: 'admitted', by: 'local' });
      await until('Redis decides again', async () => {
        const { by, readings } = await gateway.state.admit('key:b', TEN, 1);
        return by === undefined && readings.length === 2;
      });
      await until(
        'a new connection is ready',
        () => gateway.eventCount('state.connection') >= before + 2,
      );
      expect(await gateway.state.look('key:a', TEN)).toMatchObject({ verdict: 'admitted' });
    },
  );

  test.each(['of another command', 'of another look-up'])(
    'makes no key unknown, and gives it no record of another one: %s',
    async (which) => {
      const [record, other] = [keyRecord(), keyRecord()];
      await gateway.keys.add(record, note());
      await gateway.keys.add(other, note());
      // A worker without a copy asks Redis for each key.
      const asking = await openShared({ url: proxy.url }, { workers: 2 });
      const epoch = await server.admin.hget(keyOf.records.head, 'epoch');
      const texts = [epoch!, JSON.stringify(other)].map((text) => `$${text.length}\r\n${text}\r\n`);
      const extra = which === 'of another command' ? ':1\r\n' : `*2\r\n${texts.join('')}`;
      const reply = new RegExp(`^\\*2\r\n\\$38\r\n${DATA_FORMAT} .*"hash":"hash-`, 's');
      const isShifted = shift(extra, reply);
      const outcomes: unknown[] = [];
      await until('it is found', async () => {
        const find = async () => await asking.keys.find(record.hash);
        outcomes.push(await unlessOutage(find, 'outage'));
        return isShifted() && outcomes.at(-1) !== 'outage';
      });
      expect(new Set(outcomes)).toEqual(new Set(['outage', record]));
      await asking.close();
    },
  );

  test('leaves the copy as it is', async () => {
    const record = keyRecord();
    await gateway.keys.add(record, note());
    const isShifted = shift(':1\r\n', /^\*7\r\n\$38\r\n/);
    await until('the reading of the log meets it', isShifted);
    expect(await gateway.keys.find(record.hash)).toEqual(record);
    await until('it is read again', async () =>
      unlessOutage(async () => (await allKeys(gateway.keys)).length === 1, false),
    );
  });
});

test('a record that somebody has overwritten is an outage for its key alone, with the name of it', async () => {
  const server = await startRedis();
  const gateway = await openShared({ url: server.url, failureThreshold: 1 });
  const { keys, hashes } = keyOf.records;
  try {
    // The first reading of all records would report it too.
    await allKeys(gateway.keys);
    await server.admin.hset(hashes, 'h', 'key_broken');
    await server.admin.hset(keys, 'key_broken', 'no record');
    for (let i = 0; i < 2; i++)
      await expect(gateway.keys.find('h')).rejects.toMatchObject({
        code: 'state_unavailable',
        cause: new CountersError(
          `the record in ${keys} of the id in the field h of ${hashes} is not valid: delete it`,
        ),
      });
    expect(await gateway.keys.find('other')).toBeNull();
    expect([gateway.eventCount('state.outage'), gateway.eventCount('state.warning')]).toEqual([
      0, 1,
    ]);
  } finally {
    await gateway.close();
    await server.stop();
  }
});
