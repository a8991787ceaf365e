import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { gatewayFile } from '../../src/cli/init-files.ts';
import { loadConfig, shippedFiles } from '../../src/config/load.ts';
import { commandLine } from '../support/command-line.ts';
import { loadPlans } from '../support/load-plans.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const temporary = temporaryFolders();
let server: FakeBackend;
let backend: string;
let status = 200;
beforeAll(async () => {
  // A kept connection could close just when the next command uses it.
  server = await fakeBackend((_request, response) =>
    response.writeHead(status, { Connection: 'close' }).end('{}'),
  );
  backend = server.url;
});
afterAll(() => server.close());

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '2' },
  paths: { '/a': { get: { operationId: 'a', responses: { 200: { description: 'Any.' } } } } },
};
const TOKENS = { components: { securitySchemes: { own: { type: 'http', scheme: 'bearer' } } } };

function folderWith(document: object | string = DOCUMENT): string {
  const folder = temporary();
  writeFileSync(
    join(folder, 'openapi.json'),
    typeof document === 'string' ? document : JSON.stringify(document),
  );
  return folder;
}

const INIT = '--contract openapi.json --yes --no-start'.split(' ');
const initIn = (folder: string, ...args: string[]) =>
  commandLine(folder)(['init', '--backend', backend, ...INIT, ...args]);
const settingsOf = (folder: string) => readFileSync(join(folder, 'gateway.yaml'), 'utf8');

describe('writes the shipped plans, and only settings that differ from the defaults,', () => {
  test('into files that the gateway can use, and makes a key', async () => {
    const folder = folderWith();
    const { code, out, err } = await initIn(folder);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^Backend +http\S+ responds \(GET \/: 200\)\nContract +Shop 2, 1 operation\nWritten .*\nKey +sg_live_\w+ /,
    );
    expect(settingsOf(folder)).toMatch(
      /^#.*\nupstream:\n {2}url: .*\ncontract:\n {2}file: openapi.json #.*\nkeys:\n {2}#.*\n {2}headers: .*\nplans:\n {2}file: plans.yaml\n$/,
    );
    const config = loadConfig({ cwd: folder, env: {} });
    expect(config.contract.file).toBe(join(folder, 'openapi.json'));
    expect(config.upstream.backends).toEqual([{ url: backend, weight: 1 }]);
    const shipped = loadPlans(shippedFiles.plans);
    expect(shipped.plans.get('pro')).toMatchObject({ weight: 4, concurrency: 300 });
    expect(config.plans).toEqual(shipped);
    expect(readFileSync(join(folder, 'plans.yaml'), 'utf8')).not.toContain('plans.schema.json');
    expect(readFileSync(join(folder, 'plans.yaml'), 'utf8') + settingsOf(folder)).not.toContain(
      'sg_live_',
    );
    expect((await commandLine(folder)(['keys', 'list', '--json'])).out).toContain(
      '"made by storegate init"',
    );
  });

  test('into another folder, with the path from there', async () => {
    const folder = folderWith();
    expect((await initIn(folder, '--directory', 'edge/one')).code).toBe(0);
    expect(settingsOf(join(folder, 'edge/one'))).toContain('  file: ../../openapi.json # ');
    expect(readdirSync(folder).sort()).toEqual(['edge', 'openapi.json']);
  });

  const schemesOf = (scheme: object) => ({
    ...DOCUMENT,
    components: { securitySchemes: { own: scheme } },
  });
  test.each<[string, object, boolean]>([
    ['bearer tokens', schemesOf({ type: 'http', scheme: 'bearer' }), true],
    [
      'the key of the gateway',
      schemesOf({ type: 'apiKey', in: 'header', name: 'X-API-Key' }),
      false,
    ],
  ])(
    'a header for the key alone if the document describes %s',
    async (_what, document, hasKeyHeaders) => {
      const folder = folderWith(document);
      await initIn(folder);
      expect(settingsOf(folder).includes('  headers: [X-API-Key]')).toBe(hasKeyHeaders);
    },
  );

  test('although variables of the shell name other files', async () => {
    const folder = folderWith();
    const env = {
      STOREGATE_CONFIG: 'other.yaml',
      STOREGATE_CONTRACT: 'none',
      BACKEND_URL: 'http://127.0.0.1:1',
    };
    const args = ['init', '--backend', backend, ...INIT];
    expect(await commandLine(folder)(args, { env })).toMatchObject({ code: 0, err: '' });
    expect(loadConfig({ cwd: folder, env: {} }).upstream.backends[0]!.url).toBe(backend);
  });

  test('a document with parts that are not supported', async () => {
    const get = {
      operationId: 'b',
      responses: {},
      parameters: [{ name: 'q', in: 'query', schema: { pattern: '(' } }],
    };
    const folder = folderWith({ ...DOCUMENT, paths: { ...DOCUMENT.paths, '/b': { get } } });
    const { out } = await initIn(folder);
    expect(out).toContain('Shop 2, 2 operations, 1 not validated\n');
    expect(settingsOf(folder)).toContain('  onUnsupported: pass # 1 of 2 operations ');
    loadConfig({ cwd: folder, env: {} });
  });

  test('a contract that is only reported', async () => {
    const folder = folderWith();
    await initIn(folder, '--requests', 'report');
    expect(settingsOf(folder)).toContain('  requests: report # ');
    expect(loadConfig({ cwd: folder, env: {} }).contract.requests).toBe('report');
  });

  test('texts that YAML would read differently', () => {
    const contract = { exempted: [], operations: [], isForGateway: true };
    const text = gatewayFile('http://[::1]:80/a#b', '1.0', {
      contract,
      onUnsupported: 'refuse',
      requests: 'enforce',
    });
    expect(text).toContain('  url: "http://[::1]:80/a#b" # ');
    expect(text).toContain('  file: "1.0" # ');
  });
});

describe('changes nothing and says why', () => {
  const failing = async (folder: string, args: readonly string[]) => {
    const before = readdirSync(folder);
    const { code, out, err } = await commandLine(folder)(['init', ...args]);
    expect(out).not.toContain('Key');
    expect(readdirSync(folder)).toEqual(before);
    return [code, err.split('\n')[0]];
  };
  const to = (...args: string[]) => ['--backend', backend, '--contract', ...args, '--no-start'];

  test.each(['gateway.yaml', 'plans.yaml'])('%s exists', async (name) => {
    const folder = folderWith();
    writeFileSync(join(folder, name), 'mine');
    const message = `${join(folder, name)} exists, and init overwrites no file. Choose another --directory, or add an API with --add.`;
    expect(await failing(folder, to('openapi.json'))).toEqual([1, message]);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
  });

  test('an option is missing', async () => {
    expect(await failing(folderWith(), ['--yes'])).toEqual([
      2,
      '--backend is missing: the URL of your API',
    ]);
    expect(await failing(folderWith(), ['--backend', backend])).toEqual([
      2,
      '--contract is missing: a file, a URL, or none',
    ]);
  });

  test.each(['127.0.0.1:3000', 'http://u:p@a'])('--backend %s', async (url) => {
    const [code, message] = await failing(folderWith(), ['--backend', url, '--contract', 'none']);
    expect([code, message]).toEqual([
      2,
      expect.stringMatching(/^--backend must be an http or https URL/),
    ]);
  });

  test('the backend does not respond', async () => {
    const args = ['--backend', 'http://127.0.0.1:9', '--contract', 'none'];
    expect(await failing(folderWith(), args)).toEqual([
      1,
      expect.stringMatching(/^http:\/\/127.0.0.1:9 does not respond \(/),
    ]);
  });

  test.each<[string, string | null, RegExp]>([
    ['missing', null, /openapi\.json does not exist\. Correct --contract\.$/],
    ['a page', '<html></html>', /is not an OpenAPI document/],
    [
      'not valid',
      JSON.stringify({ ...DOCUMENT, paths: { '/a': { get: { 'x-required-scopes': 'a' } } } }),
      /x-required-scopes/,
    ],
  ])('the document is %s', async (_what, text, message) => {
    const folder = text === null ? temporary() : folderWith(text);
    expect(await failing(folder, to('openapi.json'))).toEqual([1, expect.stringMatching(message)]);
  });

  test('the folder is a file', async () => {
    const [code, message] = await failing(folderWith(), [
      ...to('openapi.json'),
      '--directory',
      'openapi.json',
    ]);
    expect([code, message]).toEqual([1, expect.stringMatching(/cannot be written \(\w+\)\.$/)]);
  });
});

/** Until the gateway has sent its request. */
async function runInit(folder: string): Promise<{ out: string; code: number }> {
  const stop = new AbortController();
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let out = '';
  const running = commandLine(folder, (text) => {
    out += text;
    if (text.startsWith('Press')) resolve();
  })(['init', '--backend', backend, '--contract', 'openapi.json', '--directory', 'gw', '--yes'], {
    env: {
      STOREGATE_PORT: '0',
      STOREGATE_ADMIN_PORT: '0',
      STOREGATE_HOST: '127.0.0.1',
      LOG_LEVEL: 'silent',
    },
    stop: stop.signal,
  });
  await Promise.race([ready, running]);
  stop.abort();
  const { code } = await running;
  return { out, code };
}

test('runs the gateway, sends one request, and shows the 401 of the backend', async () => {
  const folder = folderWith(TOKENS_NEEDED);
  mkdirSync(join(folder, 'gw'));
  status = 401;
  const { out, code } = await runInit(folder).finally(() => {
    status = 200;
  });
  expect(out).toMatch(
    /\nResponse +GET \/a: 401 Unauthorized, 59 of 60 requests left\n +The 401 comes from your API/,
  );
  expect(code).toBe(0);
});

const TOKENS_NEEDED = { ...DOCUMENT, ...TOKENS, security: [{ own: [] }] };

test('proposes a request that the contract has, and sends none that needs a body', async () => {
  const responses = { 200: { description: 'Any.' } };
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
  const paths = {
    post: { '/jobs': { post: { operationId: 'createJob', responses } } },
    get: { '/jobs/{id}': { get: { operationId: 'job', parameters: [id], responses } } },
  };
  const shown = {
    post: /\nTry +POST \/jobs with -H 'X-API-Key: sg_live_\w+'\nPress/,
    get: /\nTry +curl -i 'http:\S+\/jobs\/1' .*\nResponse +GET \/jobs\/1: 200 OK/,
  };
  for (const method of ['post', 'get'] as const) {
    const folder = folderWith({ ...DOCUMENT, paths: paths[method] });
    mkdirSync(join(folder, 'gw'));
    const { out, code } = await runInit(folder);
    expect(out).toMatch(shown[method]);
    expect(code).toBe(0);
  }
});
