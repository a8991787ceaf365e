import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { keySubject } from '../../src/records/keys/subjects.ts';
import { RECORDS_SLOT } from '../../src/state/redis/key-names.ts';
import { slotOf } from '../../src/state/redis/shards.ts';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { send } from '../support/client.ts';
import { TestGateway } from '../support/gateway.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import {
  type ClusterSet,
  type SentinelSet,
  startCluster,
  startSentinelSet,
  untilReplicated,
} from '../support/redis/topologies.ts';
import { until } from '../support/until.ts';

const POLICIES = ['local', 'deny', 'allow'] as const;
type Policy = (typeof POLICIES)[number];

const LIMIT = 1_000;
/** Of an address, for keys that are not valid. */
const GUESSES = 1_000_000;
const PLANS = `plans: { free: { windows: [{ limit: ${LIMIT}, per: hour }] } }`;

/** What is seen from outside: statuses, and `storegate_state_mode`. */
interface Seen {
  readonly valid: number;
  readonly unknown: number;
  readonly limited: number;
  readonly banned: number;
  /** `GET /usage` of the valid key. */
  readonly usage: number;
  /** An operator creates a key. */
  readonly change: number;
  readonly ready: number;
  readonly mode: string;
}

const NORMAL: Seen = {
  valid: 200,
  unknown: 401,
  limited: 429,
  banned: 403,
  usage: 200,
  change: 201,
  ready: 200,
  mode: 'normal',
};
const DOWN: Readonly<Record<Policy, Seen>> = {
  local: { ...NORMAL, unknown: 503, usage: 503, change: 503, mode: 'local' },
  deny: {
    valid: 503,
    unknown: 503,
    limited: 503,
    banned: 503,
    usage: 503,
    change: 503,
    ready: 503,
    mode: 'deny',
  },
  allow: {
    valid: 200,
    unknown: 503,
    limited: 200,
    banned: 200,
    usage: 503,
    change: 503,
    ready: 200,
    mode: 'allow',
  },
};
/** Redis serves, but has lost its counters and bans, and may have lost keys. */
const LOST: Seen = {
  ...NORMAL,
  limited: 200,
  banned: 200,
  usage: 503,
  unknown: 503,
  change: 503,
};

/** Late responses, or none on a connection. */
const HANGS = /500 ms|silent/;
const CUT = /not connected to Redis/;

interface Fault {
  readonly name: string;
  readonly begin: () => unknown;
  readonly end: () => unknown;
  /** In the line `state.outage`; absent: Redis serves, and no outage is reported. */
  readonly reason?: RegExp;
  /** In the line `state.warning`. */
  readonly warning?: RegExp;
  /** In place of `DOWN`, or of `NORMAL` without an outage. */
  readonly during?: Partial<Seen>;
  /** In place of `NORMAL`. */
  readonly after?: Partial<Seen>;
  /** Redis may count so many requests twice, or not at all. */
  readonly doubt?: number;
}

/** A gateway with three clients, for one policy. */
interface Place {
  readonly policy: Policy;
  readonly gateway: TestGateway;
  readonly admin: AdminCall;
  clients: Readonly<Record<'valid' | 'limited' | 'banned', string>>;
  /** Requests of the valid client that were admitted, and are to be counted in Redis. */
  charged: number;
}

async function openPlace(policy: Policy, redis: string, url: string): Promise<Place> {
  const gateway = await TestGateway.start({
    plans: PLANS,
    settings: `http: { authFailureLimit: { failures: ${GUESSES}, window: 1m } }
redis:
  ${redis}
  onOutage: ${policy}
  deadline: 500ms
  shareRemaining: false
  refusalCacheTtl: 1ms
  readyDuringOutage: ${policy !== 'deny'}`,
    env: { REDIS_URL: url },
  });
  const admin = adminOf(gateway.adminUrl);
  return { policy, gateway, admin, clients: null as never, charged: 0 };
}

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  403: 'key_banned',
  429: 'rate_limit_exceeded',
  503: 'state_unavailable',
};

/** Every refusal says why and when to come again, and has the headers of limits. */
async function request({ gateway }: Place, key: string, path = '/categories') {
  const { status, headers, body } = await gateway.client.get(path).set('X-API-Key', key);
  const field = (name: string) => headers[`x-ratelimit-${name}`];
  if (status !== 200) expect({ status, code: body.code }).toEqual({ status, code: CODES[status] });
  expect('retry-after' in headers).toBe([403, 429, 503].includes(status));
  expect(field('reset')).toMatch(/^\d{10}$/);
  return { status, limit: Number(field('limit')), remaining: Number(field('remaining')) };
}

const status = async (place: Place, key: string, path?: string) =>
  (await request(place, key, path)).status;

async function askValid(place: Place) {
  const { status, limit, remaining } = await request(place, place.clients.valid);
  if (status === 200) place.charged++;
  // Without an admission the headers are those of its address.
  expect(limit).toBe(status === 200 ? LIMIT : GUESSES);
  return { status, remaining };
}

async function createKey({ admin }: Place, limits: object = {}) {
  const { status, body } = await admin('POST', '/keys', {
    account: 'acme',
    plan: 'free',
    ...limits,
  });
  expect(status).toBe(201);
  return body as { readonly id: string; readonly key: string };
}

/** `isFit`: whether a key may be used. */
async function prepare(place: Place, isFit: (id: string) => boolean) {
  const { admin, gateway } = place;
  await until('no fault is left', async () => (await modeOf(gateway)) === 'normal');
  async function create(limits: object = {}) {
    for (;;) {
      const created = await createKey(place, limits);
      if (isFit(created.id)) return created;
    }
  }
  const [valid, limited, banned] = [
    await create(),
    await create({ limits: '1/hour' }),
    await create(),
  ];
  place.clients = { valid: valid.key, limited: limited.key, banned: banned.key };
  place.charged = 0;
  await admin('PUT', `/bans/${banned.id}`, { duration: '1h', reason: 'test' });
  expect(await status(place, limited.key)).toBe(200);
  expect(await askValid(place)).toEqual({ status: 200, remaining: LIMIT - 1 });
  expect(await seenAt(place)).toEqual(NORMAL);
}

/** Of a metric whose value is a label. */
async function labelOf({ adminUrl }: TestGateway, metric: string): Promise<string> {
  const { text: metrics } = await send(`${adminUrl}/metrics`);
  return new RegExp(`^${metric}\\{\\w+="(\\w+)"\\} 1$`, 'm').exec(metrics)![1]!;
}
const modeOf = (gateway: TestGateway) => labelOf(gateway, 'storegate_state_mode');

async function seenAt(place: Place): Promise<Seen> {
  const { gateway, admin, clients } = place;
  const { status: valid } = await askValid(place);
  return {
    valid,
    unknown: await status(place, makeSecret('test')),
    limited: await status(place, clients.limited),
    banned: await status(place, clients.banned),
    usage: await status(place, clients.valid, '/usage'),
    change: (await admin('POST', '/keys', { account: 'ben', plan: 'free' })).status,
    ready: (await send(`${gateway.adminUrl}/health/ready`)).status,
    mode: await modeOf(gateway),
  };
}

const lines = ({ gateway }: Place, msg: string) => gateway.log.filter((line) => line.msg === msg);

async function meet(place: Place, { reason, warning, during }: Fault): Promise<void> {
  const { policy } = place;
  if (reason !== undefined) {
    await until('the outage is reported', async () => {
      // Whether the key is valid is known.
      expect([200, 503]).toContain((await askValid(place)).status);
      return lines(place, 'state.outage').length > 0;
    });
    // Those before may have been counted.
    if (policy === 'allow') place.charged = Number.NaN;
  }
  const expected = { ...(reason === undefined ? NORMAL : DOWN[policy]), ...during };
  await untilSeen(place, expected);
  if (warning !== undefined)
    await until('the warning is logged', () =>
      lines(place, 'state.warning').some((line) => warning.test(String(line.warning))),
    );
  const outages = lines(place, 'state.outage');
  expect(outages).toHaveLength(reason === undefined ? 0 : 1);
  if (reason !== undefined) expect(JSON.stringify(outages[0])).toMatch(reason);
}

async function recover(place: Place, { reason, after, doubt = 0 }: Fault): Promise<void> {
  if (reason !== undefined)
    await until('the end is reported', () => lines(place, 'state.recovered').length === 1);
  await untilSeen(place, { ...NORMAL, ...after });
  expect(lines(place, 'bug')).toEqual([]);
  if (Number.isNaN(place.charged) || doubt === Number.POSITIVE_INFINITY) return;
  let off = 0;
  await until(
    'what was counted meanwhile is there',
    async () => {
      const { remaining } = await askValid(place);
      off = Math.abs(LIMIT - remaining - place.charged);
      return off <= doubt;
    },
    10_000,
  ).catch(() => expect(off).toBeLessThanOrEqual(doubt));
}

async function untilSeen(place: Place, expected: Seen): Promise<void> {
  let seen: Seen | null = null;
  const isSeen = async () => {
    seen = await seenAt(place);
    return isDeepStrictEqual(seen, expected);
  };
  const named = (seen: Seen | null) => ({ policy: place.policy, ...seen });
  await until('it is seen', isSeen, 20_000).catch(() =>
    expect(named(seen)).toEqual(named(expected)),
  );
}

const places: Place[] = [];

/** The gateways of all policies meet each fault together. */
function holds(
  name: string,
  open: () => Promise<{ readonly url: string; readonly settings: string; stop(): Promise<void> }>,
  faults: readonly Fault[],
  isFit: (id: string) => boolean = () => true,
) {
  describe(name, () => {
    let stop = async () => {};
    beforeAll(async () => {
      const opened = await open();
      stop = opened.stop;
      for (const policy of POLICIES)
        places.push(await openPlace(policy, opened.settings, opened.url));
    });
    afterAll(async () => {
      for (const { gateway } of places.splice(0)) await gateway.stop();
      await stop();
    });

    test.each(faults.map((fault) => [fault.name, fault] as const))('%s', async (_name, fault) => {
      await Promise.all(places.map((place) => prepare(place, isFit)));
      for (const { gateway } of places) gateway.log.length = 0;
      await fault.begin();
      try {
        await Promise.all(places.map((place) => meet(place, fault)));
      } finally {
        await fault.end();
      }
      await Promise.all(places.map((place) => recover(place, fault)));
    });
  });
}

/** Names and dumps of all that Redis has. */
async function backUp() {
  const { admin } = server;
  const names = (await admin.keys('sg:*')).filter((name) => !name.startsWith('sg:probe'));
  const dumps = await Promise.all(names.map((name) => admin.dumpBuffer(name)));
  return async () => {
    const restore = server.admin.multi().flushall();
    for (const [i, name] of names.entries())
      if (dumps[i]) restore.restore(name, 0, dumps[i], 'REPLACE');
    await restore.exec();
  };
}

let server: RedisServer;
let proxy: TcpProxy;
let restore: () => Promise<void>;

/** Faults of a connection, or of a Redis without replica. */
const SINGLE: readonly Fault[] = [
  {
    name: 'refuses connections',
    begin: () => proxy.shut(),
    end: () => proxy.admit(),
    reason: CUT,
    doubt: 3,
  },
  {
    name: 'does not answer, as behind a firewall that drops packets',
    begin: () => {
      proxy.replies = 'hold';
    },
    end: () => {
      proxy.replies = 'pass';
    },
    reason: HANGS,
    doubt: 4,
  },
  {
    name: 'answers too slowly',
    begin: () => {
      proxy.replies = { delay: 750 };
    },
    end: () => {
      proxy.replies = 'pass';
    },
    reason: HANGS,
    // Operators and unknown keys are waited for longer.
    during: { unknown: 401, change: 201 },
    doubt: 4,
  },
  {
    name: 'closes connections in the middle of a reply',
    begin: () => {
      proxy.replies = 'cut';
    },
    end: () => {
      proxy.replies = 'pass';
    },
    reason: /./,
    doubt: 4,
  },
  {
    name: 'answers garbage',
    begin: () => {
      proxy.rewrite = (reply) => '?'.repeat(reply.length);
    },
    end: () => {
      proxy.rewrite = (reply) => reply;
    },
    reason: /./,
    doubt: 4,
  },
  {
    name: 'is killed, and comes up with its data',
    begin: () => server.kill(),
    end: () => restart(),
    reason: /./,
    doubt: 3,
  },
  {
    name: 'is out of memory (OOM)',
    begin: () => server.admin.config('SET', 'maxmemory', '1'),
    end: () => server.admin.config('SET', 'maxmemory', '0'),
    reason: /OOM/,
    during: { unknown: 401, usage: 200 },
  },
  {
    name: 'is a replica (READONLY)',
    begin: () => server.admin.replicaof('127.0.0.1', '1'),
    end: () => server.admin.replicaof('NO', 'ONE'),
    reason: /READONLY/,
  },
  {
    name: 'loads its data (LOADING)',
    async begin() {
      await server.admin.eval("for i = 1, 2000 do redis.call('SET', 'filler:' .. i, i) end", 0);
      await server.admin.config('SET', 'loading-process-events-interval-bytes', '1024');
      await server.admin.config('SET', 'key-load-delay', '4000');
      reloading = server.admin.duplicate();
      reloading.call('DEBUG', 'RELOAD').catch(() => {});
      await until('it loads', async () => /loading:1/.test(await server.admin.info('persistence')));
    },
    async end() {
      await server.admin.config('SET', 'key-load-delay', '0');
      await until('it has loaded', async () =>
        /loading:0/.test(await server.admin.info('persistence')),
      );
      reloading.disconnect();
    },
    reason: /LOADING/,
  },
  {
    name: 'runs a script that does not end (BUSY)',
    async begin() {
      await server.admin.config('SET', 'busy-reply-threshold', '10');
      reloading = server.admin.duplicate();
      reloading.eval('while true do end', 0).catch(() => {});
      await until('it is busy', () =>
        server.admin.get('x').then(
          () => false,
          () => true,
        ),
      );
    },
    async end() {
      await server.admin.script('KILL');
      reloading.disconnect();
    },
    reason: /BUSY/,
  },
  {
    name: 'wants another password (NOAUTH)',
    async begin() {
      await server.admin.config('SET', 'requirepass', 'changed');
      proxy.shut();
      proxy.admit();
    },
    end: () => server.admin.config('SET', 'requirepass', ''),
    reason: /NOAUTH|not connected/,
    doubt: 3,
  },
  {
    name: 'denies scripts to the user (NOPERM)',
    begin: () => server.admin.acl('SETUSER', 'default', '-eval', '-evalsha'),
    end: () => server.admin.acl('SETUSER', 'default', '+eval', '+evalsha'),
    reason: /NOPERM/,
  },
  {
    name: 'forgets all scripts (SCRIPT FLUSH)',
    begin: () => server.admin.script('FLUSH'),
    end: () => {},
  },
  {
    name: 'closes connections once (CLIENT KILL)',
    async begin() {
      const clients = async () =>
        `${await server.admin.client('LIST')}`
          .split('\n')
          .filter((one) => / name=storegate /.test(one)).length;
      const count = await clients();
      await server.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await until('they are there again', async () => (await clients()) === count);
    },
    end: () => {},
    doubt: 3,
  },
  {
    name: 'loses all data, and gets it back (FLUSHALL)',
    async begin() {
      restore = await backUp();
      await server.admin.flushall();
    },
    end: () => restore(),
    during: { ...LOST, mode: 'normal' },
    warning: /may have come up without its data/,
    doubt: Number.POSITIVE_INFINITY,
  },
  {
    name: 'is restored from an older dump',
    async begin() {
      restore = await backUp();
      // The copy of each gateway has an entry that Redis loses.
      for (const place of places) ({ key: late } = await createKey(place));
      expect(await status(places.at(-1)!, late)).toBe(200);
      await restore();
    },
    end: () =>
      until('the newer key is lost', async () => (await status(places.at(-1)!, late)) === 401),
    warning: /^Redis has lost its data/,
    doubt: Number.POSITIVE_INFINITY,
  },
];
let reloading: RedisServer['admin'];
let late: string;
let folder: string;

/** Its data survives a restart. */
async function restart(): Promise<void> {
  const args = ['--dir', folder, '--appendonly', 'yes', '--enable-debug-command', 'yes'];
  const before = server;
  server = await startRedis({ args, ...(before && { port: before.port }) });
  await before?.stop();
}

holds(
  'a single Redis that',
  async () => {
    folder = mkdtempSync(join(tmpdir(), 'redis-'));
    await restart();
    proxy = await startProxy(server.port);
    return {
      url: proxy.url,
      settings: '',
      async stop() {
        await proxy.stop();
        await server.stop();
        rmSync(folder, { recursive: true });
      },
    };
  },
  SINGLE,
);

let set: SentinelSet;

holds('Sentinels', async () => {
  set = await startSentinelSet();
  return {
    url: set.url,
    settings: `topology: sentinel\n  nodes: [${set.nodes}]`,
    stop: () => set.stop(),
  };
}, [
  {
    name: 'fail over from a master that died to a replica that lacks its last entries',
    async begin() {
      const { master, replica } = set;
      await untilReplicated(master, replica);
      // The master has no password, so the replica cannot connect again.
      await replica.admin.config('SET', 'masterauth', 'wrong');
      await master.admin.call('CLIENT', 'KILL', 'TYPE', 'replica');
      await until('it does not follow', async () =>
        /master_link_status:down/.test(await replica.admin.info('replication')),
      );
      await master.admin.incr('lost');
      await set.killMaster();
    },
    end: () =>
      until('the replica has taken over', async () =>
        /role:master/.test(await set.replica.admin.info('replication')),
      ),
    reason: /./,
    doubt: 4,
  },
]);

let cluster: ClusterSet;
/** The master that has the records, and the number of the one that does not. */
const HOLDER = Math.floor((slotOf(RECORDS_SLOT) * 3) / 16_384);
const holder = () => cluster.masters[HOLDER]!;
const isHeld = (id: string) =>
  Math.floor((slotOf(keySubject({ id, plan: '', account: '' })) * 3) / 16_384) === HOLDER;

/** Moves a slot with its keys to another node, as a rebalance does. */
async function moveSlot(slot: number, to: RedisServer): Promise<void> {
  const from = holder();
  const idOf = async ({ admin }: RedisServer) => (await admin.cluster('MYID')) as string;
  const [source, target] = [await idOf(from), await idOf(to)];
  await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source);
  await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target);
  const names = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[];
  if (names.length > 0)
    await from.admin.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...names);
  for (const { admin } of [to, from, ...cluster.masters])
    await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', target);
}

holds(
  'a Cluster that',
  async () => {
    cluster = await startCluster();
    return {
      url: cluster.url,
      settings: `topology: cluster\n  nodes: [${cluster.nodes}]`,
      stop: () => cluster.stop(),
    };
  },
  [
    {
      name: 'lacks the node that has the records and the counters of a client',
      begin: () => holder().signal('SIGSTOP'),
      end: () => holder().signal('SIGCONT'),
      reason: HANGS,
      doubt: 4,
    },
    {
      name: 'moves the slot of the records to another node',
      begin: () => moveSlot(slotOf(RECORDS_SLOT), cluster.masters[(HOLDER + 1) % 3]!),
      end: () => {},
    },
  ],
  isHeld,
);
