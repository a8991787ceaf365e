import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Plans } from '../../src/limits/plans.ts';
import { createKeyring, type Keyring } from '../../src/records/keys/keyring.ts';
import { createKey, revokeKey } from '../../src/records/keys/manage.ts';
import { hashSecret } from '../../src/records/keys/secret.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { DAY, ESCALATION, HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { editOf } from '../support/records.ts';
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
