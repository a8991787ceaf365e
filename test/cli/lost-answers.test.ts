import { statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ADMIN_HEADER, type OperationId, ROUTES } from '@storegate/admin-api';
import { adminContract } from '../../src/admin/api.ts';
import { HOUR } from '../../src/common/time.ts';
import { makeToken } from '../../src/records/operators/tokens.ts';
import { openAdminSocket } from '../../src/state/admin-sockets.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { type AdminCall, adminOf } from '../support/admin.ts';
import { commandLine, type Result } from '../support/command-line.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { type LosingProxy, startLosingProxy, startLosingProxyIn } from '../support/losing-proxy.ts';
import { Receiver } from '../support/receiver.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 20, per: minute }] }
  pro: { windows: [{ limit: 90, per: minute }] }
`;
const OF_ADMIN = { [ADMIN_HEADER]: 'admin' };
/** Its last message came an hour ago. */
const LOST = 'edge-1:4711';
const changes = (Object.keys(ROUTES) as OperationId[]).filter(
  (id) => ROUTES[id][0] !== 'GET' && ROUTES[id][2] !== 'read',
);

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly $ref?: string }[];
}

const ONCE = '#/components/parameters/once';

interface Row {
  /** KEY: the id of a key that has used 5 units. LOST: a lost gateway. */
  readonly line: string;
  /** What it prints once it is made. */
  readonly out: RegExp;
  /** Runs before, undisturbed. */
  readonly before?: string;
}

const ROWS: Partial<Record<OperationId, Row>> = {
  createKey: {
    line: 'keys create --plan free --account once',
    out: /^sg_live_\w+\nThis is key_\w+, plan free, account once\./,
  },
  importKey: {
    line: `keys import --hash ${'ab'.repeat(32)} --plan free --account once`,
    out: /^key_\w+ is imported\./,
  },
  importKeys: {
    line: 'keys import --file keys.ndjson',
    out: /^1 key imported, 0 exist already\.\n$/,
  },
  updateKey: { line: 'keys update KEY --plan pro', out: /^plan +pro$/m },
  revokeKey: { line: 'keys revoke KEY', out: /^KEY is revoked\.\n$/ },
  disableKey: { line: 'keys disable KEY', out: /^KEY is disabled\.\n$/ },
  enableKey: { line: 'keys enable KEY', out: /^KEY is enabled\.\n$/, before: 'keys disable KEY' },
  rotateKey: { line: 'keys rotate KEY', out: /^sg_live_\w+\nThis is KEY, / },
  setPlan: { line: 'plans set pro --limits 80/minute', out: /^after +80\/minute$/m },
  addBan: { line: 'bans add KEY --duration 1h --reason abuse', out: /^KEY .* 1 .*abuse/m },
  liftBan: {
    line: 'bans lift KEY',
    out: /^KEY is not banned\.\n/,
    before: 'bans add KEY --duration 1h --reason abuse',
  },
  extendBan: {
    line: 'bans extend KEY --duration 1h --reason abuse',
    out: /^KEY .* in (2h|1h 59m) .*abuse/m,
    before: 'bans add KEY --duration 1h --reason abuse',
  },
  resetUsage: { line: 'usage reset KEY', out: /^key:KEY +minute +20 +0 +20/m },
  grantUsage: { line: 'usage grant KEY --units 2', out: /^key:KEY +minute +20 +3 +17/m },
  forgetGateway: { line: 'status forget LOST', out: /^LOST is forgotten\.\n$/ },
  reload: { line: 'reload', out: /^Nothing changed\.\n/ },
  createToken: { line: 'tokens create once --role read', out: /^sgadmin_\S+\nThis is once, / },
  revokeToken: {
    line: 'tokens revoke ended',
    out: /^ended is revoked\.\n$/,
    before: 'tokens create ended --role read',
  },
  testWebhooks: { line: 'webhooks test', out: / delivered / },
};

/** The connection to a socket repeats each call alike; imports call in another way. */
const AT_SOCKET: readonly string[] = ['createKey', 'importKeys', 'liftBan', 'testWebhooks'];

test('every operation that changes something takes an Idempotency-Key, and has its row', () => {
  expect(Object.keys(ROWS).sort()).toEqual([...changes].sort());
  const paths = adminContract().document.paths as Record<string, Record<string, Described>>;
  const documented = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ parameters = [] }) => parameters.some(({ $ref }) => $ref === ONCE));
  expect(documented.map(({ operationId }) => operationId).sort()).toEqual([...changes].sort());
});

describe.each([
  ['in the folder of a gateway', 'folder'],
  ['at a URL', 'url'],
] as const)('a command whose response is lost %s', (_, place) => {
  let redis: RedisServer;
  let receiver: Receiver;
  let gateway: TestGateway;
  let proxy: LosingProxy;
  const token = makeToken();
  beforeAll(async () => {
    [redis, receiver] = [await startRedis(), await Receiver.start()];
    gateway = await TestGateway.start({
      settings: `data: own\nredis: { url: '${redis.url}' }\n`,
      plans: PLANS,
      env: { STOREGATE_ADMIN_TOKEN: token, ...receiver.env },
    });
    proxy =
      place === 'folder'
        ? await startLosingProxyIn(gateway.config.data)
        : await startLosingProxy(gateway.adminUrl);
    writeFileSync(
      join(gateway.folder, 'keys.ndjson'),
      `{"hash":"${'a1'.repeat(32)}","plan":"free","account":"once"}\n`,
    );
  });
  afterAll(async () => {
    proxy.close();
    await gateway.stop();
    await receiver.stop();
    await redis.stop();
  });

  const admin: AdminCall = (...call) =>
    adminOf(gateway.adminUrl, { Authorization: `Bearer ${token}` })(...call);
  const run = (line: string, url: string | null): Promise<Result> => {
    const access: Record<string, string> =
      url === null ? {} : { STOREGATE_ADMIN_URL: url, STOREGATE_ADMIN_TOKEN: token };
    return commandLine(gateway.folder)(line.split(' '), { env: { STOREGATE_DATA: '', ...access } });
  };

  async function changeCount(): Promise<number> {
    const { entries } = bodyOf(await admin('GET', '/audit?limit=1'));
    return entries[0]?.number ?? 0;
  }

  /** Returns a line, and what it prints, with the names of a new key and of the lost gateway. */
  async function prepare({ line, out, before }: Row) {
    const { id, key } = bodyOf(await admin('POST', '/keys', { account: 'acme', plan: 'free' }));
    for (let i = 0; i < 5; i++) await gateway.client.get('/pets').set('X-API-Key', key);
    await redis.admin.zadd(keyOf.peers, Date.now() - HOUR, LOST);
    const names: Record<string, string> = { KEY: id, LOST };
    const named = (text: string) => text.replace(/KEY|LOST/g, (name) => names[name]!);
    if (before !== undefined)
      expect(await run(named(before), gateway.adminUrl)).toMatchObject({ code: 0 });
    return { line: named(line), out: new RegExp(named(out.source), out.flags) };
  }

  const rows = Object.entries(ROWS).filter(([id]) => place === 'url' || AT_SOCKET.includes(id));
  test.each(rows)('makes the change of %s once', async (id, row) => {
    const { line, out } = await prepare(row);
    const before = await changeCount();
    proxy.loseNext();
    const first = await run(line, place === 'url' ? proxy.url : null);
    expect(proxy.isLosing).toBe(false);
    expect(await changeCount()).toBe(before + 1);
    if (place === 'folder') {
      expect(first).toEqual({ code: 0, out: expect.stringMatching(out), err: '' });
      return;
    }
    expect(first).toMatchObject({ code: 3, out: '' });
    if (id === 'importKeys') {
      expect(first.err).toMatch(/Run the command again to continue\.\n$/);
      expect(await run(line, gateway.adminUrl)).toMatchObject({
        code: 0,
        out: '0 keys imported, 1 exist already.\n',
      });
    } else {
      const key = / The change may have been made: .* --idempotency-key (\S+)\.\n$/.exec(first.err);
      expect(key).not.toBeNull();
      const again = await run(`${line} --idempotency-key ${key![1]}`, gateway.adminUrl);
      expect(again).toEqual({ code: 0, out: expect.stringMatching(out), err: '' });
    }
    expect(await changeCount()).toBe(before + 1);
  });
});

describe('a folder with several gateways', () => {
  const folderOf = temporaryFolders();
  let cwd: string;
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });
  beforeEach(() => {
    cwd = folderOf();
  });

  interface Calls {
    readonly server: Server;
    /** `POST` and its Idempotency-Key. */
    readonly changes: (string | undefined)[];
  }

  const ok = (body: object): RequestListener => {
    return (_, response) => void response.writeHead(200, OF_ADMIN).end(JSON.stringify(body));
  };
  const KEY = ok({ id: 'key_once', key: 'secret', plan: 'free', account: 'acme' });
  const ofRedis = (redis: string) => ({
    settings: [{ name: 'redis.url', value: JSON.stringify(`redis://***@${redis}`) }],
  });

  /** A gateway that answers each change with `change`. */
  async function open(
    redis: string,
    change: RequestListener = KEY,
    read: RequestListener = ok(ofRedis(redis)),
  ): Promise<Calls> {
    const changes: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      if (request.method === 'GET') return read(request, response);
      changes.push(request.headers['idempotency-key'] as string | undefined);
      request.resume().on('end', () => change(request, response));
    });
    const remove = await openAdminSocket(join(cwd, 'data'), server);
    ends.push(() => {
      remove();
      server.close().closeAllConnections();
    });
    await untilLater();
    return { server, changes };
  }

  /** Times of files pass in steps; the next socket has a later time. */
  async function untilLater(): Promise<void> {
    const probe = join(cwd, 'probe');
    const timeNow = () => {
      writeFileSync(probe, '');
      return statSync(probe).mtimeMs;
    };
    const first = timeNow();
    await until('files have a later time', () => timeNow() > first);
  }

  const create = () =>
    commandLine(cwd)(['keys', 'create', '--plan', 'free', '--account', 'acme', '--key-only']);
  const end = ({ server }: Calls) => void server.close().closeAllConnections();

  test('gives a change whose response is lost to the next one on its state', async () => {
    const one = await open('localhost:6379/0', () => end(one));
    const two = await open('localhost:6379/0');
    expect(await create()).toEqual({ code: 0, out: 'secret\n', err: '' });
    expect(one.changes).toEqual([expect.stringMatching(/^.{16,}$/)]);
    expect(two.changes).toEqual(one.changes);
  });

  test('gives a change whose response is lost to none on another state', async () => {
    const one = await open('localhost:6379/0', () => end(one));
    const two = await open('localhost:6379/1');
    const { code, out, err } = await create();
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(`--idempotency-key ${one.changes[0]}`);
    expect(two.changes).toEqual([]);
  });

  test('gives a change that was certainly not received to the next one', async () => {
    const one = await open('localhost:6379/0', KEY, (_, response) => {
      // It ends between the trial and the change.
      response
        .writeHead(200, { ...OF_ADMIN, Connection: 'close' })
        .end(JSON.stringify(ofRedis('localhost:6379/0')));
      one.server.close();
    });
    const two = await open('localhost:6379/1');
    expect(await create()).toEqual({ code: 0, out: 'secret\n', err: '' });
    expect([one.changes.length, two.changes.length]).toEqual([0, 1]);
  });

  test.each([
    ['before it began', [], ['account,requests\n', 'acme,2\n'], 0],
    ['after its first row', ['account,requests\n'], [], 3],
  ] as const)(
    'gives a download that broke %s to the next one or to none',
    async (_, before, after, code) => {
      const downloads =
        (parts: readonly string[], ends: boolean): RequestListener =>
        (request, response) => {
          if (!request.url!.startsWith('/usage/report'))
            return ok(ofRedis('localhost:6379/0'))(request, response);
          response.writeHead(200, { ...OF_ADMIN, 'Content-Type': 'text/csv' });
          response.flushHeaders();
          for (const part of parts) response.write(part);
          if (ends) response.end();
          else setImmediate(() => end(one));
        };
      const one = await open('localhost:6379/0', KEY, downloads(before, false));
      await open('localhost:6379/0', KEY, downloads(['account,requests\n', 'acme,2\n'], true));
      const result = await commandLine(cwd)(['usage', 'report', '-o', 'csv']);
      expect(result).toMatchObject({ code, out: [...before, ...after].join('') });
    },
  );

  test('asks the next one while the first hangs', async () => {
    let isFirstAsked = false;
    let isFirstOpen = false;
    const one = await open('localhost:6379/0', KEY, (request) => {
      isFirstAsked = true;
      isFirstOpen = true;
      request.socket.on('close', () => {
        isFirstOpen = false;
      });
    });
    const requested: boolean[] = [];
    const two = await open('localhost:6379/0', KEY, (request, response) => {
      requested.push(isFirstAsked && isFirstOpen);
      ok(ofRedis('localhost:6379/0'))(request, response);
    });
    expect(await create()).toEqual({ code: 0, out: 'secret\n', err: '' });
    expect(requested).toEqual([true]);
    expect([one.changes.length, two.changes.length]).toEqual([0, 1]);
    await until('the first is not asked any more', () => !isFirstOpen);
  });
});
