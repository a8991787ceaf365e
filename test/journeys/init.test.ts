import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { program } from '../runner/programs.ts';
import { commandLine } from '../support/command-line.ts';
import { temporaryFolders } from '../support/temporary.ts';

/** An API in another language, with tokens of its own, that publishes its document. */
const BACKEND = `
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/openapi.json':
            status, body = 200, open('openapi.json', 'rb').read()
        else:
            status = 200 if self.headers.get('Authorization') == 'Bearer own-token' or self.path == '/v1/health' else 401
            body = json.dumps({'path': self.path, 'account': self.headers.get('X-Storegate-Account')}).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
`;

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

const temporary = temporaryFolders();
const stop = new AbortController();
let backend: ReturnType<typeof spawn>;
let out = '';
let url: string;
let key: string;
let ended: Promise<{ code: number }>;

beforeAll(async () => {
  const folder = temporary();
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(DOCUMENT));
  backend = spawn(program('python3'), ['-c', BACKEND], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(backend.stdout!, 'data')) as [Buffer];
  const api = `http://127.0.0.1:${port.toString().trim()}`;
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const run = commandLine(folder, (text) => {
    out += text;
    if (text.startsWith('Press')) resolve();
  });
  ended = run(['init', '--backend', api, '--contract', `${api}/openapi.json`, '--yes', '--directory', 'gateway'], {
    env: { STOREGATE_HOST: '127.0.0.1', STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0', LOG_LEVEL: 'silent' },
    stop: stop.signal,
  });
  await Promise.race([ready, ended]);
  url = /^Running +(\S+),/m.exec(out)![1]!;
  key = /^Key +(\S+)/m.exec(out)![1]!;
});
afterAll(async () => {
  stop.abort();
  await ended;
  backend.kill();
  await once(backend, 'close');
});

const ask = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });
const token = { Authorization: 'Bearer own-token' };

test('an API in another language is protected with one command', async () => {
  expect(out).toContain('Contract  Shop 2, 2 operations, 1 without a key\n');
  expect(out).toContain('The 401 comes from your API');
  const response = await ask('/v1/orders', { 'X-API-Key': key, ...token });
  expect([response.status, await response.json()]).toEqual([200, { path: '/v1/orders', account: 'me' }]);
  expect((await ask('/v1/orders', token)).status).toBe(401);
  expect((await ask('/v1/orders?limit=x', { 'X-API-Key': key, ...token })).status).toBe(400);
  expect((await ask('/v1/health')).status).toBe(200);
  expect((await ask('/orders', { 'X-API-Key': key, ...token })).status).toBe(404);
  let last = 0;
  for (let sent = 0; sent < 60; sent++) last = (await ask('/v1/orders', { 'X-API-Key': key, ...token })).status;
  expect(last).toBe(429);
});
