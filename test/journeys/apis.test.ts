import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { done } from '../../packages/openapi/test/documents.ts';
import { CATALOGUE } from '../../src/common/errors/catalogue.ts';
import { adminOf } from '../support/admin.ts';
import { DocumentClient } from '../support/document-client.ts';
import { carriesTheHeadersOfEveryAnswer } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'apis-'));
const file = (name: string) => join(folder, `${name}.json`);
const integer = { schema: { type: 'integer' } };
const write = (name: string, document: object) =>
  writeFileSync(file(name), JSON.stringify({ info: { title: name, version: '1' }, ...document }));

/** Both have an operation `list` and a schema `Item`. */
function writeContracts(): void {
  write('notes', {
    openapi: '3.1.0',
    components: { schemas: { Item: { type: ['integer', 'null'] } } },
    paths: {
      '/list': {
        get: {
          operationId: 'list',
          'x-ratelimit': [{ limit: 30, per: 'minute' }],
          parameters: [{ name: 'n', in: 'query', schema: { $ref: '#/components/schemas/Item' } }],
          responses: done,
        },
      },
      '/moved': { get: { operationId: 'moved', responses: done } },
      '/open': {
        get: {
          operationId: 'open',
          security: [],
          'x-ratelimit': '2/minute',
          responses: done,
        },
      },
    },
  });
  write('shop', {
    openapi: '3.0.3',
    servers: [{ url: 'https://shop.example/shop/v1' }],
    components: { schemas: { Item: { type: 'string', maxLength: 3 } } },
    paths: {
      '/list': {
        get: {
          operationId: 'list',
          parameters: [{ name: 'n', in: 'query', schema: { $ref: '#/components/schemas/Item' } }],
          responses: done,
        },
      },
      '/things/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, ...integer }],
        get: { operationId: 'thing', responses: done },
      },
      '/open': { get: { operationId: 'open', security: [], responses: done } },
    },
  });
}

const PLANS = `plans:
  free: { windows: [{ limit: 1000, per: minute }] }
  tight:
    windows:
      - { limit: 6, per: minute }
      - { limit: 2, per: minute, api: notes }
      - { limit: 1, per: hour, api: files }
`;

let backends: FakeBackend[];
let gateway: TestGateway;
let secret: string;
beforeAll(async () => {
  writeContracts();
  backends = await Promise.all(
    ['notes', 'shop', 'files'].map((name) =>
      fakeBackend((request, response) => {
        if (request.url === '/moved')
          response.writeHead(302, { Location: '/list', 'Set-Cookie': 'a=b; Path=/' }).end();
        else response.end(`${name} ${request.method} ${request.url}`);
      }),
    ),
  );
  const [notes, shop, files] = backends.map(({ url }) => url);
  const apis = [
    { name: 'notes', path: '/n', contract: file('notes'), upstream: { url: notes } },
    {
      name: 'shop',
      path: '/shop',
      contract: { file: file('shop') },
      upstream: { url: shop },
      keys: { headers: ['X-Shop-Key'] },
      cors: { origins: ['https://shop.example'] },
    },
    {
      name: 'files',
      host: '*.files.example',
      contract: 'none',
      upstream: { url: `${files}/base` },
    },
    // Resolves to the address of the gateway.
    {
      name: 'local',
      host: 'localhost',
      path: '/l',
      contract: file('shop'),
      upstream: { url: shop },
    },
  ];
  gateway = await TestGateway.start({
    settings: JSON.stringify({ apis }),
    env: { STOREGATE_CONTRACT: '' },
    plans: PLANS,
  });
  ({ secret } = await gateway.key());
});
afterAll(async () => {
  await gateway.stop();
  for (const backend of backends) await backend.close();
  rmSync(folder, { recursive: true });
});

const ask = (path: string, headers: Record<string, string> = {}) =>
  gateway.client.get(path).set({ 'X-API-Key': secret, ...headers });

describe('several APIs', () => {
  test.each<[string, string, Record<string, string>, number, string]>([
    ['below its path', '/n/list?n=1', {}, 200, 'notes GET /list?n=1'],
    ['in another spelling', '/%6E/%6Cist', {}, 200, 'notes GET /%6Cist'],
    ['below a path that its contract has', '/shop/v1/list?n=abc', {}, 200, '/shop/v1/list?n=abc'],
    ['at a host', '/a/b', { Host: 'one.Files.Example:8080' }, 200, 'files GET /base/a/b'],
    ['checked by its own contract', '/n/list?n=x', {}, 400, 'must be an integer or null'],
    ['checked by the other contract', '/shop/v1/list?n=abcd', {}, 400, 'at most 3 characters'],
    ['without an operation', '/n/lists', {}, 404, 'Did you mean /n/list?'],
    ['of no API', '/list', {}, 404, 'No operation matches GET /list."'],
    ['of a host without its path', '/n/list', { Host: 'other.example' }, 200, 'notes GET /list'],
  ])('have a request %s', async (_what, path, headers, status, text) => {
    const response = await ask(path, { 'X-Shop-Key': secret, ...headers });
    expect([response.status, response.text]).toEqual([status, expect.stringContaining(text)]);
  });

  test('have key headers and CORS of their own', async () => {
    expect((await ask('/shop/v1/list')).status).toBe(401);
    const origin = { Origin: 'https://shop.example', 'X-Shop-Key': secret };
    const shared = 'access-control-allow-origin';
    expect((await ask('/shop/v1/list', origin)).headers[shared]).toBe('https://shop.example');
    expect((await ask('/n/moved', origin)).headers[shared]).toBe('*');
    expect((await gateway.client.get('/nowhere')).status).toBe(401);
  });

  test('get their places back in responses', async () => {
    const { headers } = await ask('/n/moved');
    expect([headers.location, headers['set-cookie']]).toEqual(['/n/list', ['a=b; Path=/n']]);
    expect(backends[0]!.seen.at(-1)!.headers['x-forwarded-prefix']).toBe('/n');
  });

  test('are in the names of operations, limits and metrics', async () => {
    const { body } = await ask('/n/usage');
    expect(Object.keys(body.costs)).toEqual([
      'notes/list',
      'notes/moved',
      'notes/open',
      'shop/list',
      'shop/thing',
      'shop/open',
      'local/list',
      'local/thing',
      'local/open',
    ]);
    const limited = await ask('/n/list');
    expect(limited.headers['ratelimit-policy']).toContain('"notes/list:minute";q=30');
    const { text } = await gateway.admin.get('/metrics');
    for (const [api, operation] of [
      ['notes', 'list'],
      ['notes', 'none'],
      ['shop', 'list'],
      ['files', 'undescribed'],
    ])
      expect(text).toContain(`storegate_requests_total{api="${api}",operation="${operation}"`);
    expect(text).toContain('storegate_requests_total{operation="usage"');
    const id = limited.headers['x-request-id'];
    const admin = adminOf(gateway.adminUrl);
    const { body: explained } = await admin('GET', `/requests/${id}`);
    expect(explained).toMatchObject({ operation: 'notes/list', path: '/n/list' });
    const line = gateway.log.find((one) => one.msg === 'request' && one.id === id)!;
    expect(line).toMatchObject({ api: 'notes', operation: 'notes/list' });
  });

  test('are counted together, and by windows of their own', async () => {
    const { secret: own, id } = await gateway.key({ plan: 'tight' });
    const sent = (path: string, headers = {}) =>
      ask(path, { 'X-API-Key': own, 'X-Shop-Key': own, ...headers });
    const files = { Host: 'a.files.example' };
    const limitsIn = async (path: string, headers = {}) => {
      const { status, headers: got } = await sent(path, headers);
      return `${status} ${got.ratelimit!.replace(/;t=\d+/g, '')}`;
    };
    expect(await limitsIn('/n/moved')).toBe('302 "minute";r=5, "minute@notes";r=1');
    expect(await limitsIn('/n/nothing')).toBe('404 "minute";r=4, "minute@notes";r=0');
    expect(await limitsIn('/shop/v1/list')).toBe('200 "minute";r=3');
    expect(await limitsIn('/any', files)).toBe('200 "minute";r=2, "hour@files";r=0');
    const refused = await sent('/n/moved');
    expect(refused.body).toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringMatching(/^Limit of 2 per minute for the API notes exceeded: /),
    });
    expect((await sent('/any', files)).status).toBe(429);
    expect(await limitsIn('/shop/v1/list')).toBe('200 "minute";r=1');
    const { body } = await sent('/usage');
    const used = body.windows.map(({ name, used }: { name: string; used: number }) => [name, used]);
    expect(used).toEqual(
      expect.arrayContaining([
        ['minute', 5],
        ['minute@notes', 2],
        ['hour@files', 1],
      ]),
    );

    const admin = adminOf(gateway.adminUrl);
    const { body: explained } = await admin('GET', `/requests/${refused.headers['x-request-id']}`);
    expect(explained.decision.violated).toBe('minute@notes');
    await admin('POST', `/usage/${id}/grant`, { units: 1, window: 'minute@notes' });
    expect(await limitsIn('/n/moved')).toBe('302 "minute";r=0, "minute@notes";r=0');
    const draft = { limits: '1/minute@notes', drop: ['hour@files'] };
    const { body: simulated } = await admin('POST', '/plans/tight/simulate', draft);
    expect(simulated.after).toBe('6/minute,1/minute@notes');
    expect(simulated.lastDay.windows).toMatchObject([
      { name: 'minute', limited: 0 },
      { name: 'minute@notes', limited: 1, counted: true },
    ]);
  });

  test('are named by limits of keys, which no other name has', async () => {
    const admin = adminOf(gateway.adminUrl);
    const create = (limits: string) =>
      admin('POST', '/keys', { plan: 'free', account: 'acme', limits });
    const { body } = await create('9/minute@notes');
    expect(body.limits).toBe('9/minute@notes');
    const headers = { 'X-API-Key': body.key, 'X-Shop-Key': body.key };
    const policy = async (path: string) => (await ask(path, headers)).headers['ratelimit-policy'];
    expect(await policy('/n/moved')).toBe('"minute@notes";q=9;w=60');
    // No window counts the request, so none makes it wait.
    const uncounted = await ask('/shop/v1/list', headers);
    carriesTheHeadersOfEveryAnswer(uncounted);
    expect(uncounted.headers.ratelimit).toBe('"minute@notes";r=8;t=0');
    expect(Number(uncounted.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(Date.now() / 1000);
    const { status, body: refused } = await create('9/minute@note');
    expect([status, refused.message]).toEqual([
      400,
      'The API of a limit must be the name of an API: notes, shop, files, local, is "note".',
    ]);
  });

  test('may be all that a key is for', async () => {
    const admin = adminOf(gateway.adminUrl);
    const { body: made } = await admin('POST', '/keys', {
      plan: 'free',
      account: 'acme',
      apis: ['notes'],
    });
    expect(made.apis).toEqual(['notes']);
    let key = made.key;
    const sent = (path: string, headers = {}) =>
      ask(path, { 'X-API-Key': key, 'X-Shop-Key': key, ...headers });
    expect((await sent('/n/list')).status).toBe(200);
    const refused = await sent('/shop/v1/nothing');
    expect(refused.body).toMatchObject({
      status: 403,
      code: 'api_not_allowed',
      message: `This API key may only be used for notes. ${CATALOGUE.api_not_allowed.advice}`,
    });
    expect(refused.headers['x-ratelimit-remaining']).toBe('998');
    expect((await sent('/any', { Host: 'a.files.example' })).status).toBe(403);
    const id = refused.headers['x-request-id'];
    const { body: explained } = await admin('GET', `/requests/${id}`);
    expect(explained).toMatchObject({ code: 'api_not_allowed', step: 'contract' });
    for (const path of ['/usage', '/n/usage', '/shop/v1/usage'])
      expect((await sent(path)).body.key.apis).toEqual(['notes']);

    ({ key } = (await admin('POST', `/keys/${made.id}/rotate`, { overlap: '0s' })).body);
    expect((await sent('/shop/v1/list')).body.code).toBe('api_not_allowed');
    const patch = (apis: unknown) => admin('PATCH', `/keys/${made.id}`, { apis });
    expect((await patch(['shop'])).body.apis).toEqual(['shop']);
    const keysOf = async (api: string) => (await admin('GET', `/keys?api=${api}`)).body.keys;
    expect(await keysOf('shop')).toEqual([expect.objectContaining({ id: made.id })]);
    expect(await keysOf('notes')).toEqual([]);
    expect((await sent('/shop/v1/list')).status).toBe(200);
    expect((await sent('/n/list')).status).toBe(403);
    const { status, body } = await patch(['shop', 'note']);
    expect([status, body.message]).toEqual([
      400,
      'The API of a key must be the name of an API: notes, shop, files, local, is "note".',
    ]);
    expect((await patch(null)).body.apis).toBeUndefined();
    expect((await sent('/n/list')).status).toBe(200);
    expect((await sent('/usage')).body.key.apis).toBeUndefined();
    const { body: audit } = await admin('GET', `/audit?target=${made.id}&limit=1`);
    expect(audit.entries[0].before.apis).toEqual(['shop']);
  });

  test('share the counters of an address without a key', async () => {
    const open = async (path: string) => (await gateway.client.get(path)).status;
    expect([await open('/n/open'), await open('/shop/v1/open')]).toEqual([200, 200]);
    expect([await open('/n/open'), await open('/n/open')]).toEqual([200, 429]);
    expect(await open('/shop/v1/open')).toBe(200);
  });

  test('are filters and a column of what operators list', async () => {
    const of = async (path: string) => (await adminOf(gateway.adminUrl)('GET', path)).body;
    const operationsIn = (items: { operation: string }[]) =>
      [...new Set(items.map(({ operation }) => operation))].sort();
    const { id, secret: own } = await gateway.key();
    for (const path of ['/n/list', '/shop/v1/list'])
      await ask(path, { 'X-API-Key': own, 'X-Shop-Key': own });
    const { requests, calls } = await of(`/requests?api=shop&key=${id}`);
    expect([requests, operationsIn(calls)]).toEqual([[], ['shop/list']]);
    const ofNotes = ['notes/list', 'notes/moved', 'notes/none', 'notes/open'];
    expect(operationsIn((await of('/requests?api=notes')).requests)).toEqual(ofNotes);
    expect(operationsIn((await of('/top?by=operations&api=notes')).items)).toEqual(ofNotes);
    const report = await of('/usage/report?by=api');
    expect(report.rows.map((row: { api: string }) => row.api).sort()).toEqual(
      ['files', 'notes', 'shop', null].sort(),
    );
    const ofOne = await of('/usage/report?by=api,operation&api=files');
    expect(ofOne.rows).toEqual([
      expect.objectContaining({ api: 'files', operation: 'files/undescribed' }),
    ]);
    const [{ requests: sent }] = ofOne.rows;
    gateway.clock.pass(120_000);
    const { steps } = await of('/history?api=files');
    expect(steps).toEqual([expect.objectContaining({ requests: sent })]);
    for (const path of ['requests', 'top', 'usage/report', 'history', 'keys'])
      expect((await of(`/${path}?api=note`)).message).toBe(
        'The API "note" does not exist. Did you mean "notes"? Known APIs: notes, shop, files, local.',
      );
  });

  test('have references of their own, each with its version, and one list', async () => {
    const list = await gateway.client.get('/docs/');
    for (const name of ['notes', 'shop']) expect(list.text).toContain(`href="/docs/${name}/"`);
    expect(list.text).not.toContain('href="/docs/files/"');
    const { headers } = await ask('/n/list?n=x');
    const [, help] = /<(.*)>; rel="help"/.exec(headers.link!)!;
    expect(help).toBe('/docs/#errors-invalid_request');
    expect(list.text).toContain('id="errors-invalid_request"');
    for (const [name, version] of [
      ['notes', '3.1.0'],
      ['shop', '3.0.3'],
    ]) {
      expect((await gateway.client.get(`/docs/${name}/`)).text).toContain(`<h1 id="title">${name}`);
      const { body } = await gateway.client.get(`/docs/${name}/openapi.json`);
      expect(body.openapi).toBe(version);
    }
    const { body } = await gateway.client.get('/docs/notes/openapi.json');
    expect(body.servers).toEqual([expect.objectContaining({ url: '/n' })]);
  });

  test.each(['json', 'yaml'])('at a host have it in %s, read at any host', async (type) => {
    const path = `/docs/local/openapi.${type}`;
    const { port } = new URL(gateway.url);
    const serversAt = async (headers: Record<string, string>) => {
      const { text } = await gateway.client.get(path).set(headers);
      return parse(text).servers.map(({ url }: { url: string }) => url);
    };
    expect(await serversAt({})).toEqual([`http://localhost:${port}/l/shop/v1`]);
    for (const Host of ['docs.example', 'localhost', 'docs.example:80', 'docs.example:99999'])
      expect(await serversAt({ Host })).toEqual(['http://localhost/l/shop/v1']);
    const proxied = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'docs.example:8443' };
    expect(await serversAt({ Host: 'a', ...proxied })).toEqual(['http://localhost/l/shop/v1']);
    const [first, other] = await Promise.all(
      ['a', 'a:81'].map((Host) =>
        gateway.client.head(path).set({ Host, 'Accept-Encoding': 'gzip' }),
      ),
    );
    expect(first!.headers.etag).not.toBe(other!.headers.etag);
    const codings = [first, other].map((one) => one!.headers['content-encoding']);
    expect(codings).toEqual(['gzip', undefined]);
  });

  test('at a host get the requests of a client that is generated at another host', async () => {
    const credentials = { 'x-api-key': secret, bearer: secret };
    const url = `${gateway.url}/docs/local/openapi.json`;
    const client = await DocumentClient.from(url, credentials);
    const response = await client.call('list');
    expect([response.status, await response.text()]).toEqual([200, 'shop GET /shop/v1/list']);
  });

  test('reload without the one whose contract is refused', async () => {
    const settings = join(gateway.folder, 'gateway.yaml');
    const before = readFileSync(settings, 'utf8');
    writeFileSync(file('notes'), '{');
    writeFileSync(settings, before.replace('"/shop"', '"/shop/v1"').replace('"/n"', '"/n2"'));
    const { status } = await adminOf(gateway.adminUrl)('POST', '/reload');
    expect(status).toBe(200);
    expect((await ask('/n2/list?n=x')).status).toBe(400);
    expect((await ask('/n/list')).status).toBe(404);
    const failed = gateway.log.find(({ msg }) => msg === 'reload.failed')!;
    expect(failed.problems).toEqual([
      expect.stringMatching(/^the API notes keeps its contract: .*notes\.json/),
    ]);
    const { text } = await gateway.admin.get('/metrics');
    expect(text).toMatch(/storegate_config_last_reload_successful 0/);
    writeContracts();
    writeFileSync(settings, before);
    expect((await adminOf(gateway.adminUrl)('POST', '/reload')).status).toBe(200);
    expect((await ask('/n/moved')).status).toBe(302);
  });

  test('cannot go while a plan names them', async () => {
    const settings = join(gateway.folder, 'gateway.yaml');
    const before = readFileSync(settings, 'utf8');
    writeFileSync(settings, before.replace('"name":"files"', '"name":"docs"'));
    const { status, body } = await adminOf(gateway.adminUrl)('POST', '/reload');
    expect([status, body.message]).toEqual([
      422,
      expect.stringContaining(
        'plans.yaml:7:37 plans.tight.windows[2].api: must be the name of an API: notes, shop, docs, local, is "files"',
      ),
    ]);
    writeFileSync(settings, before);
  });
});
