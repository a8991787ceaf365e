import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EMPTY_LIST, RecordingBackend } from '../hostile/recording-backend.ts';
import { Wire } from '../hostile/wire.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { HANDSHAKE_LINES, SWITCHED } from '../support/websocket.ts';

const CONTRACT = `
openapi: 3.0.3
info: { title: Things, version: '1' }
servers: [{ url: /v1 }]
paths:
  /things/{name}:
    parameters:
      - { name: name, in: path, required: true, schema: { type: string, pattern: '^[^ ]{1,9}$' }  }
      - { name: q, in: query, schema: { type: array, items: { type: string } }  }
    get: { responses: { '200': { description: A thing } } }
`;

const folder = temporaryFolders({ keep: true });
let backend: RecordingBackend;
let gateway: TestGateway;
let strict: TestGateway;
let secret: string;
let secretOfStrict: string;

function mountsTo(url: string): string {
  const apis = [
    'name: up, path: /up, contract: none, stripPath: false',
    'name: cut, path: /cut, contract: none, stripPath: true',
    `name: moved, path: /moved, contract: none, upstream: { url: "${url}/v1/v2" }`,
    `name: at, path: /at, contract: none, stripPath: false, target: "${url}/base"`,
    `name: cut-at, path: /cut-at, contract: none, stripPath: true, target: "${url}/base"`,
    `name: ws, path: /ws, contract: none, stripPath: true, target: "${url}/base", websocket: true`,
  ];
  return `apis: [${apis.map((api) => `{${api}}`).join(', ')}]`;
}

beforeAll(async () => {
  backend = await RecordingBackend.start((socket, { headers }) => {
    const upgrades = headers.some(([name]) => name.toLowerCase() === 'upgrade');
    socket.write(upgrades ? SWITCHED : EMPTY_LIST);
  });
  const file = join(folder(), 'things.yaml');
  writeFileSync(file, CONTRACT);
  const backendUrl = `${backend.url}/v1`;
  const settings = `contract: {file: ${file}, encodedSlash: pass, semicolon: pass}\n${mountsTo(backend.url)}`;
  gateway = await TestGateway.start({ backendUrl, settings });
  strict = await TestGateway.start({
    backendUrl,
    settings: mountsTo(backend.url),
    env: { STOREGATE_CONTRACT: 'none' },
  });
  ({ secret } = await gateway.key());
  ({ secret: secretOfStrict } = await strict.key());
});
afterAll(async () => {
  await gateway.stop();
  await strict.stop();
  await backend.close();
});

async function ask(url: string, key: string, target: string, headers: readonly string[] = []) {
  const wire = await Wire.open(url);
  const lines = [`GET ${target} HTTP/1.1`, 'Host: api', `X-API-Key: ${key}`, ...headers];
  const response = await wire.send(`${lines.join('\r\n')}\r\n\r\n`).answer();
  wire.close();
  return response;
}

const SPELT = "%c3%a9%7E;p=%3b'(a)/%61%2F@b?q=%7e&q=[{|}]`^'&q=%c3%A9&q=?&";

describe('the target reaches the backend in the bytes of the client', () => {
  test.each<[string, string, string, readonly string[]]>([
    ['an operation', '/v1/things/%c3%a9%7e?q=%7e,[]&q=', '/v1/things/%c3%a9%7e?q=%7e,[]&q=', []],
    ['an operation, with an empty query', '/%761/%74hings/a%2fb;c?', '/v1/%74hings/a%2fb;c?', []],
    ['an API without a contract to an upstream', `/%75p/${SPELT}`, `/v1/%75p/${SPELT}`, []],
    ['an API without a contract that cuts its path', `/%63ut/${SPELT}`, `/v1/${SPELT}`, []],
    ['an API without a contract that cuts its path, with an empty query', '/%63ut?', '/v1/?', []],
    ['an API without a contract that moves its path', `/mo%76ed/${SPELT}`, `/v1/v2/${SPELT}`, []],
    ['an API without a contract to a target', `/%61t/${SPELT}`, `/base/%61t/${SPELT}`, []],
    ['an API without a contract to a target, with an empty query', '/at/?', '/base/at/?', []],
    [
      'an API without a contract to a target that cuts its path',
      `/c%75t-at/${SPELT}`,
      `/base/${SPELT}`,
      [],
    ],
    ['a WebSocket', `/%77s/${SPELT}`, `/base/${SPELT}`, HANDSHAKE_LINES],
    ['the absolute form', 'http://api/up/%7e?', '/v1/up/%7e?', []],
  ])('of %s', async (_what, target, there, headers) => {
    expect((await ask(gateway.url, secret, target, headers)).status).toBe(
      headers === HANDSHAKE_LINES ? 101 : 200,
    );
    expect(backend.requests.at(-1)!.line).toBe(`GET ${there} HTTP/1.1`);
    expect(backend.complaints).toEqual([]);
  });

  test.each(['/%c3%a9%7E/a?%7e&', '/?', '/a/%2A*'])('without a contract: %s', async (target) => {
    expect((await ask(strict.url, secretOfStrict, target)).status).toBe(200);
    expect(backend.requests.at(-1)!.line).toBe(`GET /v1${target} HTTP/1.1`);
  });
});

describe('an encoded slash and a semicolon', () => {
  test.each(['/v1/things/123456789%2F', '/v1/things/1234567890'])(
    'by setting are one character of a parameter: %s',
    async (target) => {
      const refusal = { status: 400, code: 'invalid_request' };
      expect(await ask(gateway.url, secret, target)).toMatchObject(refusal);
      expect((await ask(gateway.url, secret, '/v1/things/12345678%2F')).status).toBe(200);
      expect((await ask(gateway.url, secret, '/v1/things/12345678;')).status).toBe(200);
    },
  );
});
