import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Plans } from '../../src/limits/plans.ts';
import { createKeyring, type Keyring } from '../../src/records/keys/keyring.ts';
import { createKey, revokeKey } from '../../src/records/keys/manage.ts';
import { hashSecret } from '../../src/records/keys/secret.ts';
import { keysInRedis } from '../../src/records/redis/keystore.ts';
import type { Connection } from '../../src/state/redis/client.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { shardsOf } from '../../src/state/redis/shards.ts';
import { createCircuitBreakers } from '../../src/state/shared/circuit-breakers.ts';
import { DAY, ESCALATION, HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { editOf, keyRecord, note } from '../support/records.ts';
import { openShared, type SharedGateway, untilIndexed } from '../support/redis/gateway.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { until } from '../support/until.ts';

const PLANS: Plans = {
  plans: new Map([['free', { name: 'free', count: 'key', windows: [window(60, MINUTE)] }]]),
  escalation: ESCALATION,
  accounts: new Map(),
};

let server: RedisServer;
let proxy: TcpProxy;
let one: SharedGateway;
let two: SharedGateway;
let keyring: Keyring;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.admin.flushall();
  proxy = await startProxy(server.port);
  one = await openShared({ url: server.url });
  await untilIndexed(server);
  two = await openShared({ url: proxy.url });
  keyring = createKeyring(two.keys, PLANS, { recheckAfter: two.recheckKeysAfter });
});
afterEach(async () => {
  keyring.close();
  await Promise.all([one.close(), two.close()]);
  await proxy.stop();
});

const create = () => createKey(editOf(one.keys), PLANS, { account: 'acme', plan: 'free' });
const found = async (secret: string) => await keyring.find(hashSecret(secret));

test('a key made by one gateway is known to the other', async () => {
  const { secret, record } = await create();
  expect(await found(secret)).toMatchObject({ keyId: record.id, withdrawn: null });
});

test('a revocation reaches every gateway', async () => {
  const { secret, record } = await create();
  await found(secret);
  await revokeKey(editOf(one.keys), record.id);
  await until(
    'the other gateway knows',
    async () => (await found(secret))?.withdrawn === 'revoked',
  );
});

test('a revocation published while the listener was cut off is noticed after it reconnects', async () => {
  const { secret, record } = await create();
  await found(secret);
  proxy.shut();
  await revokeKey(editOf(one.keys), record.id);
  proxy.admit();
  await until(
    'the other gateway knows',
    async () => (await found(secret).catch(() => null))?.withdrawn === 'revoked',
  );
});

test('the end of an outage announces that any key may have changed, also without a message', async () => {
  const breakers = createCircuitBreakers(shardsOf(server.admin), DEFAULTS, () => {});
  const bus = { listen: () => () => {}, isLive: true };
  const options = { bus, breakers, deadline: 50, isFit: () => true, lookUp: async () => null };
  const { watch } = keysInRedis(server.admin, { make: async () => {} } as never, options);
  const changes: (string | undefined)[] = [];
  const stop = watch((hash) => void changes.push(hash));
  breakers.open('cut off');
  await until('it is announced', () => changes.length > 0);
  expect(changes).toEqual([undefined]);
  stop();
  breakers.close();
});

test('a key that was unknown is known as soon as it is made', async () => {
  const { record, secret } = await create();
  await server.admin.del(keyOf.apiKey(record.hash));
  expect(await found(secret)).toBeNull();
  await one.keys.add({ ...record, id: 'key_again' }, note());
  await until('it is known', async () => (await found(secret)) !== null);
});

// The keyring asks once per key: test/records/keys/keyring.test.ts.
test('a look-up of an unknown key is one command', async () => {
  const calls = async () => {
    const stats = await server.admin.info('commandstats');
    return [...stats.matchAll(/cmdstat_m?get:calls=(\d+)/g)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };
  // It asks too.
  await keyring.whenReady;
  const before = await calls();
  expect(await two.keys.find('unknown')).toBeNull();
  expect((await calls()) - before).toBe(1);
});

test('keys and the audit log do not expire, and everything else does', async () => {
  const { record } = await create();
  const given = limits([window(1, HOUR, 'sliding'), window(2, DAY)]);
  await one.state.admit('key:1', given, 1);
  await one.state.admit('key:2', given, 2);
  await one.state.ban('key:3', given, MINUTE);
  const lasting: string[] = [];
  for (const name of await server.admin.keys('*'))
    if ((await server.admin.pttl(name)) === -1) lasting.push(name);
  const { apiKeys, audit, auditDropped, bansWhole, dataMark, accounts, plans, keyIndex } = keyOf;
  const ofKey = [keyOf.apiKey(record.hash), keyOf.apiKeyId(record.id)];
  const lists = [
    apiKeys,
    accounts,
    plans,
    keyIndex,
    keyOf.keysOfAccount('acme'),
    keyOf.keysOfPlan('free'),
  ];
  expect(lasting.sort()).toEqual(
    [...ofKey, ...lists, audit, auditDropped, bansWhole, dataMark].sort(),
  );
});

describe('what one gateway does to a subject, the other answers', () => {
  const ONE = limits([window(1, HOUR)]);
  const verdict = async (gateway: SharedGateway) =>
    (await gateway.state.admit('key:s', ONE, 1)).verdict;

  test('a refusal is answered from memory until a reset', async () => {
    await verdict(two);
    await verdict(two);
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await server.admin.info('commandstats'))?.[1] ?? 0);
    const before = await calls();
    const answers = await Promise.all(Array.from({ length: 100 }, () => verdict(two)));
    expect(new Set(answers)).toEqual(new Set(['limited']));
    expect((await calls()) - before).toBe(0);
    await one.state.reset('key:s');
    await until('the other admits again', async () => (await verdict(two)) === 'admitted');
  });

  test('a ban, and its lifting', async () => {
    await one.state.ban('key:s', ONE, HOUR);
    expect(await verdict(two)).toBe('banned');
    await one.state.liftBan('key:s');
    await until('the other has heard', async () => (await verdict(two)) !== 'banned');
  });

  test('who keeps sending after refusals is banned, although no request reaches Redis', async () => {
    const grace = limits([window(1, HOUR)], { ...ESCALATION, strikes: 3, grace: 0 });
    const admit = async (gateway: SharedGateway) => await gateway.state.admit('key:t', grace, 1);
    await admit(two);
    let begun = 0;
    await until('the ban has come', async () => {
      const answer = await admit(two);
      if (answer.banBegins) begun++;
      return answer.verdict === 'banned';
    });
    expect((await admit(two)).verdict).toBe('banned');
    expect((await admit(one)).verdict).toBe('banned');
    expect(begun).toBe(1);
  });
});

test.each([0, 1, 499, 500, 501])(
  'keys read in parts come once each, though %d are added while they are read',
  async (more) => {
    const all = Array.from({ length: 1_200 }, (_, i) => keyRecord({ createdAt: 2_000 + i }));
    for (const from of [0, 400, 800]) await one.keys.addMany(all.slice(from, from + 400), note());
    let added = false;
    const redis = new Proxy(server.admin as Connection, {
      get(target, name) {
        const found = Reflect.get(target, name) as unknown;
        if (typeof found !== 'function') return found;
        return async (...given: unknown[]) => {
          const answer: unknown = await found.apply(target, given);
          if (name === 'evalsha' && !added) {
            added = true;
            await one.keys.addMany(
              Array.from({ length: more }, () => keyRecord({ createdAt: 1_000 })),
              note(),
            );
          }
          return answer;
        };
      },
    });
    const { read } = keysInRedis(
      redis,
      { make: async () => {} } as never,
      { deadline: 10_000 } as never,
    );
    const ids = (await Array.fromAsync(read())).flat().map(({ id }) => id);
    expect(added).toBe(true);
    expect(ids).toEqual(all.map(({ id }) => id));
  },
);
