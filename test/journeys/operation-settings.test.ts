import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RecordingBackend } from '../hostile/recording-backend.ts';
import { Wire } from '../hostile/wire.ts';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { writeUnnoticed } from '../support/unnoticed.ts';

const KIB = 1024;
const requestBody = { content: { 'text/plain': { schema: { type: 'string' } } } };
const operation = (id: string, more: object = {}) => ({
  operationId: id,
  responses: { 200: { description: 'Good.' } },
  ...more,
});
const CONTRACT = {
  openapi: '3.1.0',
  info: { title: 'Operations', version: '1' },
  paths: {
    '/upload': { post: operation('upload', { requestBody }) },
    '/note': { post: operation('note', { requestBody }) },
    '/raised': { post: operation('raised', { requestBody, 'x-max-body-bytes': 64 * KIB }) },
    '/late': { get: operation('late', { 'x-timeout': '50ms' }) },
    '/later': { get: operation('later', { 'x-timeout': '50ms' }) },
    '/usual': { get: operation('usual') },
    '/dear': { get: operation('dear', { 'x-ratelimit-cost': 2 }) },
  },
};
const OPERATIONS = `operations:
  upload: { maxBodyBytes: 8KiB }
  later: { timeout: 1h }
  dear: { cost: 5 }
`;

const folder = temporaryFolders({ keep: true });
let backend: RecordingBackend;
let gateway: TestGateway;
let secret: string;
let settings: string;

beforeAll(async () => {
  backend = await RecordingBackend.start((socket, { line }) => {
    // All others wait for more than their timeout.
    if (!line.includes('/late')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  });
  const file = join(folder(), 'openapi.json');
  writeFileSync(file, JSON.stringify(CONTRACT));
  settings = `contract: { file: "${file}" }\nhttp: { maxBodyBytes: 2KiB }\nupstream: { headersTimeout: 1h }\n`;
  gateway = await TestGateway.start({ backendUrl: backend.url, settings: settings + OPERATIONS });
  secret = (await gateway.key()).secret;
});
afterAll(async () => {
  await gateway.stop();
  await backend.close();
});

function post(path: string, size: number, isChunked = false): Promise<[number, string?]> {
  const body = 'x'.repeat(size);
  return ask(
    `POST ${path}`,
    [
      'Content-Type: text/plain',
      isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`,
    ],
    isChunked ? `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body,
  );
}

async function ask(
  line: string,
  headers: readonly string[] = [],
  body = '',
): Promise<[number, string?]> {
  const wire = await Wire.open(gateway.url);
  const all = ['Host: api', `X-API-Key: ${secret}`, ...headers];
  const { status, code } = await wire
    .send(`${line} HTTP/1.1\r\n${all.map((one) => `${one}\r\n`).join('')}\r\n${body}`)
    .answer();
  wire.close();
  return code === undefined ? [status] : [status, code];
}

describe.each([false, true])('a body, in chunks: %s', (isChunked) => {
  const tooLarge = [413, 'payload_too_large'];

  test.each<readonly [path: string, size: number, expected: readonly unknown[]]>([
    ['/upload', 8 * KIB, [200]],
    ['/upload', 8 * KIB + 1, tooLarge],
    ['/note', 2 * KIB, [200]],
    ['/note', 2 * KIB + 1, tooLarge],
    ['/note', 9 * KIB, tooLarge],
    // The document cannot raise the limit.
    ['/raised', 2 * KIB + 1, tooLarge],
  ])('%s of %i bytes', async (path, size, expected) => {
    const before = backend.requests.length;
    expect(await post(path, size, isChunked)).toEqual(expected);
    expect(backend.requests.length - before).toBe(expected.length === 1 ? 1 : 0);
  });
});

test('the budget for bodies holds the largest of any operation eight times', () => {
  expect(gateway.config.http.bodyBudget).toBeGreaterThanOrEqual(8 * 8 * KIB);
});

test('an operation with a timeout waits no longer, and settings replace it', async () => {
  const waiting = Wire.open(gateway.url).then((wire) =>
    wire.send(`GET /later HTTP/1.1\r\nHost: api\r\nX-API-Key: ${secret}\r\n\r\n`),
  );
  expect(await ask('GET /late')).toEqual([504, 'upstream_timeout']);
  expect(await ask('GET /usual')).toEqual([200]);
  expect(backend.requests.filter(({ line }) => line.includes('/late'))).toHaveLength(2);
  const wire = await waiting;
  expect(wire.socket.bytesRead).toBe(0);
  wire.close();
});

test('a cost in the settings is charged and published', async () => {
  const remaining = async (path: string) => {
    const { headers } = await gateway.client.get(path).set('X-API-Key', secret);
    return Number(headers['x-ratelimit-remaining']);
  };
  const before = await remaining('/usual');
  expect(before - (await remaining('/dear'))).toBe(5);
  const { body } = await gateway.client.get('/openapi.json');
  expect(body.paths['/dear'].get['x-ratelimit-cost']).toBe(5);
  expect(body.paths['/later'].get['x-timeout']).toBe('1h');
});

test('a reload applies them, and refuses an operation that the contract does not have', async () => {
  const admin = adminOf(gateway.adminUrl);
  const file = join(gateway.folder, 'gateway.yaml');
  writeUnnoticed(file, `${settings}operations: { uplod: { cost: 2 } }\n`);
  const refused = await admin('POST', '/reload');
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toContain(
    'has no operation uplod, which operations in gateway.yaml names; did you mean upload?',
  );
  writeUnnoticed(file, `${settings}operations: { note: { maxBodyBytes: 4KiB } }\n`);
  expect((await admin('POST', '/reload')).body).toMatchObject({
    changed: ['operations', 'contract'],
  });
  expect(await post('/note', 4 * KIB)).toEqual([200]);
  expect(await post('/upload', 4 * KIB)).toEqual([413, 'payload_too_large']);
});
