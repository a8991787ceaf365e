import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import type { Plans } from '../../src/limits/plans.ts';
import { createKeyring, type Keyring } from '../../src/records/keys/keyring.ts';
import { createKey, revokeKey } from '../../src/records/keys/manage.ts';
import { hashSecret } from '../../src/records/keys/secret.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { DAY, ESCALATION, HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { editOf, keyRecord, note } from '../support/records.ts';
import { commandsDuring } from '../support/redis/commands.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
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
  two = await openShared({ url: proxy.url });
  keyring = createKeyring(two.keys, PLANS);
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

test('a key that was unknown is known as soon as it is made', async () => {
  const record = keyRecord();
  expect(await keyring.find(record.hash)).toBeNull();
  await one.keys.add(record, note());
  await until('it is known', async () => (await keyring.find(record.hash)) !== null);
});

// The keyring asks once per key: test/records/keys/keyring.test.ts.
test('a look-up sends nothing if the key is known, and else one command', async () => {
  const { record } = await create();
  await two.keys.isEmpty();
  const commands = await commandsDuring(server, async () => {
    for (const hash of [record.hash, 'unknown']) await two.keys.find(hash);
  });
  const about = (hash: string) => commands.filter((command) => command.includes(hash)).length;
  expect([about(record.hash), about('unknown')]).toEqual([0, 1]);
});

test('a record that is not valid is an outage of its key alone, with a warning', async () => {
  await server.admin.hset(keyOf.records.hashes, 'bad', 'key_bad');
  await server.admin.hset(keyOf.records.keys, 'key_bad', 'no JSON');
  for (let i = 0; i < 5; i++)
    await expect((async () => two.keys.find('bad'))()).rejects.toBeInstanceOf(Outage);
  expect(two.events).toContainEqual({
    type: 'state.warning',
    warning: expect.stringContaining('the field bad of'),
  });
  expect(two.eventCount('state.outage')).toBe(0);
  expect(await two.keys.find('unknown')).toBeNull();
});

test('records do not expire, and everything else does', async () => {
  await create();
  const given = limits([window(1, HOUR, 'sliding'), window(2, DAY)]);
  await one.state.admit('key:1', given, 1);
  await one.state.admit('key:2', given, 2);
  await one.state.ban('key:3', given, MINUTE);
  const lasting: string[] = [];
  for (const name of await server.admin.keys('*'))
    if ((await server.admin.pttl(name)) === -1) lasting.push(name);
  const { head, keys, hashes, audit } = keyOf.records;
  expect(lasting.sort()).toEqual([head, keys, hashes, audit, keyOf.bansWhole].sort());
});

describe('what one gateway does to a subject, the other answers', () => {
  const ONE = limits([window(1, HOUR)]);
  const verdict = async (gateway: SharedGateway) =>
    (await gateway.state.admit('key:s', ONE, 1)).verdict;

  test('a refusal is answered from memory until a reset', async () => {
    await verdict(two);
    await verdict(two);
    const commands = await commandsDuring(server, async () => {
      const responses = await Promise.all(Array.from({ length: 100 }, () => verdict(two)));
      expect(new Set(responses)).toEqual(new Set(['limited']));
    });
    expect(commands.filter((command) => command.includes('key:s'))).toEqual([]);
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
      const response = await admit(two);
      if (response.banBegins) begun++;
      return response.verdict === 'banned';
    });
    expect((await admit(two)).verdict).toBe('banned');
    expect((await admit(one)).verdict).toBe('banned');
    expect(begun).toBe(1);
  });
});
