import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { folderTarget } from '../../src/records/transfer/folder.ts';
import { copyOf } from '../../src/run/contracts/remote.ts';
import { commandLine } from '../support/command-line.ts';
import { freePort } from '../support/free-port.ts';
import { storegate } from '../support/storegate.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { movable, moveAll, sourceOf, WITH_CLOCK } from '../support/transfer.ts';
import { until } from '../support/until.ts';

const temporary = temporaryFolders();
const cwd = temporaryFolders({ keep: true })();
/** A process takes longer to start than most commands to run. */
const here = commandLine(cwd);

const PORTS = { STOREGATE_HOST: '127.0.0.1', STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0' };

describe('storegate serve', () => {
  test('shows demo keys on the first start only, and keeps its data', async () => {
    const first = storegate(['serve'], { cwd, env: PORTS, onTerminal: true });
    await until('the gateway is up', () => first.out().includes('Ctrl-C'));
    const shown = first.out();
    expect(stripVTControlCharacters(shown)).toMatch(
      /^\S+ info {2}started url=\S+ .*\nPet Store 1\.0\.0 is available at /,
    );
    expect([...shown.matchAll(/^ {2}(\w+) +\d.* sg_demo_\w+$/gm)].map(([, plan]) => plan)).toEqual([
      'free',
      'pro',
      'business',
      'enterprise',
    ]);
    const url = /available at (http:\S+)/.exec(shown)![1]!;
    const key = /free +.+ (sg_demo_\w+)/.exec(shown)![1]!;
    const response = await fetch(`${url}/pets`, { headers: { 'X-API-Key': key } });
    expect(response.status).toBe(200);
    expect(await response.json()).not.toEqual([]);
    first.child.kill('SIGINT');
    expect(await first.exit).toBe(0);

    const stop = new AbortController();
    let printed = '';
    const second = commandLine(cwd, (text) => {
      printed += text;
    })(['serve'], { env: { ...PORTS, LOG_LEVEL: 'silent' }, isTerminal: true, stop: stop.signal });
    await until('the gateway is up again', () => printed.includes('is available at'));
    expect(printed).not.toContain('sg_demo_');
    const again = /available at (http:\S+)/.exec(printed)![1]!;
    const half = await fetch(`${again}/pets`, { headers: { 'X-API-Key': key } });
    expect(half.headers.get('x-ratelimit-remaining')).toBe('58');
    await half.text();

    const clash = await here(['serve'], { env: PORTS });
    expect(clash).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^another gateway is running on the data folder .*\n$/),
    });
    stop.abort();
    expect((await second).code).toBe(0);
  });

  test('prints only its log without a terminal, sees changed keys, and reloads on SIGHUP', async () => {
    const env = { ...PORTS, STOREGATE_DATA: 'unseen' };
    const running = storegate(['serve'], { cwd, env });
    await until('the gateway is up', () => running.out().includes('"msg":"started"'));
    expect(JSON.parse((await here(['keys', 'list', '--json'], { env })).out)).toEqual([]);

    const url = /"url":"(http:[^"]+)"/.exec(running.out())![1]!;
    const create = ['keys', 'create', '--plan', 'business', '--account', 'acme', '--json'];
    const { id, key } = JSON.parse((await here(create, { env })).out);
    const status = async () => {
      const response = await fetch(`${url}/pets`, { headers: { 'X-API-Key': key } });
      await response.text();
      return response.status;
    };
    expect(await status()).toBe(200);
    await here(['keys', 'revoke', id], { env });
    await until('the key is refused', async () => (await status()) === 401);
    running.child.kill('SIGHUP');
    await until('it has read its files', () => running.out().includes('"reason":"SIGHUP"'));
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    for (const line of running.out().trimEnd().split('\n'))
      expect(JSON.parse(line)).toHaveProperty('msg');
    expect(running.out()).not.toContain('sg_');
  });

  describe('reports a port in use and its setting in one line:', () => {
    let taken: Server;
    let port: string;
    beforeAll(async () => {
      taken = createServer().listen(0, '127.0.0.1');
      await until('the port is taken', () => taken.listening);
      port = `${(taken.address() as { port: number }).port}`;
    });
    afterAll(() => void taken.close());

    test('a variable', async () => {
      const env = { ...PORTS, STOREGATE_PORT: port, STOREGATE_DATA: 'elsewhere' };
      expect(await here(['serve'], { env })).toMatchObject({
        code: 1,
        err: `cannot listen on 127.0.0.1:${port}: another program is using it (STOREGATE_PORT)\n`,
      });
    });

    test('a file', async () => {
      writeFileSync(join(cwd, 'taken.yaml'), `admin:\n  port: ${port}\n`);
      const env = {
        STOREGATE_HOST: '127.0.0.1',
        STOREGATE_PORT: '0',
        STOREGATE_CONFIG: 'taken.yaml',
        STOREGATE_DATA: 'elsewhere',
      };
      const { err } = await here(['serve'], { env });
      expect(err).toBe(
        `cannot listen on 127.0.0.1:${port}: another program is using it (admin.port in taken.yaml:2:9)\n`,
      );
    });
  });

  test('reports an address of another machine and its setting', async () => {
    const env = { ...PORTS, STOREGATE_HOST: '192.0.2.1', STOREGATE_DATA: 'elsewhere' };
    const { err } = await here(['serve'], { env });
    expect(err).toBe(
      'cannot listen on 192.0.2.1:0: this machine does not have that address (STOREGATE_HOST)\n',
    );
  });

  test('reports an unusable data folder in one line', async () => {
    writeFileSync(join(cwd, 'file'), '');
    const run = await here(['serve'], { env: { ...PORTS, STOREGATE_DATA: 'file' } });
    expect(run.code).toBe(1);
    expect(run.err).toMatch(/^[^\n]*file[^\n]* \(STOREGATE_DATA\)\n$/);
  });

  test('reports every mistake of its configuration in one line each', async () => {
    const run = await here(['serve'], {
      env: { STOREGATE_PORT: 'many', STOREGATE_PLANS: 'nowhere.yaml', LOG_LEVEL: 'loud' },
    });
    expect(run.code).toBe(1);
    expect(run.err.trimEnd().split('\n')).toHaveLength(3);
    for (const name of ['STOREGATE_PORT', 'nowhere.yaml', 'LOG_LEVEL'])
      expect(run.err).toContain(name);
  });
});

describe('storegate itself', () => {
  test.each([
    ['help keys create', 'keys create --help'],
    ['keys help create', 'keys create --help'],
    ['help', '--help'],
  ])('%s shows what %s shows', async (requested, same) => {
    const shown = await here(requested.split(' '));
    expect(shown).toEqual(await here(same.split(' ')));
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('Usage: storegate') });
  });

  test('names an unknown command', async () => {
    const run = await here(['help', 'keys', 'craete']);
    expect(run).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"craete"') });
  });
});

describe('storegate config', () => {
  test('exits quietly if the pipe is closed', async () => {
    const running = storegate(['config'], { cwd });
    running.child.stdout!.destroy();
    expect(await running.exit).toBe(0);
    expect(running.err()).toBe('');
  });

  test('breaks long values into lines', async () => {
    const { out } = await here(['config']);
    const [head, ...lines] = out.trimEnd().split('\n');
    const [from, to] = [head!.indexOf('value'), head!.indexOf('source')];
    expect(to - from).toBeLessThanOrEqual(50);
    const values = lines.map((line) => line.slice(from, to).trim()).join('');
    const settings = JSON.parse((await here(['config', '--json'])).out) as { value: string }[];
    expect(settings.some(({ value }) => value.length > 200)).toBe(true);
    expect(values).toBe(settings.map(({ value }) => value).join(''));
  });
});

describe('storegate check', () => {
  test('accepts the shipped files', async () => {
    expect(await here(['check'])).toEqual({
      code: 0,
      out: 'OK: 4 plans, 17 operations (OpenAPI 3.0.3).\n',
      err: '',
    });
  });

  const operation = (id: string, more = '') =>
    `{operationId: ${id}, ${more}responses: {default: {description: Done.}}}`;
  const contract = (paths: string, more = '') =>
    `openapi: 3.0.3\ninfo: {title: x, version: '1'}\n${more}paths: ${paths}\n`;
  const windows = (limit: number) =>
    `{ windows: [{ limit: ${limit}, per: minute }, { limit: 100, per: day }] }`;
  const scoped = (scopes: string) =>
    contract(
      `\n  /a:\n    get: ${operation('a', 'x-required-scopes: [b, a], ')}\n` +
        `    put: ${operation('b', `x-required-scopes: ${scopes}, `)}`,
    );
  const ofUpstream = (name: string) =>
    `{get: ${operation(name, `x-storegate-upstream: ${name}, `)}}`;
  const TIGHT =
    'costs 10, and always gets 429: plan free has 5 per minute, account acme has 9 per minute';

  interface Row {
    readonly contract?: string;
    readonly gateway?: string;
    readonly plans?: string;
    readonly env?: Readonly<Record<string, string>>;
  }

  test.each<[what: string, files: Row, code: number, out: string, err: (string | RegExp)[]]>([
    [
      'prints required scopes',
      { contract: scoped('[a]') },
      0,
      'OK: 4 plans, 2 operations (OpenAPI 3.0.3).\n2 operations need scopes: a, b.\n',
      [],
    ],
    [
      'reports an unknown upstream',
      {
        contract: contract(`{/a: ${ofUpstream('stok')}}`),
        gateway: 'upstreams: { stock: { url: "http://127.0.0.1:9" } }\n',
      },
      1,
      '',
      [/: stok \(GET \/a\): x-storegate-upstream names stok, .*did you mean stock\?/],
    ],
    [
      'names the operation that the settings mean',
      {
        contract: contract(`{/a: {get: ${operation('listPets')}}}`),
        gateway: 'operations: { listPet: { cost: 2 } }\n',
      },
      1,
      '',
      [
        /has no operation listPet, which operations in gateway\.yaml names; did you mean listPets\?/,
      ],
    ],
    [
      'reports every mistake of a contract',
      { contract: 'openapi: 3.0.3\ninfo: {title: x}\npaths: {}\n' },
      1,
      '',
      [/version/],
    ],
    [
      'notes a body limit above that of the settings',
      {
        contract: contract(
          `{/a: {post: ${operation('a', 'x-max-body-bytes: 1048577, requestBody: {content: {text/plain: {}}}, ')}}}`,
        ),
      },
      0,
      'OK: 4 plans, 1 operation (OpenAPI 3.0.3).\n',
      ['a (POST /a): x-max-body-bytes 1048577 is above http.maxBodyBytes, 1048576 applies'],
    ],
    [
      'notes an operation that costs more than a window admits',
      {
        contract: contract(
          `{/a: {get: ${operation('a', 'x-ratelimit-cost: 10, ')}, put: ${operation('b', 'x-ratelimit-cost: 5, ')}, post: ${operation('c', 'x-ratelimit-cost: 10, security: [], ')}}}`,
        ),
        plans: `plans:\n  free: ${windows(5)}\n  billed: { windows: [{ limit: 5, per: minute, overage: true }] }\n  pro: ${windows(10)}\n  own: { custom: true, concurrency: 20 }\naccounts:\n  acme: ${windows(9)}\npublic: ${windows(8)}\n`,
      },
      0,
      'OK: 4 plans, 3 operations (OpenAPI 3.0.3).\n',
      [
        /^without a key: /,
        `a (GET /a): ${TIGHT}`,
        `c (POST /a): ${TIGHT}, public has 8 per minute`,
      ],
    ],
    [
      'notes that requests are not validated without a contract',
      { env: { STOREGATE_CONTRACT: 'none' } },
      0,
      'OK: 4 plans, no contract.\n',
      [
        'requests are not validated, and every path but /usage (usage.enabled) is forwarded (contract.file: none)',
      ],
    ],
    [
      'notes the prefix of paths, and backends that get it twice',
      {
        contract: contract(
          `{/a: ${ofUpstream('default')}, /b: ${ofUpstream('without')}, /c: ${ofUpstream('with')}}`,
          "servers: [{ url: 'https://a.example/v1' }]\n",
        ),
        gateway:
          'upstreams: { without: { url: "http://a" }, with: { url: "http://a/v1,http://b/x/v1/" } }\n',
        env: { BACKEND_URL: 'http://a/v1,http://b' },
      },
      0,
      'OK: 4 plans, 3 operations (OpenAPI 3.0.3).\n',
      [
        'request paths begin with /v1, the path of servers',
        'upstream default: http://a/v1 gets /v1 twice, because other backends do not end with it',
      ],
    ],
    [
      'names operations behind paths of the gateway, and APIs with a target',
      {
        contract: contract(
          `{/usage: {get: ${operation('own')}}, /pets/a: {get: ${operation('pet')}}}`,
        ),
        gateway:
          'apis: [{ name: files, path: /files, contract: none, target: "http://127.0.0.1:9" }]\n',
      },
      0,
      'OK: 4 plans, 2 operations (OpenAPI 3.0.3).\n',
      [
        'the API default: own (GET /usage): the gateway serves /usage itself; set usage.enabled: false to forward these requests',
        'the API files: requests are not validated, and every path but /usage (usage.enabled) is forwarded (contract.file: none)',
        'the API files: a target has no health checks, retries or limit of connections, joins repeated fields, and accepts response heads of up to 16 KiB; set upstream to have all of them',
      ],
    ],
  ])('%s', async (_what, { env, ...files }, code, out, lines) => {
    const folder = temporary();
    const names = {
      contract: 'STOREGATE_CONTRACT',
      gateway: 'STOREGATE_CONFIG',
      plans: 'STOREGATE_PLANS',
    };
    const own: Record<string, string> = { ...env };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(folder, `${name}.yaml`), text);
      own[names[name as keyof typeof names]] = `${name}.yaml`;
    }
    const result = await commandLine(folder)(['check'], { env: own });
    expect(result).toMatchObject({ code, out });
    const found = result.err
      .split('\n')
      .slice(0, -1)
      .map((line) => line.replace(/^note: /, ''));
    expect(found).toEqual(
      lines.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
    );
  });

  test('notes that concurrency applies per worker', async () => {
    writeFileSync(
      join(cwd, 'bounded.yaml'),
      'plans:\n  free: { custom: true, concurrency: 20 }\n  pro: { custom: true }\naccounts:\n  acme: { windows: [{ limit: 1, per: day }], concurrency: 7 }\n',
    );
    const env = {
      STOREGATE_PLANS: 'bounded.yaml',
      STOREGATE_DATA: 'untouched',
      REDIS_URL: 'redis://127.0.0.1:1',
    };
    const notes = (text: string) =>
      text
        .trim()
        .split('\n')
        .filter((line) => !line.includes('cannot use Redis'));
    const { code, err } = await here(['check'], { env: { ...env, STOREGATE_WORKERS: '3' } });
    expect(code).toBe(0);
    expect(notes(err)).toEqual([
      'note: free: concurrency 20 applies to each of 3 workers, up to 60 in all',
      'note: acme: concurrency 7 applies to each of 3 workers, up to 21 in all',
    ]);
  });

  test('names plans that keys have and the files lack, as a start does', async () => {
    const folder = temporary();
    const data = join(folder, 'data');
    const source = sourceOf({
      key: [movable(1, { plan: 'old' }), movable(2, { plan: 'old' }), movable(3)],
    });
    await moveAll(source, folderTarget(data, WITH_CLOCK));
    const files = readdirSync(data);
    const missing = 'plan old is missing, and 2 keys have it: requests with it get 403';
    expect(await commandLine(folder)(['check'])).toMatchObject({
      code: 0,
      err: `note: ${missing}\n`,
    });
    expect(readdirSync(data)).toEqual(files);
    const env = { ...PORTS, BACKEND_URL: 'http://127.0.0.1:1' };
    const running = storegate(['serve'], { cwd: folder, env });
    await until('the start has warned', () => running.out().includes(missing));
    running.child.kill('SIGTERM');
    expect(await running.exit).toBe(0);
  });

  // The superuser may write everything.
  const testAsUser = process.getuid?.() === 0 ? test.skip : test;
  testAsUser('names what a start cannot write', async () => {
    const folder = temporary();
    const check = () => commandLine(folder)(['check'], { env: { STOREGATE_DATA: 'some/data' } });
    mkdirSync(join(folder, 'some'), { mode: 0o500 });
    expect((await check()).err).toBe(
      `note: ${join(folder, 'some')} is not writable for this user; a start needs that\n`,
    );
    chmodSync(join(folder, 'some'), 0o700);
    expect((await check()).err).toBe('');
  });

  test('uses the copy of a contract whose URL is unreachable, and fails without a copy', async () => {
    const url = `http://127.0.0.1:${await freePort()}/openapi.json`;
    const env = { STOREGATE_CONTRACT: url, STOREGATE_DATA: 'with-copy' };
    expect(await here(['check'], { env })).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining(`${url}: cannot be fetched: `),
    });
    const text = '{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{}}';
    mkdirSync(join(cwd, 'with-copy'));
    writeFileSync(copyOf(join(cwd, 'with-copy'), url), JSON.stringify({ url, at: 0, text }));
    const { code, err } = await here(['check'], { env });
    expect(code).toBe(0);
    expect(err).toMatch(
      /^note: http:\S+ cannot be fetched: \w+; a start uses the copy from 1970-01-01T00:00:00.000Z\n$/,
    );
  });

  test('ends on a signal while it reads the contract', async () => {
    const { promise: requested, resolve } = Promise.withResolvers<void>();
    const silent = createServer((socket) => {
      resolve();
      socket.resume().on('error', () => {});
    });
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const { port } = silent.address() as AddressInfo;
    const contract = `http://127.0.0.1:${port}/openapi.yaml`;
    const run = storegate(['check'], { cwd, env: { STOREGATE_CONTRACT: contract } });
    await requested;
    run.child.kill('SIGTERM');
    expect(await run.exit).toBe(1);
    expect(run.err()).toBe('The check was stopped before the contract was read. Run it again.\n');
    await new Promise((closed) => silent.close(closed));
  });

  test('prints notes of an invalid contract, each once', async () => {
    const responses = '{default: {description: Done., odd: 1}}';
    const paths = `{/a: {get: {operationId: a, responses: ${responses}}, put: {operationId: b, responses: ${responses}}}, b: {}}`;
    writeFileSync(
      join(cwd, 'noted.yaml'),
      `openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths: ${paths}\n`,
    );
    const run = await here(['check'], { env: { STOREGATE_CONTRACT: 'noted.yaml' } });
    expect(run.code).toBe(1);
    const lines = run.err.trim().split('\n');
    expect(lines[0]).toMatch(
      /^note: .*noted\.yaml:3:.*odd is not a field .*\(2 times; this is the first\)$/,
    );
    expect(lines.slice(1).join()).toMatch(
      /noted\.yaml:3:\S* \/paths\/b: the path b must begin with \/$/,
    );
  });
});
