import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { done } from '../../packages/openapi/test/documents.ts';
import { withApi } from '../../src/cli/add-api.ts';
import { loadConfig } from '../../src/config/load.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const ENTRY = { name: 'b', path: '/b', contract: 'none', upstream: { url: 'http://b' } };
const block = (indent: string) =>
  ['- name: b', '  path: /b', '  contract: none', '  upstream: { url: http://b }']
    .map((line) => `${indent}${line}\n`)
    .join('');

describe('an entry of apis is added', () => {
  const first = '  - name: a # one\n    path: /a\n    contract: none\n';
  test.each<[what: string, before: string, after: string]>([
    [
      'to none',
      'log:\n  level: warn # loud\n',
      `log:\n  level: warn # loud\napis:\n${block('  ')}`,
    ],
    ['without a line end', 'log: {}', `log: {}\napis:\n${block('  ')}`],
    ['to nothing', '{}', `apis:\n${block('  ')}`],
    ['behind another', `apis:\n${first}`, `apis:\n${first}${block('  ')}`],
    [
      'before other sections and comments',
      `# all\napis: # mine\n${first}\n# log\nlog: {}\n`,
      `# all\napis: # mine\n${first}${block('  ')}\n# log\nlog: {}\n`,
    ],
    ['without an indent', 'apis:\n- name: a\n', `apis:\n- name: a\n${block('')}`],
    ['behind another without a line end', 'apis:\n  - {}', `apis:\n  - {}\n${block('  ')}`],
  ])('%s, and the rest stays byte for byte', (_what, before, after) => {
    expect(withApi(before, ENTRY)).toBe(after);
  });

  test.each(['apis: []', '# mine\napis: [{ name: a }]\n', '{ apis: [], log: {} }', 'apis:\n'])(
    'to a file in another style: %j',
    (before) => {
      const { apis, ...rest } = parse(before);
      const after = withApi(before, ENTRY);
      expect(parse(after)).toEqual({ ...rest, apis: [...(apis ?? []), ENTRY] });
      expect(after.startsWith('# mine')).toBe(before.startsWith('# mine'));
    },
  );
});

const temporary = temporaryFolders();
let backend: FakeBackend;
beforeAll(async () => {
  backend = await fakeBackend((request, response) =>
    response.writeHead(200, { Connection: 'close' }).end(request.url),
  );
});
afterAll(() => backend.close());

const contractWith = (paths: object) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'Bills', version: '1' }, paths });
const BILLS = contractWith({ '/bills': { get: { operationId: 'bills', responses: done } } });

const add = (folder: string, options: Readonly<Record<string, string>>, contract = 'bills.json') =>
  commandLine(folder)([
    ...['init', '--add', '--backend', backend.url, '--contract', contract],
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  ]);

const SETTINGS = `# The first API.
upstream:
  url: http://127.0.0.1:9 # Mine.
contract:
  file: none
`;

function folderOf(settings = SETTINGS, contract = BILLS): string {
  const folder = temporary();
  writeFileSync(join(folder, 'gateway.yaml'), settings);
  writeFileSync(join(folder, 'bills.json'), contract);
  return folder;
}

const settingsOf = (folder: string) => readFileSync(join(folder, 'gateway.yaml'), 'utf8');

describe('init --add', () => {
  test('keeps the API of the settings, its comments and all paths that the new API has not', async () => {
    const folder = folderOf();
    const { code, out } = await add(folder, { name: 'bills', path: '/bills', host: 'b.example' });
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^Backend +http\S+ responds .*\nContract +Bills 1, 1 operation\nWritten +the API bills in \S+gateway\.yaml\nNext +npx storegate reload;/,
      ),
    ]);
    expect(settingsOf(folder)).toBe(`${SETTINGS}apis:
  - name: bills
    path: /bills
    host: b.example
    contract: bills.json
    upstream: { url: ${backend.url} }
    keys: { headers: [ X-API-Key ] }
`);
    const { apis } = loadConfig({ cwd: folder, env: {} });
    expect(apis.map(({ name, backends }) => [name, backends])).toEqual([
      ['default', 'default'],
      ['bills', 'bills'],
    ]);
  });

  test('writes no key headers beside those of the settings, and what the contract needs', async () => {
    const folder = folderOf(`${SETTINGS}keys: { headers: [X-Shop-Key] }\n`);
    await add(folder, { name: 'bills', path: '/b', requests: 'report' });
    const { apis } = parse(settingsOf(folder));
    expect(apis[0].contract).toEqual({ file: 'bills.json', requests: 'report' });
    expect(apis[0]).not.toHaveProperty('keys');
  });

  test('says that paths of no API lead nowhere, if nothing is set for them', async () => {
    const { out } = await add(
      folderOf('log: { level: warn }\n'),
      { name: 'b', path: '/b' },
      'none',
    );
    expect(out).toContain('Note      paths that no API has get 404 from now on: ');
  });

  test.each<[what: string, options: Record<string, string>, code: number, message: RegExp]>([
    ['a host that is not valid', { name: 'b', host: 'b:80' }, 2, /^--host must be a host name/m],
    ['no place', { name: 'b' }, 2, /^The API needs a path or a host$/m],
    ['no name', { path: '/b' }, 2, /^--name is missing/],
    ['no backend', { name: 'b', path: '/b', backend: 'http://127.0.0.1:9' }, 1, /not respond/],
    ['a path above another', { name: 'b', path: '/taken/bills' }, 1, /is never reached/],
  ])('changes nothing for %s', async (_what, options, code, message) => {
    const taken = `apis:\n  - { name: taken, path: /taken, contract: bills.json }\n`;
    const folder = folderOf(SETTINGS + taken);
    expect(await add(folder, options)).toMatchObject({ code, err: expect.stringMatching(message) });
    expect(settingsOf(folder)).toBe(SETTINGS + taken);
  });

  test('adds one once, and refuses options that it does not have', async () => {
    const folder = folderOf();
    expect((await add(folder, { name: 'b', path: '/b' })).code).toBe(0);
    const before = settingsOf(folder);
    expect(await add(folder, { name: 'b', path: '/b' })).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^--name is the name .*\n--path is the place of b, an API above$/m,
      ),
    });
    expect(settingsOf(folder)).toBe(before);
    const none = temporary();
    expect((await add(none, { name: 'b', path: '/b' }, 'none')).err).toBe(
      `${none} has no gateway.yaml. Write it with storegate init, without --add.\n`,
    );
    expect(await commandLine(none)(['init', '--host', 'b.example'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^--host belongs to --add/),
    });
  });

  test('says which bodies are larger than http.maxBodyBytes permits', async () => {
    const json = (schema: object) => ({ content: { 'application/json': { schema } } });
    const long = { type: 'string', maxLength: 300_000 };
    const bodies = {
      short: json({ type: 'object', properties: { a: long } }),
      long: json({
        type: 'object',
        properties: { a: { type: 'array', maxItems: 5, items: long } },
      }),
      itself: json({ $ref: '#/components/schemas/Itself' }),
      raw: { content: { 'application/octet-stream': {} } },
      form: {
        content: {
          'multipart/form-data': {
            schema: { properties: { files: { items: { contentMediaType: 'image/png' } } } },
          },
        },
      },
    };
    const paths = Object.entries(bodies).map(([operationId, requestBody]) => [
      `/${operationId}`,
      { post: { operationId, requestBody, responses: done } },
    ]);
    const document = JSON.parse(contractWith(Object.fromEntries(paths)));
    const Itself = { properties: { a: long, next: { $ref: '#/components/schemas/Itself' } } };
    document.components = { schemas: { Itself } };
    document.paths['/raw'].put = { ...document.paths['/raw'].post, operationId: 'limited' };
    document.paths['/raw'].put['x-max-body-bytes'] = 2_000_000;
    const folder = folderOf(SETTINGS, JSON.stringify(document));
    const { out } = await add(folder, { name: 'b', path: '/b' });
    expect(out.match(/^Note .*$/gm)).toEqual([
      'Note      limited (PUT /raw): x-max-body-bytes 2000000 is above http.maxBodyBytes, 1048576 applies',
      expect.stringMatching(
        /^Note {6}files as bodies of raw, form may be above http\.maxBodyBytes/,
      ),
      expect.stringMatching(/^Note {6}bodies of long may be above/),
    ]);
  });

  test('is in force after a reload of a running gateway, which keeps its port', async () => {
    const gateway = await TestGateway.start({
      settings: SETTINGS,
    });
    try {
      const { secret } = await gateway.key();
      const send = (path: string) => gateway.client.get(path).set('X-API-Key', secret);
      writeFileSync(join(gateway.folder, 'bills.json'), BILLS);
      const added = await add(gateway.folder, { name: 'bills', path: '/b' });
      expect(added).toMatchObject({ code: 0 });
      await gateway.admin.post('/reload').expect(200);
      expect((await send('/b/bills')).text).toBe('/bills');
      expect((await send('/b/other')).status).toBe(404);
    } finally {
      await gateway.stop();
    }
  });
});
