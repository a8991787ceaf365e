import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { Wire } from '../hostile/wire.ts';
import { adminOf } from '../support/admin.ts';
import { carriesTheHeadersOfEveryAnswer, isTheError } from '../support/expect-headers.ts';
import { type GatewayOptions, TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { HANDSHAKE_LINES, SWITCHED } from '../support/websocket.ts';

let gateway: TestGateway;
let target: Server | null = null;
afterEach(async () => {
  await gateway.stop();
  target?.close();
  target?.closeAllConnections();
  target = null;
});

const start = async (options: GatewayOptions) => {
  gateway = await TestGateway.start(options);
};
const explained = async (id: string) =>
  (await adminOf(gateway.adminUrl)('GET', `/requests/${id}`)).body;
const from = (address: string, path: string, key?: string) => {
  const requested = gateway.client.get(path).set('X-Forwarded-For', address);
  return key === undefined ? requested : requested.set('X-API-Key', key);
};

async function startTarget(): Promise<string> {
  target = createServer((_request, response) => response.end('"good"'));
  target.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
    socket.write(SWITCHED);
    // The server does not track it after the upgrade, so it does not end with the other
    // connections.
    socket.on('end', () => socket.end()).resume();
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  return `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
}

test('a denied address gets one response to everything, which charges no client and looks up no key', async () => {
  await start({ settings: 'addresses: { deny: [127.0.0.0/8] }' });
  const { secret } = await gateway.key();
  for (const path of ['/pets', '/usage', '/docs/', '/openapi.json', '/nowhere']) {
    const response = await gateway.client.get(path).set('X-API-Key', secret);
    isTheError(response, 403, 'address_denied');
    carriesTheHeadersOfEveryAnswer(response);
    expect(response.text).not.toContain('127.0.0.0');
  }
  const preflight = await gateway.client
    .options('/pets')
    .set({ Origin: 'https://shop.example', 'Access-Control-Request-Method': 'GET' });
  isTheError(preflight, 403, 'address_denied');
  const { headers } = await gateway.client.get('/pets').set('X-API-Key', secret);
  const explanation = await explained(headers['x-request-id']!);
  expect(explanation).toMatchObject({ step: 'http', code: 'address_denied', key: null });
  expect(explanation.reason).toBe('addresses.deny has 127.0.0.0/8');
  expect(gateway.log.at(-1)).toMatchObject({
    code: 'address_denied',
    reason: 'addresses.deny has 127.0.0.0/8',
  });
  for (let i = 0; i < 70; i++)
    expect((await gateway.client.get('/pets').set('X-API-Key', 'wrong')).status).toBe(403);
  expect((await gateway.admin.get(`/keys`)).body.keys[0]).toMatchObject({ lastUsed: null });
  expect((await gateway.admin.get('/metrics')).text).toMatch(
    /storegate_refusals_total\{[^}]*code="address_denied"/,
  );
  expect((await gateway.admin.get('/health/ready')).status).toBe(200);
});

test('the lists of a mount apply to it alone, before a key is looked up, and to its WebSockets', async () => {
  const url = await startTarget();
  await start({
    settings: `http: { trustedProxies: [127.0.0.1/32] }
mounts:
  - { path: /files, target: "${url}", websocket: true, addresses: { allow: [198.51.100.0/24], deny: [198.51.100.66] } }
  - { path: /open, target: "${url}" }
  - { path: /pets, target: "${url}", addresses: { deny: [0.0.0.0/0] } }`,
  });
  const { secret } = await gateway.key();
  expect((await from('198.51.100.7', '/files/a', secret)).status).toBe(200);
  isTheError(await from('198.51.100.7', '/files/a'), 401, 'missing_api_key');
  for (const address of ['198.51.100.66', '203.0.113.1'])
    for (const path of ['/files', '/files/a'])
      isTheError(await from(address, path), 403, 'address_denied');
  for (const path of ['/open/a', '/filesystem'])
    expect((await from('203.0.113.1', path, secret)).status).not.toBe(403);
  expect((await from('203.0.113.1', '/pets', secret)).status).toBe(200);
  isTheError(await from('203.0.113.1', '/pets/of/mine', secret), 403, 'address_denied');

  const refused = await from('198.51.100.66', '/files/a', secret);
  expect(await explained(refused.headers['x-request-id']!)).toMatchObject({
    operation: 'mount /files',
    reason: 'mount /files: addresses.deny has 198.51.100.66',
  });

  const upgrade = async (address: string) => {
    const wire = await Wire.open(gateway.url);
    const lines = ['Host: a', ...HANDSHAKE_LINES, `X-API-Key: ${secret}`];
    const text = ['GET /files/live HTTP/1.1', ...lines, `X-Forwarded-For: ${address}`, '', ''].join(
      '\r\n',
    );
    const { status } = await wire.send(text).answer();
    wire.close();
    return status;
  };
  expect(await upgrade('198.51.100.7')).toBe(101);
  expect(await upgrade('203.0.113.1')).toBe(403);
});

test('a list in a file takes effect when it changes, under load, and a broken one changes nothing', async () => {
  const settings =
    'http: { trustedProxies: [127.0.0.1/32] }\naddresses: { deny: [{ file: blocked.txt }] }\n';
  await start({});
  const blocked = join(gateway.folder, 'blocked.txt');
  const many = Array.from({ length: 20_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`).join('\n');
  writeFileSync(blocked, many);
  writeFileSync(join(gateway.folder, 'gateway.yaml'), settings);
  const { secret } = await gateway.key({
    windows: [{ name: 'minute', kind: 'fixed', limit: 1_000_000, span: 60_000 }],
  });
  const status = async (address: string) => (await from(address, '/pets', secret)).status;
  await until('the list is in force', async () => (await status('10.1.2.3')) === 403);
  expect(await status('203.0.113.9')).toBe(200);

  const seen = new Set<number>();
  let isOver = false;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      for (; !isOver; await pause(10)) seen.add(await status('198.51.100.7'));
    }),
  );
  writeFileSync(blocked, `${many}\n203.0.113.0/24\n`);
  await until('the longer list is in force', async () => (await status('203.0.113.9')) === 403);
  const reloads = gateway.log.filter(({ msg }) => msg === 'reload.done');
  expect(reloads.at(-1)).toMatchObject({ changed: ['addresses.deny'], needRestart: [] });
  writeFileSync(blocked, '203.0.113.1/24\n');
  await until('the mistake is logged', () =>
    gateway.log.some(({ msg }) => msg === 'reload.failed'),
  );
  expect(JSON.stringify(gateway.log.find(({ msg }) => msg === 'reload.failed'))).toContain(
    'blocked.txt:1:1',
  );
  expect(await status('10.1.2.3')).toBe(403);
  writeFileSync(blocked, '');
  await until('the address is allowed again', async () => (await status('203.0.113.9')) === 200);
  isOver = true;
  await load;
  expect([...seen]).toEqual([200]);
});

test('the lists of a plan apply to its keys, before anything is charged, and are set like the rest of it', async () => {
  await start({
    settings: 'http: { trustedProxies: [127.0.0.1/32] }',
    plans: `plans:
  free: { windows: [{ limit: 60, per: minute }] }
  office: { windows: [{ limit: 60, per: minute }], addresses: { allow: [198.51.100.0/24, "2001:db8::/32"] } }
`,
  });
  const { secret } = await gateway.key({ plan: 'office' });
  const free = await gateway.key();
  for (const address of ['198.51.100.7', '2001:db8::7'])
    expect((await from(address, '/pets', secret)).status).toBe(200);
  expect((await from('203.0.113.1', '/pets', free.secret)).status).toBe(200);
  for (const path of ['/pets', '/usage']) {
    const response = await from('203.0.113.1', path, secret);
    isTheError(response, 403, 'address_not_allowed');
    const explanation = await explained(response.headers['x-request-id']!);
    expect(explanation).toMatchObject({
      step: 'authenticate',
      reason: 'plan office: addresses.allow does not have the address',
    });
  }
  expect((await from('198.51.100.7', '/pets', secret)).headers['x-ratelimit-remaining']).toBe('57');

  const admin = adminOf(gateway.adminUrl);
  const put = (body: object) => admin('PUT', '/plans/office', body);
  expect(
    (await put({ addresses: { allow: ['203.0.113.0/24'], deny: ['203.0.113.66'] } })).status,
  ).toBe(200);
  expect((await put({ limits: '50/minute' })).status).toBe(200);
  expect((await admin('GET', '/plans/office')).body.addresses).toEqual({
    allow: ['203.0.113.0/24'],
    deny: ['203.0.113.66'],
  });
  expect((await from('203.0.113.1', '/pets', secret)).status).toBe(200);
  for (const address of ['198.51.100.7', '203.0.113.66'])
    isTheError(await from(address, '/pets', secret), 403, 'address_not_allowed');
  expect((await put({ addresses: null })).status).toBe(200);
  expect((await from('198.51.100.7', '/pets', secret)).status).toBe(200);
});
