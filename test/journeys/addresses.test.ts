import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Wire } from '../hostile/wire.ts';
import { adminOf } from '../support/admin.ts';
import { carriesTheHeadersOfEveryAnswer, isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, upgradingBackend } from '../support/upstream.ts';
import { HANDSHAKE_LINES } from '../support/websocket.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 1000000, per: minute }] }
  office: { windows: [{ limit: 60, per: minute }], addresses: { allow: [198.51.100.0/24, "2001:db8::/32"] } }
`;
const DENIED = '192.0.2.0/24';

const blocked = join(temporaryFolders({ keep: true })(), 'blocked.txt');
let target: FakeBackend;
let gateway: TestGateway;
let free: string;
let office: string;
beforeAll(async () => {
  target = await upgradingBackend((_request, response) => response.end('"good"'));
  const settings = `http: { trustedProxies: [127.0.0.1/32] }
addresses: { deny: [{ file: "${blocked}" }] }
apis:
  - { name: files, path: /files, contract: none, stripPath: false, target: "${target.url}", websocket: true, addresses: { allow: [198.51.100.0/24], deny: [198.51.100.66] }}
  - { name: open, path: /open, contract: none, stripPath: false, target: "${target.url}"}
`;
  writeFileSync(blocked, `${DENIED}\n`);
  gateway = await TestGateway.start({ plans: PLANS, settings });
  free = (await gateway.key()).secret;
  office = (await gateway.key({ plan: 'office' })).secret;
});
afterAll(async () => {
  await gateway.stop();
  await target.close();
});

const from = (address: string, path: string, key?: string) => {
  const requested = gateway.client.get(path).set('X-Forwarded-For', address);
  return key === undefined ? requested : requested.set('X-API-Key', key);
};
const status = async (address: string) => (await from(address, '/pets', free)).status;

const ALL = `addresses.deny has 192.0.2.0/24, from ${blocked}`;
const LIST = 'the API files: addresses.deny has 198.51.100.66';
const PLAN = 'plan office: addresses.allow does not have the address';

test.each<
  [
    address: string,
    path: string,
    key: string,
    code: 'address_denied' | 'address_not_allowed' | number,
    reason?: string,
  ]
>([
  ['192.0.2.1', '/pets', 'free', 'address_denied', ALL],
  ['192.0.2.1', '/pets', 'wrong', 'address_denied', ALL],
  ['192.0.2.1', '/usage', 'free', 'address_denied', ALL],
  ['192.0.2.1', '/docs/', 'none', 'address_denied', ALL],
  ['198.51.100.7', '/files/a', 'free', 200],
  ['198.51.100.7', '/files/a', 'none', 401],
  ['198.51.100.66', '/files/a', 'free', 'address_denied', LIST],
  ['203.0.113.1', '/files', 'none', 'address_denied'],
  ['203.0.113.1', '/open/a', 'free', 200],
  ['203.0.113.1', '/filesystem', 'free', 404],
  ['203.0.113.1', '/pets', 'free', 200],
  ['198.51.100.7', '/pets', 'office', 200],
  ['2001:db8::7', '/pets', 'office', 200],
  ['203.0.113.1', '/pets', 'office', 'address_not_allowed', PLAN],
  ['203.0.113.1', '/usage', 'office', 'address_not_allowed', PLAN],
])('from %s %s with the key "%s": %s', async (address, path, name, expected, reason = '') => {
  const key = { free, office, wrong: 'wrong' }[name];
  const response = await from(address, path, key);
  if (typeof expected === 'number') return expect(response.status).toBe(expected);
  isTheError(response, 403, expected);
  carriesTheHeadersOfEveryAnswer(response);
  expect(response.text).not.toContain('192.0.2.0');
  if (reason === '') return;
  const id = response.headers['x-request-id'];
  const { body } = await adminOf(gateway.adminUrl)('GET', `/requests/${id}`);
  expect(body).toMatchObject({ code: expected, reason });
});

test('guesses of a denied address look up no key, and are counted as refusals', async () => {
  for (let i = 0; i < 70; i++) expect((await from('192.0.2.1', '/pets', 'wrong')).status).toBe(403);
  expect((await gateway.admin.get('/metrics')).text).toMatch(
    /storegate_refusals_total\{code="address_denied"\} [7-9]\d/,
  );
});

test.each([
  ['198.51.100.7', 101],
  ['203.0.113.1', 403],
])('a WebSocket to the API from %s is %i', async (address, expected) => {
  const wire = await Wire.open(gateway.url);
  const lines = [
    'Host: a',
    ...HANDSHAKE_LINES,
    `X-API-Key: ${free}`,
    `X-Forwarded-For: ${address}`,
  ];
  const head = `GET /files/live HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  expect((await wire.send(head).answer()).status).toBe(expected);
  wire.socket.end();
  await wire.ended();
});

test('a list in a file takes effect when it changes, under load, and a broken one changes nothing', async () => {
  const logged = (msg: string) => gateway.log.filter((line) => line.msg === msg);
  const seen = new Set<number>();
  let isOver = false;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      for (; !isOver; await pause(10)) seen.add(await status('198.51.100.7'));
    }),
  );
  const many = Array.from({ length: 20_000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`).join('\n');
  writeFileSync(blocked, `${many}\n203.0.113.0/24\n`);
  await until('the longer list is in force', async () => (await status('203.0.113.9')) === 403);
  expect(logged('reload.done').at(-1)).toMatchObject({ changed: ['addresses.deny'] });
  const refused = logged('reload.failed').length;
  writeFileSync(blocked, '203.0.113.1/24\n');
  await until('the mistake is logged', () => logged('reload.failed').length > refused);
  expect(JSON.stringify(logged('reload.failed').at(-1))).toContain('blocked.txt:1:1');
  expect(await status('10.1.2.3')).toBe(403);
  writeFileSync(blocked, '');
  await until('the address is allowed again', async () => (await status('203.0.113.9')) === 200);
  isOver = true;
  await load;
  expect([...seen]).toEqual([200]);
});

test('the lists of a plan are set like the rest of it, and apply from the next request on', async () => {
  const put = (body: object) => adminOf(gateway.adminUrl)('PUT', '/plans/office', body);
  const addresses = { allow: ['203.0.113.0/24'], deny: ['203.0.113.66'] };
  expect((await put({ addresses })).status).toBe(200);
  expect((await from('203.0.113.1', '/pets', office)).status).toBe(200);
  for (const address of ['198.51.100.7', '203.0.113.66'])
    isTheError(await from(address, '/pets', office), 403, 'address_not_allowed');
  expect((await put({ addresses: null })).status).toBe(200);
  expect((await from('198.51.100.7', '/pets', office)).status).toBe(200);
});
