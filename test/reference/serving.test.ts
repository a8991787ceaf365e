import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { parse } from 'yaml';
import { done, head } from '../../packages/openapi/test/documents.ts';
import { errorCodesOf } from '../../src/common/errors/catalogue.ts';
import { folderWith } from '../config/folder.ts';
import { carriesTheHeadersOfEveryAnswer, isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

/** Not decoded, unlike with supertest. */
async function raw(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const {
    statusCode,
    headers: received,
    body,
  } = await request(gateway.url + path, { method, headers });
  return {
    status: statusCode,
    headers: received as Record<string, string>,
    body: Buffer.from(await body.arrayBuffer()),
  };
}

async function assets(): Promise<string[]> {
  const page = (await raw('/docs/')).body.toString();
  return [
    ...new Set(
      [...page.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, path]) => path!),
    ),
  ];
}

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('/', () => {
  test('redirects a browser to the page, without a key', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await raw('/', HTML, method);
      expect([status, headers.location]).toEqual([302, '/docs/']);
    }
  });

  test('is an unknown path for all other requests', async () => {
    const { secret } = await gateway.key();
    expect((await raw('/', { accept: '*/*' })).status).toBe(401);
    expect((await raw('/')).status).toBe(401);
    expect((await raw('/', HTML, 'POST')).status).toBe(401);
    expect((await raw('/', { accept: '*/*', 'x-api-key': secret })).status).toBe(404);
    expect((await raw('/pets', HTML)).status).toBe(401);
  });

  test.each(['get', 'post'])('does not redirect if the contract has it: %s', async (method) => {
    const paths = { '/': { [method]: { responses: done } } };
    const folder = folderWith({ 'contract.json': JSON.stringify({ ...head, paths }) });
    const other = await TestGateway.start({
      env: { STOREGATE_CONTRACT: `${folder}/contract.json` },
    });
    expect((await other.client.get('/').set(HTML)).status).toBe(401);
    await other.stop();
  });
});

describe('the page', () => {
  test('has a policy that allows this origin and nothing inline but the import map', async () => {
    const { headers, body } = await raw('/docs/');
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const [, map] = /<script type="importmap">(.*?)<\/script>/.exec(body.toString())!;
    const hash = createHash('sha256').update(map!).digest('base64');
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`);
    const page = body.toString().replace('<script type="importmap">', '');
    expect(page).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=/);
    expect(body.toString()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  test('has an entry for every error code of the gateway, and its own operation', async () => {
    const page = (await raw('/docs/')).body.toString();
    for (const { code } of errorCodesOf({ isAlone: true }))
      expect(page).toContain(`id="errors-${code}"`);
    expect(page).toContain('title="/usage"');
  });

  test('weighs less than 90 kB with all its files, compressed', async () => {
    const paths = ['/docs/', '/openapi.json', ...(await assets())];
    const sizes = await Promise.all(
      paths.map(async (path) => (await raw(path, { 'accept-encoding': 'br' })).body.length),
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(90_000);
  });

  test('is found without its slash, and not found if it is disabled, also from /', async () => {
    const redirect = await raw('/docs');
    expect([redirect.status, redirect.headers.location]).toEqual([308, '/docs/']);
    const without = await TestGateway.start({ settings: 'reference: { enabled: false }' });
    expect((await without.client.get('/').set(HTML)).status).toBe(401);
    const { secret } = await without.key();
    for (const path of ['/docs', '/docs/', '/openapi.json', '/openapi.yaml']) {
      const response = await without.client.get(path).set('X-API-Key', secret);
      isTheError(response, 404, 'not_found', { hasReference: false });
      expect((await without.client.get(path)).status).toBe(401);
    }
    await without.stop();
  });
});

describe('its files', () => {
  test('are named after their content and cached for ever', async () => {
    const paths = await assets();
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      const { status, headers } = await raw(path);
      expect([path, status, headers['cache-control']]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  test('have their types stripped, and only then are JavaScript', async () => {
    const modules = (await assets()).filter((path) => path.endsWith('.ts'));
    for (const path of modules) {
      const { headers, body } = await raw(path);
      expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
      expect(body.toString()).not.toMatch(/^(?:export )?interface |import type/m);
    }
  });

  test.each([
    '/docs/nothing',
    '/docs/assets/',
    '/docs/assets/old/packages/marked.js',
    '/docs/%E0%A4%A',
    '/docs/..%2fpackage.json',
  ])('are the only ones: %s', async (path) => {
    const { status, headers, body } = await raw(path);
    expect([400, 404]).toContain(status);
    expect(JSON.parse(body.toString())).toMatchObject({ status });
    carriesTheHeadersOfEveryAnswer({ headers });
  });
});

describe('every response', () => {
  test('has the limit headers, charges no client and needs no key', async () => {
    const first = await raw('/docs/');
    for (const path of [
      '/docs/',
      '/docs',
      '/openapi.json',
      '/openapi.yaml',
      ...(await assets()).slice(0, 3),
    ]) {
      const { headers } = await raw(path);
      carriesTheHeadersOfEveryAnswer({ headers });
      expect(headers['x-ratelimit-remaining']).toBe(first.headers['x-ratelimit-remaining']);
    }
  });

  test('has an encoding that the client accepts', async () => {
    const plain = await raw('/openapi.json');
    const br = await raw('/openapi.json', { 'accept-encoding': 'gzip, br' });
    const gzip = await raw('/openapi.json', { 'accept-encoding': 'gzip' });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect([br.headers['content-encoding'], brotliDecompressSync(br.body)]).toEqual([
      'br',
      plain.body,
    ]);
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.body)]).toEqual(['gzip', plain.body]);
    expect(br.headers.vary).toContain('Accept-Encoding');
  });

  test('is not sent again to a client that has it', async () => {
    const { headers } = await raw('/docs/', { 'accept-encoding': 'br' });
    expect(headers['cache-control']).toBe('no-cache');
    const again = await raw('/docs/', { 'accept-encoding': 'br', 'if-none-match': headers.etag! });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    carriesTheHeadersOfEveryAnswer(again);
    for (const path of [
      '/openapi.json',
      '/openapi.yaml',
      (await assets()).find((path) => path.endsWith('marked.js'))!,
    ]) {
      const { headers } = await raw(path, {}, 'HEAD');
      for (const existing of ['*', headers.etag!.replace('W/', ''), `"other", ${headers.etag}`]) {
        const again = await raw(path, { 'if-none-match': existing });
        expect([again.status, again.body.length, again.headers.etag]).toEqual([
          304,
          0,
          headers.etag,
        ]);
      }
      expect((await raw(path, { 'if-none-match': '"other"' }, 'HEAD')).status).toBe(200);
    }
  });

  test('to HEAD has no body, and other methods are refused', async () => {
    const head = await raw('/docs/', {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    const post = await gateway.client.post('/docs/');
    isTheError(post, 405, 'method_not_allowed');
    expect(post.headers.allow).toBe('GET, HEAD');
  });
});

test('JSON and YAML are the same published contract', async () => {
  const json = JSON.parse((await raw('/openapi.json')).body.toString());
  expect(parse((await raw('/openapi.yaml')).body.toString())).toEqual(json);
  expect(json.paths['/store/orders'].get).toMatchObject({
    'x-try-it': false,
    'x-hideTryItPanel': true,
  });
});
