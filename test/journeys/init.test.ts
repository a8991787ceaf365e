import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { commandLine } from '../support/command-line.ts';
import { type PythonBackend, pythonBackend } from '../support/python-backend.ts';
import { temporaryFolders } from '../support/temporary.ts';

const responses = { 200: { description: 'Any.' } };
const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } };
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '2' },
  servers: [{ url: 'https://shop.example/v1' }],
  security: [{ token: [] }],
  paths: {
    '/health': { get: { operationId: 'health', security: [], responses } },
    '/orders': { get: { operationId: 'orders', parameters: [limit], responses } },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
};

const token = { Authorization: 'Bearer own-token' };
const temporary = temporaryFolders();
const stop = new AbortController();
let backend: PythonBackend;
let out = '';
let url: string;
let key: string;
let ended: Promise<{ code: number }>;

beforeAll(async () => {
  const folder = temporary();
  writeFileSync(join(folder, 'openapi.yaml'), JSON.stringify(DOCUMENT));
  backend = await pythonBackend(folder, '/v1', token.Authorization);
  const api = backend.url;
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const run = commandLine(folder, (text) => {
    out += text;
    if (text.startsWith('Press')) resolve();
  });
  ended = run(
    [
      'init',
      '--backend',
      api,
      '--contract',
      `${api}/openapi.yaml`,
      '--yes',
      '--directory',
      'gateway',
    ],
    {
      env: {
        STOREGATE_HOST: '127.0.0.1',
        STOREGATE_PORT: '0',
        STOREGATE_ADMIN_PORT: '0',
        LOG_LEVEL: 'silent',
      },
      stop: stop.signal,
    },
  );
  await Promise.race([ready, ended]);
  url = /^Running +(\S+),/m.exec(out)![1]!;
  key = /^Key +(\S+)/m.exec(out)![1]!;
});
afterAll(async () => {
  stop.abort();
  await ended;
  await backend.stop();
});

const ask = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });
test('an API in another language is protected with one command', async () => {
  expect(out).toContain('Contract  Shop 2, 2 operations, 1 without a key\n');
  expect(out).toContain('The 401 comes from your API');
  const response = await ask('/v1/orders', { 'X-API-Key': key, ...token });
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ path: '/v1/orders', account: 'me' }),
  ]);
  expect((await ask('/v1/orders', token)).status).toBe(401);
  expect((await ask('/v1/orders?limit=x', { 'X-API-Key': key, ...token })).status).toBe(400);
  expect((await ask('/v1/health', token)).status).toBe(200);
  expect((await ask('/orders', { 'X-API-Key': key, ...token })).status).toBe(404);
  let last = 0;
  for (let sent = 0; sent < 60; sent++)
    last = (await ask('/v1/orders', { 'X-API-Key': key, ...token })).status;
  expect(last).toBe(429);
});
