import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { redis as sharedFormats } from '../../scripts/formats/redis.ts';
import { IDEMPOTENCY_LIFETIME } from '../../src/records/operators/audit-log.ts';
import { outboxInRedis } from '../../src/records/redis/outbox.ts';
import { usesInRedis } from '../../src/records/redis/records.ts';
import { addressWindowsIn } from '../../src/state/redis/address-windows.ts';
import { GATEWAY_TTL, keyOf, LOCK_TTL, PEER_MEMORY } from '../../src/state/redis/key-names.ts';
import { tryLock } from '../../src/state/redis/lock.ts';
import { joinGateways } from '../../src/state/redis/peers.ts';
import { usageInRedis } from '../../src/state/redis/usage.ts';
import { settle, takeNext } from '../../src/webhooks/cursors.ts';
import { HOUR, MINUTE } from '../support/limits.ts';
import { note } from '../support/records.ts';
import { openShared } from '../support/redis/gateway.ts';
import { redisForSuite } from '../support/redis/suite.ts';

const own = redisForSuite();
beforeEach(() => own.server.admin.flushall());

const ENDPOINT = 'a';
/** Milliseconds that commands take, and that clocks differ. */
const JITTER = 1_000;
const { records } = keyOf;
const { events, types, newest, once, marks } = keyOf.outbox;
/** Scores, and fields of hashes, that are times; `*`: all fields. */
const SCORES = [keyOf.gateways, keyOf.peers, keyOf.used, keyOf.bans];
const FIELDS: [key: string, field: string][] = [[once('x'), '*']];

/** To set the clock of Redis back by an hour is to add an hour to every time that it has. */
async function setClockBack(): Promise<void> {
  const { admin } = own.server;
  for (const key of await admin.keys('*')) {
    const remaining = await admin.pttl(key);
    if (remaining > 0) await admin.pexpire(key, remaining + HOUR);
  }
  for (const key of SCORES)
    for (const member of await admin.zrange(key, '0', '-1')) await admin.zincrby(key, HOUR, member);
  for (const [key, name] of FIELDS) {
    for (const [field, value] of Object.entries(await admin.hgetall(key)))
      if (name === '*' || name === field) await admin.hset(key, field, Number(value) + HOUR);
  }
  const mark = await admin.hget(marks, ENDPOINT);
  const later = (time: string) => `${Number(time) + HOUR}`;
  if (mark !== null) await admin.hset(marks, ENDPOINT, mark.replace(/\d{13}/g, later));
}

/** Milliseconds from now, by the clock of Redis. */
async function fromNow(time: string | number | null): Promise<number> {
  const [seconds, microseconds] = await own.server.admin.time();
  return Number(time) - Number(seconds) * 1_000 - Number(microseconds) / 1_000;
}
const lifetime = (key: string) => own.server.admin.pttl(key);
const score = async (key: string, member: string) =>
  fromNow(await own.server.admin.zscore(key, member));
const field = async (key: string, name: string) => fromNow(await own.server.admin.hget(key, name));

interface Waiting {
  /** Milliseconds that it may wait at most. */
  readonly span: number;
  /** Milliseconds that it still waits. */
  readonly left: () => Promise<number>;
  readonly begin: () => unknown;
  /** What gateways do anyway, or who waits for it. */
  readonly look: () => unknown;
}

const joined: ReturnType<typeof joinGateways>[] = [];
function announce(list: typeof keyOf.gateways | typeof keyOf.peers, id: string): Promise<void> {
  joined.push(joinGateways(own.redis, list, id));
  return joined.at(-1)!.announce();
}
afterEach(async () => {
  for (const gateway of joined.splice(0)) await gateway.close();
});

const outbox = () => outboxInRedis(own.redis);
const addEvent = (name = 'x') =>
  outbox().add({
    message: { id: `msg_${name}`, type: 'test', body: '{}' },
    endpoints: [ENDPOINT],
    once: { name, since: 0, until: Date.now() + 10 * MINUTE },
    most: 10,
    now: Date.now(),
  });
const take = () => takeNext(outbox(), { id: ENDPOINT, wants: () => true }, 30 * MINUTE, Date.now());
async function failEvent(): Promise<void> {
  await addEvent();
  const { event } = await take();
  const failure = { status: 500, error: 'no', retryAfter: MINUTE, isGone: false } as const;
  await settle(outbox(), ENDPOINT, event!, { delivered: false, ...failure }, Date.now());
}
async function pause(): Promise<number> {
  const mark = await own.server.admin.hget(marks, ENDPOINT);
  return fromNow(JSON.parse(mark!).pausedUntil);
}

async function remember(): Promise<void> {
  const gateway = await openShared({ url: own.server.url });
  await gateway.auditLog.append(note({}, 'call'));
  await gateway.close();
}
async function answered(): Promise<void> {
  const gateway = await openShared({ url: own.server.url });
  expect(await gateway.auditLog.resultOf('call', Date.now())).not.toBeNull();
  await gateway.close();
}

function failedKey(): Promise<unknown> {
  const open = addressWindowsIn(own.redis, { workers: 1, deadline: 5_000, isDown: () => false });
  return open({ name: 'failures', kind: 'fixed', limit: 5, span: MINUTE }).take('192.0.2.1');
}

/** Everything whose end somebody or something waits for. */
const WAITING: Readonly<Record<string, Waiting>> = {
  [keyOf.gateways]: {
    span: GATEWAY_TTL,
    left: async () => GATEWAY_TTL + (await score(keyOf.gateways, 'dead')),
    begin: () => announce(keyOf.gateways, 'dead'),
    look: () => announce(keyOf.gateways, 'running'),
  },
  [keyOf.peers]: {
    span: PEER_MEMORY,
    left: async () => PEER_MEMORY + (await score(keyOf.peers, 'dead')),
    begin: () => announce(keyOf.peers, 'dead'),
    look: () => announce(keyOf.peers, 'running'),
  },
  [keyOf.lock('*')]: {
    span: LOCK_TTL,
    left: () => lifetime(keyOf.lock('a')),
    begin: () => own.redis.set(keyOf.lock('a'), '', 'PX', LOCK_TTL),
    look: () => tryLock(own.redis, 'a'),
  },
  [keyOf.usage.turn]: {
    span: 3 * LOCK_TTL,
    left: () => lifetime(keyOf.usage.turn),
    begin: () => own.redis.set(keyOf.usage.turn, 'dead', 'PX', 3 * LOCK_TTL),
    look: () => usageInRedis(own.redis).inTurn(async () => {}),
  },
  [keyOf.windows('*')]: {
    span: MINUTE,
    left: () => lifetime(`${keyOf.windows('failures')}:192.0.2.1`),
    begin: failedKey,
    look: failedKey,
  },
  [records.result('*')]: {
    span: IDEMPOTENCY_LIFETIME,
    left: () => lifetime(records.result('call')),
    begin: remember,
    look: answered,
  },
  [keyOf.used]: {
    span: MINUTE,
    left: () => score(keyOf.used, 'key_1'),
    begin: () => usesInRedis(own.redis).save(new Map([['key_1', Date.now()]]), Date.now()),
    look: () => usesInRedis(own.redis).save(new Map([['key_2', Date.now()]]), Date.now()),
  },
  [once('*')]: {
    span: 10 * MINUTE,
    left: () => field(once('x'), 'until'),
    begin: () => addEvent(),
    look: () => addEvent(),
  },
  [marks]: {
    span: MINUTE,
    left: pause,
    begin: failEvent,
    look: take,
  },
};

/** Why nothing waits for the times of a key. */
const NOT_WAITING: Readonly<Record<string, string>> = {
  [keyOf.counters('*')]: 'windows, strikes and bans have rules of their own: lua/rules',
  [keyOf.bans]: 'every entry is checked against the counters of its subject',
  [records.bans]: 'entries of a clock that was ahead go with the next one: ban-log-contract.ts',
  [keyOf.probe('*')]: 'it is only written',
  [events]: 'the age at which an event is given up only ends its retries later',
  [records.keys]: 'dates that an operator has set',
  [records.audit]: 'what happened when, without an age at which it goes',
  [records.tokens]: 'when a token was created, for operators',
  [keyOf.usage.parts]: 'minutes of the clocks of gateways, which reports name',
  [keyOf.usage.taken]: 'its lifetime ends only the refusal of parts of a process that was silent',
  [keyOf.usage.sum('*')]: 'minutes of the clocks of gateways, which reports name',
};
const WITHOUT_TIME = [
  records.head,
  records.hashes,
  ...keyOf.unreleased,
  keyOf.unfinishedImport,
  keyOf.bansWhole,
  types,
  newest,
  keyOf.usage.sizes,
];

test('every key in Redis has a decision about its times', () => {
  const keys = [...sharedFormats()].flatMap((text) => /^redis key (.*)$/.exec(text)?.[1] ?? []);
  expect([...Object.keys(WAITING), ...Object.keys(NOT_WAITING), ...WITHOUT_TIME].sort()).toEqual(
    keys.sort(),
  );
});

describe('after the clock was set back by an hour, nothing lasts longer than it was to last', () => {
  test.each(Object.entries(WAITING))(
    '%s',
    async (_name, { span, left: remaining, begin, look }) => {
      await begin();
      expect(await remaining()).toBeLessThanOrEqual(span + JITTER);
      await setClockBack();
      expect(await remaining()).toBeGreaterThan(span + JITTER);
      await look();
      expect(await remaining()).toBeLessThanOrEqual(span + JITTER);
    },
  );
});
