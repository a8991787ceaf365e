import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { type Connection, connect, disconnect } from '../../src/state/redis/client.ts';
import { createRedisState } from '../../src/state/redis/counters.ts';
import { CHANNEL, keyOf } from '../../src/state/redis/key-names.ts';
import { CountersError } from '../../src/state/state.ts';
import { HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { until } from '../support/until.ts';

const TEN = limits([window(10, HOUR), window(5, MINUTE, 'sliding')]);
const SUBJECT = 'key:foreign';

let server: RedisServer;
let redis: Connection;
let state: ReturnType<typeof createRedisState>;

beforeAll(async () => {
  server = await startRedis();
  redis = await connect({ ...DEFAULTS, url: server.url });
  state = createRedisState(redis, { deadline: 2_000 });
});
afterAll(async () => {
  disconnect(redis);
  await server.stop();
});
beforeEach(() => server.admin.flushall());

const RECONCILIATION = {
  gateway: 'g',
  number: 1,
  ban: null,
  windows: TEN.windows.map(() => ({ units: 1, openedAt: 0 })),
};
const STEPS: readonly (readonly [
  name: string,
  step: (subject: string, given: Limits) => Promise<unknown>,
])[] = [
  ['admit', (subject, given) => state.admit(subject, given, 1)],
  ['look', (subject, given) => state.look(subject, given)],
  ['strike', (subject, given) => state.strike(subject, given)],
  ['charge', (subject, given) => state.charge(subject, given, RECONCILIATION)],
  ['liftBan', (subject) => state.liftBan(subject)],
  ['reset', (subject) => state.reset(subject)],
  ['grant', (subject, given) => state.grant(subject, given, 1, null)],
  ['ban', (subject, given) => state.ban(subject, given, HOUR)],
];

describe.each(STEPS)('%s', (_name, step) => {
  test('if the subject’s key holds other data, names that key, changes nothing and notifies no gateway', async () => {
    await server.admin.set(keyOf.counters(SUBJECT), 'not a hash');
    const messages: string[] = [];
    const listener = server.admin.duplicate();
    listener.on('message', (_channel, text) => messages.push(text));
    await listener.subscribe(CHANNEL);

    const error = await step(SUBJECT, TEN).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Outage);
    const { code, cause } = error as Outage;
    expect(code).toBe('state_unavailable');
    expect(cause).toBeInstanceOf(CountersError);
    expect((cause as CountersError).message).toBe(
      'the Redis key sg:s:{key:foreign} holds other data than counters: rename or delete it',
    );
    expect(await server.admin.get(keyOf.counters(SUBJECT))).toBe('not a hash');
    expect(await server.admin.keys('*')).toEqual([keyOf.counters(SUBJECT)]);

    // Redis delivers in order: messages of the step arrive before this one.
    await server.admin.publish(CHANNEL, 'end');
    await until('the last message is here', () => messages.includes('end'));
    expect(messages).toEqual(['end']);
    listener.disconnect();
  });

  test('works for a subject that has counters, and for one without', async () => {
    await state.admit('key:known', TEN, 1);
    await step('key:known', TEN);
    await step('key:unknown', TEN);
  });
});

test('requests that share a call with one of a foreign key are decided as ever', async () => {
  await server.admin.set(keyOf.counters(SUBJECT), 'not a hash');
  const responses = await Promise.allSettled(
    ['key:1', SUBJECT, 'key:2'].map((subject) => state.admit(subject, TEN, 1)),
  );
  expect(responses.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a walk through all bans skips other data', async () => {
  await server.admin.set(keyOf.counters(SUBJECT), 'not a hash');
  await state.ban('key:1', TEN, HOUR);
  expect((await state.bans()).map(({ subject }) => subject)).toEqual(['key:1']);
});
