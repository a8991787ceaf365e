import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EMPTY_LIST, RecordingBackend, valuesOf } from '../hostile/recording-backend.ts';
import { Wire, type WireAnswer } from '../hostile/wire.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { HANDSHAKE_LINES, SWITCHING } from '../support/websocket.ts';

const HSTS = 'max-age=63072000; includeSubDomains';
const TOKEN = 's3cr3t-of-the-backend';
const SETTINGS = `
headers:
  request:
    set: { X-Internal-Token: { file: token }, X-Edge: eu, Accept-Encoding: br }
    remove: [X-Debug]
  response:
    set: { Strict-Transport-Security: ${HSTS}, X-Frame-Options: DENY, Cache-Control: no-cache }
    remove: [Server, x-powered-by, X-Accel-Redirect]
`;
/** What a backend adds that the rules replace or remove, and what stays. */
const OF_BACKEND =
  'Server: a\r\nX-Powered-By: b\r\nx-frame-options: SAMEORIGIN\r\nX-Accel-Redirect: /c\r\nCache-Control: max-age=9\r\nX-Accel-Buffering: no\r\n';

const folder = temporaryFolders({ keep: true });
const responses = {
  200: { description: 'Good.', content: { 'application/json': { schema: {} } } },
  304: { description: 'Unchanged.' },
};
const operation = (more: object = {}) => ({ responses, ...more });
const CONTRACT = {
  openapi: '3.1.0',
  info: { title: 'Rules', version: '1' },
  paths: {
    '/whole': { get: operation(), post: operation(), options: operation() },
    '/streamed': { get: operation() },
    '/unchanged': { get: operation() },
    '/reset': { get: operation() },
    '/broken': { get: operation() },
    '/invalid': {
      get: {
        responses: {
          200: {
            description: 'A number.',
            content: { 'application/json': { schema: { type: 'number' } } },
          },
        },
      },
    },
    '/limited': { get: operation({ 'x-ratelimit': '1/day' }) },
    '/old': { get: operation({ 'x-sunset': '2020-01-01', deprecated: true }) },
  },
};

let backend: RecordingBackend;
let gateway: TestGateway;
let secret: string;
let token: string;

beforeAll(async () => {
  let resets = 0;
  backend = await RecordingBackend.start((socket, { line }) => {
    const [, path = ''] = line.split(' ');
    if (path.startsWith('/live')) socket.write(`${SWITCHING}${OF_BACKEND}\r\n`);
    else if (path === '/streamed')
      socket.write(
        `HTTP/1.1 200 OK\r\n${OF_BACKEND}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`,
      );
    else if (path === '/unchanged')
      socket.write(`HTTP/1.1 304 Not Modified\r\n${OF_BACKEND}ETag: "a"\r\n\r\n`);
    else if (path === '/reset' && resets++ === 0) socket.destroy();
    else if (path === '/broken') socket.end('HTTP/1.1 nonsense\r\n\r\n');
    else socket.write(EMPTY_LIST.replace('\r\n', `\r\n${OF_BACKEND}`));
  });
  const file = join(folder(), 'openapi.json');
  writeFileSync(file, JSON.stringify(CONTRACT));
  token = join(folder(), 'token');
  writeFileSync(token, `${TOKEN}\n`);
  gateway = await TestGateway.start({
    backendUrl: backend.url,
    settings: `contract: { file: "${file}", responses: enforce, afterSunset: refuse }
apis:
  - { name: live, path: /live, contract: none, stripPath: false, websocket: true }
cors: { origins: [https://shop.example] }
${SETTINGS.replace('file: token', `file: "${token}"`)}`,
  });
  secret = (await gateway.key()).secret;
});
afterAll(async () => {
  await gateway.stop();
  await backend.close();
});

interface Asked {
  readonly line: string;
  readonly headers?: readonly string[];
  readonly hasKey?: boolean;
}

async function ask({ line, headers = [], hasKey = true }: Asked): Promise<WireAnswer> {
  const wire = await Wire.open(gateway.url);
  const all = ['Host: api.example', ...(hasKey ? [`X-API-Key: ${secret}`] : []), ...headers];
  const full = line.includes(' HTTP/') ? line : `${line} HTTP/1.1`;
  const response = await wire
    .send(`${full}\r\n${all.map((one) => `${one}\r\n`).join('')}\r\n`)
    .answer({ head: line.startsWith('HEAD') });
  wire.close();
  return response;
}

const ORIGIN = 'Origin: https://shop.example';

describe('rules for responses hold for', () => {
  test.each<readonly [kind: string, status: number, asked: Asked]>([
    ['a response of a backend', 200, { line: 'GET /whole' }],
    ['its repetition', 200, { line: 'GET /whole' }],
    ['a streamed response', 200, { line: 'GET /streamed' }],
    ['a response to an unchanged entity', 304, { line: 'GET /unchanged' }],
    ['a response after a retry', 200, { line: 'GET /reset' }],
  ])('%s', async (_kind, status, asked) => {
    const { headers, ...response } = await ask(asked);
    expect(response.status).toBe(status);
    expect(headers).toMatchObject({
      'strict-transport-security': HSTS,
      'x-frame-options': 'DENY',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      // The gateway's own.
      vary: expect.stringContaining('X-API-Key'),
      'x-request-id': expect.any(String),
      'x-ratelimit-limit': expect.any(String),
      via: expect.any(String),
    });
    for (const name of ['server', 'x-powered-by', 'x-accel-redirect'])
      expect(headers).not.toHaveProperty(name);
  });

  test.each<readonly [kind: string, status: number, asked: Asked]>([
    ['an unknown key', 401, { line: 'GET /whole', hasKey: false }],
    [
      'an unknown key, as problem',
      401,
      { line: 'GET /whole', hasKey: false, headers: ['Accept: application/problem+json'] },
    ],
    ['an unknown path', 404, { line: 'GET /none' }],
    ['an unknown method', 405, { line: 'DELETE /whole' }],
    ['an invalid request', 400, { line: 'GET /whole?a=1' }],
    ['a limit, not yet reached', 200, { line: 'GET /limited' }],
    ['a limit', 429, { line: 'GET /limited' }],
    ['an operation after its sunset', 410, { line: 'GET /old' }],
    [
      'a body that is too large',
      413,
      { line: 'POST /whole', headers: ['Content-Length: 99999999'] },
    ],
    ['a backend that breaks off', 502, { line: 'GET /broken' }],
    ['a response that violates the contract', 502, { line: 'GET /invalid' }],
    [
      'a preflight',
      204,
      {
        line: 'OPTIONS /whole',
        hasKey: false,
        headers: [ORIGIN, 'Access-Control-Request-Method: GET'],
      },
    ],
    ['a page', 200, { line: 'GET /docs/', hasKey: false }],
    ['a page that is not found', 404, { line: 'GET /docs/none', hasKey: false }],
    ['the home', 302, { line: 'GET /', hasKey: false, headers: ['Accept: text/html'] }],
    ['the contract', 200, { line: 'GET /openapi.json', hasKey: false }],
    ['the usage', 200, { line: 'GET /usage' }],
    ['bytes that are no request', 400, { line: 'GET /whole\x01 HTTP/1.1' }],
    ['a version that is not supported', 505, { line: 'GET /whole HTTP/3.0' }],
  ])('a response of the gateway itself: %s', async (_kind, status, asked) => {
    const { headers, ...response } = await ask(asked);
    expect(response.status).toBe(status);
    expect(headers['strict-transport-security']).toBe(HSTS);
    // Each once: the gateway's own field stays.
    expect(headers['x-frame-options']).toMatch(/^DENY$/);
    expect(headers['cache-control']).not.toMatch(/no-cache.*no-cache/);
    if (status >= 400) expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('rules for requests', () => {
  const forged = [
    'X-Edge: forged',
    'X_Internal.Token: forged',
    'x-debug: 1',
    'X-Fine: 2',
    'Connection: X-Internal-Token, X-Edge',
  ];

  test.each<readonly [kind: string, path: string, headers: readonly string[]]>([
    ['an operation', '/whole', []],
    ['a WebSocket', '/live/a', HANDSHAKE_LINES.slice(1)],
  ])('replace what a client sent: %s', async (_kind, path, more) => {
    const upgrade = more.length > 0 ? ['Connection: Upgrade'] : [];
    await ask({ line: `GET ${path}`, headers: [...forged, ...upgrade, ...more] });
    const received = backend.requests.at(-1)!;
    expect(received.line).toContain(path);
    expect(valuesOf(received, 'x-internal-token')).toEqual([TOKEN]);
    expect(valuesOf(received, 'x_internal.token')).toEqual([]);
    expect(valuesOf(received, 'x-edge')).toEqual(['eu']);
    expect(valuesOf(received, 'x-debug')).toEqual([]);
    expect(valuesOf(received, 'x-fine')).toEqual(['2']);
    expect(valuesOf(received, 'x-storegate-plan')).toEqual(['free']);
  });

  test('ask for no encoding of a response that is checked', async () => {
    await ask({ line: 'GET /whole', headers: ['Accept-Encoding: gzip'] });
    expect(valuesOf(backend.requests.at(-1)!, 'accept-encoding')).toEqual([]);
    await ask({ line: 'GET /live/b', headers: ['Accept-Encoding: gzip'] });
    expect(valuesOf(backend.requests.at(-1)!, 'accept-encoding')).toEqual(['br']);
  });

  test('read the file of a value again once it changes', async () => {
    writeFileSync(token, 's3cr3t-that-is-new');
    await until('the backend gets the new value', async () => {
      await ask({ line: 'GET /whole' });
      return valuesOf(backend.requests.at(-1)!, 'x-internal-token')[0] === 's3cr3t-that-is-new';
    });
    expect(gateway.log.find(({ msg }) => msg === 'reload.done')).toMatchObject({
      changed: ['headers.request.set'],
    });
  });

  test('show no secret', async () => {
    const settings = await gateway.admin.get('/config');
    const recent = await gateway.admin.get('/requests');
    expect([settings.status, recent.status]).toEqual([200, 200]);
    for (const text of [settings.text, recent.text, JSON.stringify(gateway.log)])
      expect(text).not.toContain('s3cr3t');
  });
});
