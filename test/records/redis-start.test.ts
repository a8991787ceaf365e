import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { warningsAbout } from '../../src/records/redis/command-checks.ts';
import { RedisError } from '../../src/state/redis/error.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { freePort } from '../support/free-port.ts';
import { DAY, HOUR, limits, MINUTE, window } from '../support/limits.ts';
import { allKeys, keyRecord, note } from '../support/records.ts';
import { commandsDuring } from '../support/redis/commands.ts';
import { openShared, type SharedGateway } from '../support/redis/gateway.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { recommendedUser } from '../support/redis/user.ts';
import { until } from '../support/until.ts';

const PASSWORD = `p${Math.random()}`;
let server: RedisServer;
let proxy: TcpProxy;
let gateway: SharedGateway | null = null;

beforeAll(async () => {
  server = await startRedis({ password: PASSWORD });
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await startProxy(server.port);
});
afterEach(async () => {
  await gateway?.close();
  gateway = null;
  await proxy.stop();
  await server.admin.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
});

const throughProxy = () => {
  const url = new URL(proxy.url);
  url.password = PASSWORD;
  return url.href;
};

async function refusal(settings: Parameters<typeof openShared>[0]): Promise<string> {
  const error = await openShared(settings).then(
    (opened) => {
      gateway = opened;
      return null;
    },
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(RedisError);
  const { message } = error as RedisError;
  expect(message).not.toContain(PASSWORD);
  expect(message).not.toContain('\n');
  return message;
}

test.each<[what: string, url: (at: string) => string, message: (at: string) => string]>([
  [
    'a wrong password',
    (at) => `redis://:wrong@${at}`,
    (at) => `Redis at ${at} refuses the user or password: check redis.url`,
  ],
  [
    'a missing password',
    (at) => `redis://${at}`,
    (at) => `Redis at ${at} wants a password: put it into redis.url`,
  ],
  [
    'a database that Redis does not have',
    (at) => `redis://:${PASSWORD}@${at}/99`,
    (at) => `Redis at ${at} has no database 99: correct redis.url`,
  ],
])('%s is one clear sentence', async (_what, url, message) => {
  const at = `127.0.0.1:${server.port}`;
  expect(await refusal({ url: url(at) })).toBe(message(at));
});

test('a Redis that is not there is one clear sentence', async () => {
  const at = `127.0.0.1:${await freePort()}`;
  const message = `cannot use Redis at ${at}: the connection is refused`;
  expect(await refusal({ url: `redis://${at}` })).toContain(message);
});

test('a single Redis is not taken for a Cluster', async () => {
  const message = 'is not a Cluster: set redis.topology';
  expect(await refusal({ url: server.url, topology: 'cluster' })).toContain(message);
});

test('a Redis that is too old is refused by its version', async () => {
  const version = /redis_version:(\S+)/.exec(await server.admin.info())![1]!;
  const old = '5.0.9'.padEnd(version.length, '9').slice(0, version.length);
  proxy.rewrite = (reply) => reply.replace(`redis_version:${version}`, `redis_version:${old}`);
  expect(await refusal({ url: throughProxy() })).toBe(
    `Redis ${old} is too old: the gateway needs 6.2 or later`,
  );
  await until('nothing is open', () => proxy.connections === 0);
});

/** The URL of a user with all rights but these. */
async function limited(...without: readonly string[]): Promise<string> {
  const rights = ['reset', 'on', `>${PASSWORD}`, '~*', '&*', '+@all', ...without];
  await server.admin.acl('SETUSER', 'limited', ...rights);
  return `redis://limited:${PASSWORD}@127.0.0.1:${server.port}`;
}

test.each([
  ['run scripts', ['-eval', '-evalsha']],
  ['publish', ['-publish']],
  ['read the log', ['-xrange']],
  ['read all records', ['-hscan']],
  ['listen', ['-subscribe']],
])('a user who may not %s gets a message about it, and no client is left', async (_, without) => {
  expect(await refusal({ url: await limited(...without) })).toMatch(
    /^the Redis user lacks a permission: .*(NOPERM|ACL|permission|can't run)/,
  );
  const remaining = async () =>
    /name=storegate/.test((await server.admin.client('LIST')) as string);
  await until('no client is left', async () => !(await remaining()));
});

test('a user who may not select the database does not use another one', async () => {
  expect(await refusal({ url: `${await limited('-select')}/3` })).toContain(
    'the Redis user lacks a right',
  );
});

test('a second connection that Redis does not take is not tried for ever', async () => {
  await server.admin.config('SET', 'maxclients', '2');
  try {
    expect(await refusal({ url: throughProxy() })).toMatch(
      /^Redis does not do what the gateway needs: /,
    );
    await until('nothing is open', () => proxy.connections === 0);
  } finally {
    await server.admin.config('SET', 'maxclients', '10000');
  }
});

test('a user with the rights that the manual lists is enough', async () => {
  gateway = await openShared({ url: await recommendedUser(server) });
  const given = limits([window(2, MINUTE)], null);
  expect((await gateway.state.admit('key:1', given, 1)).verdict).toBe('admitted');
  await gateway.state.liftBan('key:1');
  expect(await gateway.state.bans()).toEqual([]);
  expect(await allKeys(gateway.keys)).toEqual([]);
});

test('a change whose entry Redis refuses to write changes nothing', async () => {
  gateway = await openShared({ url: await recommendedUser(server, '-xadd') });
  await expect(gateway.keys.add(keyRecord(), note())).rejects.toThrow(Outage);
  expect(await allKeys(gateway.keys)).toEqual([]);
  expect(await server.admin.exists(keyOf.records.keys, keyOf.records.hashes)).toBe(0);
});

test('data of others in the place of the log is warned about', async () => {
  const shared = await openShared({ url: server.url });
  gateway = shared;
  await server.admin.set(keyOf.records.audit, 'x');
  try {
    await until('it is reported', () => shared.eventCount('state.warning') > 0);
    expect(shared.events.at(-1)).toMatchObject({ warning: expect.stringContaining('WRONGTYPE') });
  } finally {
    await server.admin.del(keyOf.records.audit);
  }
});

test('a start makes no other gateway read its keys again', async () => {
  gateway = await openShared({ url: server.url });
  await gateway.keys.isEmpty();
  let changes = 0;
  const stop = gateway.keys.watch(() => void changes++);
  const other = await openShared({ url: server.url });
  await other.close();
  await gateway.keys.isEmpty();
  expect(changes).toBe(0);
  await gateway.keys.add(keyRecord(), note());
  expect(changes).toBe(1);
  stop();
});

// The keyring asks once per key: test/records/keys/keyring.test.ts.
test('a look-up sends nothing if the key is known, and else one command', async () => {
  const shared = await openShared({ url: server.url });
  gateway = shared;
  const { hash } = keyRecord();
  await shared.keys.add(keyRecord({ hash }), note());
  // Redis knows the script afterwards.
  await shared.keys.find('another');
  const commands = await commandsDuring(server, async () => {
    for (const one of [hash, 'unknown']) await shared.keys.find(one);
  });
  const about = (hash: string) => commands.filter((command) => command.includes(hash)).length;
  expect([about(hash), about('unknown')]).toEqual([0, 1]);
});

test('records do not expire, and everything else does', async () => {
  await server.admin.flushall();
  gateway = await openShared({ url: server.url });
  await gateway.keys.add(keyRecord(), note());
  const given = limits([window(1, HOUR, 'sliding'), window(2, DAY)]);
  await gateway.state.admit('key:1', given, 1);
  await gateway.state.admit('key:2', given, 2);
  await gateway.state.ban('key:3', given, MINUTE);
  const lasting: string[] = [];
  for (const name of await server.admin.keys('*'))
    if ((await server.admin.pttl(name)) === -1) lasting.push(name);
  const { head, keys, hashes, audit } = keyOf.records;
  expect(lasting.sort()).toEqual([head, keys, hashes, audit, keyOf.bansWhole].sort());
});

test('an eviction policy that may drop bans is warned about by name', async () => {
  await server.admin.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
  gateway = await openShared({ url: server.url });
  expect(gateway.events.filter((event) => event.type === 'state.warning')).toEqual([
    {
      type: 'state.warning',
      warning: expect.stringContaining('set maxmemory-policy to noeviction, not allkeys-lru'),
    },
  ]);
});

test('an eviction policy that is set while the gateway runs is warned about once each time', async () => {
  const shared = await openShared({ url: server.url }, { lookAgain: 5 });
  gateway = shared;
  const infos = async () =>
    Number(/cmdstat_info:calls=(\d+)/.exec(await server.admin.info('commandstats'))?.[1]);
  // The admin's own call is one of them.
  const looked = async () => {
    const before = await infos();
    let requested = 1;
    await until('it has looked twice', async () => (await infos()) - before - requested++ >= 2);
  };
  for (const times of [1, 2]) {
    await server.admin.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
    await until('it is reported', () => shared.eventCount('state.warning') === times);
    await looked();
    expect(shared.eventCount('state.warning')).toBe(times);
    await server.admin.config('SET', 'maxmemory-policy', 'noeviction');
    await looked();
  }
});

test.each([
  ['ahead of', -6],
  ['behind', 6],
])('a clock that is %s that of Redis is warned about', async (how, seconds) => {
  // The reply to TIME.
  proxy.rewrite = (reply) =>
    reply.replace(/^\*2\r\n\$10\r\n(\d{10})\r\n(?=\$\d\r\n\d+\r\n$)/, (whole, time) =>
      whole.replace(time, String(Number(time) + seconds)),
    );
  gateway = await openShared({ url: throughProxy() });
  expect(gateway.events.filter((event) => event.type === 'state.warning')).toEqual([
    { type: 'state.warning', warning: expect.stringContaining(`5 s ${how} that of Redis`) },
  ]);
});

test('a Redis that responds too late for most requests is warned about', async () => {
  proxy.replies = { delay: 60 };
  const settings = { ...DEFAULTS, url: throughProxy(), deadline: 50 };
  expect(await warningsAbout(settings)).toEqual([
    expect.stringMatching(/^Redis responds in \d+ ms, and requests wait for it 50 ms/),
  ]);
  expect(await warningsAbout({ ...settings, deadline: 5_000 })).toEqual([]);
});
