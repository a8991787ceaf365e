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
let secret: string;

function mountsTo(url: string): string {
  const apis = [
    'name: up, path: /up, contract: none, stripPath: false',
    'name: cut, path: /cut, contract: none, stripPath: true',
    `name: moved, path: /moved, contract: none, upstream: { url: "${url}/v1/v2" }`,
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
  ({ secret } = await gateway.key());
});
afterAll(async () => {
  await gateway.stop();
  await backend.close();
});

async function ask(target: string, headers: readonly string[] = []) {
  const wire = await Wire.open(gateway.url);
  const lines = [`GET ${target} HTTP/1.1`, 'Host: api', `X-API-Key: ${secret}`, ...headers];
  const response = await wire.send(`${lines.join('\r\n')}\r\n\r\n`).answer();
  wire.close();
  return response;
}

const SPELT = "%c3%a9%7E;p=%3b'(a)/%61%2F@b?q=%7e&q=[{|}]`^'&q=%c3%A9&q=?&";

describe('the target reaches the backend in the bytes of the client', () => {
  test.each<[string, string, string, readonly string[]]>([
    ['an operation, with an empty query', '/%761/%74hings/a%2fb;c?', '/v1/%74hings/a%2fb;c?', []],
    ['an API without a contract that cuts its path', `/%63ut/${SPELT}`, `/v1/${SPELT}`, []],
    ['an API without a contract that cuts its path, with an empty query', '/%63ut?', '/v1/?', []],
    ['an API without a contract that moves its path', `/mo%76ed/${SPELT}`, `/v1/v2/${SPELT}`, []],
    [
      'an API without a contract to a target that cuts its path',
      `/c%75t-at/${SPELT}`,
      `/base/${SPELT}`,
      [],
    ],
    ['a WebSocket', `/%77s/${SPELT}`, `/base/${SPELT}`, HANDSHAKE_LINES],
    ['the absolute form', 'http://api/up/%7e?', '/v1/up/%7e?', []],
  ])('of %s', async (_what, target, there, headers) => {
    expect((await ask(target, headers)).status).toBe(headers === HANDSHAKE_LINES ? 101 : 200);
    expect(backend.requests.at(-1)!.line).toBe(`GET ${there} HTTP/1.1`);
    expect(backend.complaints).toEqual([]);
  });
});

test('an encoded slash and a semicolon are by setting one character of a parameter', async () => {
  for (const wrong of ['123456789%2F', '1234567890'])
    expect(await ask(`/v1/things/${wrong}`)).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  for (const right of ['12345678%2F', '12345678;', '1?q=a;b=c'])
    expect((await ask(`/v1/things/${right}`)).status).toBe(200);
});
