import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { userInfo } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createGate } from '../../src/admin/gate.ts';
import { makeToken } from '../../src/records/operators/tokens.ts';
import { adminOf } from '../support/admin.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { localAdmin } from '../support/local-admin.ts';

let gateway: TestGateway;

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const local = (method: string, path: string, headers: Record<string, string> = {}) =>
  localAdmin(gateway.config.data, method, path, headers);
const actors = async () =>
  (await local('GET', '/audit')).body.entries.map(({ actor }: { actor: string }) => actor);
const named = (name: string) => ({ 'X-Storegate-User': name });

/** `fetch` does not allow these headers. */
async function status(path: string, headers: Record<string, string>): Promise<number> {
  const sent = request(`${gateway.adminUrl}${path}`, { headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode!;
}

describe('an admin listener on a loopback address', () => {
  beforeAll(async () => {
    gateway = await TestGateway.start();
  });
  afterAll(() => gateway.stop());

  test('a web page cannot call the admin listener, neither by its name nor by a rebound name', async () => {
    expect(gateway.config.admin.host).toBe('127.0.0.1');
    const { port } = new URL(gateway.adminUrl);
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost@evil.example'])
      for (const path of ['/keys', '/metrics', '/health/ready'])
        expect(await status(path, { Host: `${host}:${port}` })).toBeGreaterThanOrEqual(400);
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'])
      expect(await status('/keys', { Host: `${host}:${port}` })).toBe(200);
    expect(await status('/keys', { Origin: 'https://evil.example' })).toBe(403);
    expect(await status('/keys', { Origin: 'null' })).toBe(403);
    expect(
      await status('/keys', { Host: `localhost:${port}`, Origin: `http://localhost:${port}` }),
    ).toBe(200);
  });

  test('a browser reads the admin listener for its own pages only, and opens the console from everywhere', async () => {
    const page = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
    const paths = [
      '/keys',
      '/metrics',
      '/openapi.json',
      '/health/live',
      '/console/',
      '/console/session',
    ];
    const statuses = async (headers: Record<string, string>) => {
      const found: number[] = [];
      for (const path of paths) found.push(await status(path, headers));
      return found;
    };
    for (const site of ['cross-site', 'same-site', 'same-origin, cross-site']) {
      expect(await statuses({ 'Sec-Fetch-Site': site })).toEqual(Array(6).fill(403));
      expect(await statuses({ 'Sec-Fetch-Site': site, ...page })).toEqual([
        403, 403, 403, 403, 200, 403,
      ]);
      expect(await status('/', { 'Sec-Fetch-Site': site, Accept: 'text/html', ...page })).toBe(303);
      const frame = { ...page, 'Sec-Fetch-Dest': 'iframe' };
      expect(await status('/console/', { 'Sec-Fetch-Site': site, ...frame })).toBe(403);
    }
    for (const headers of [
      {},
      { 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'none', ...page },
    ])
      expect(await statuses(headers)).toEqual(Array(6).fill(200));
  });

  test('clients of an admin listener for IPv4 and IPv6 count their wrong tokens separately', async () => {
    const tokens = { list: async () => [] };
    const admin = { ...gateway.config.admin, token: makeToken() };
    const gate = createGate(admin, tokens as never, () => false);
    const refusal = async (remoteAddress: string) => {
      const requested = { headers: {}, socket: { remoteAddress } } as IncomingMessage;
      return await gate.operator(requested).catch(({ code }) => code);
    };
    for (let i = 0; i < 10; i++)
      expect(await refusal('::ffff:192.0.2.1')).toBe('invalid_admin_token');
    expect(await refusal('::ffff:192.0.2.1')).toBe('too_many_failed_attempts');
    expect(await refusal('::ffff:192.0.2.2')).toBe('invalid_admin_token');
  });

  test.each(['local', 'cli:', 'cli:a%0Ab', 'cli:%zz', `cli:${'x'.repeat(97)}`, ''])(
    'refuses the name %j on the socket of the data folder',
    async (name) => {
      const { status, body } = await local('POST', '/reload', named(name));
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
      expect(await actors()).toEqual([]);
    },
  );

  test('the public listener serves nothing of the admin API', async () => {
    const { secret } = await gateway.key({ plan: 'business' });
    for (const path of ['/keys', '/bans', '/config', '/audit', '/tokens', '/reload', '/plans']) {
      expect((await gateway.client.get(path).set('X-API-Key', secret)).status).toBe(404);
    }
  });
});

describe('tokens', () => {
  afterEach(() => gateway.stop());

  test('have roles: each has the permissions of the lower roles, and its own', async () => {
    const configured = makeToken();
    gateway = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: configured } });
    const root = adminOf(gateway.adminUrl, bearer(configured));
    const tokens: Record<string, string> = {};
    for (const role of ['read', 'operate', 'admin']) {
      const { status, body } = await root('POST', '/tokens', { name: `the-${role}`, role });
      expect(status).toBe(201);
      tokens[role] = body.token;
    }
    const calls = [
      ['GET', '/keys', undefined],
      ['POST', '/keys', { account: 'a', plan: 'free' }],
      ['POST', '/tokens', { name: 'another', role: 'read' }],
    ] as const;
    const results: Record<string, number[]> = {};
    for (const [role, token] of Object.entries(tokens)) {
      const call = adminOf(gateway.adminUrl, bearer(token));
      results[role] = [];
      for (const [method, path, body] of calls)
        results[role].push((await call(method, path, body)).status);
    }
    expect(results).toEqual({
      read: [200, 403, 403],
      operate: [200, 201, 403],
      admin: [200, 201, 201],
    });
    expect(JSON.stringify((await root('GET', '/tokens')).body)).not.toContain(tokens.read);
    expect((await root('POST', '/tokens', { name: 'the-read', role: 'admin' })).status).toBe(409);
    expect((await root('DELETE', '/tokens/the-read')).status).toBe(200);
    expect((await adminOf(gateway.adminUrl, bearer(tokens.read!))('GET', '/keys')).status).toBe(
      401,
    );
    expect((await root('DELETE', '/tokens/the-read')).status).toBe(404);
  });

  test('are also required on a loopback address, once one exists', async () => {
    gateway = await TestGateway.start();
    const open = adminOf(gateway.adminUrl);
    expect((await open('GET', '/keys')).status).toBe(200);
    const { token, first } = bodyOf(
      await open('POST', '/tokens', { name: 'first', role: 'admin' }),
    );
    expect(first).toBe(true);
    expect((await open('GET', '/keys')).status).toBe(401);
    expect((await adminOf(gateway.adminUrl, bearer(token))('GET', '/keys')).status).toBe(200);
  });

  test('return 429 after wrong guesses, while valid ones still work', async () => {
    const configured = makeToken();
    gateway = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: configured } });
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++)
      statuses.push((await adminOf(gateway.adminUrl, bearer(`guess-${i}`))('GET', '/keys')).status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await adminOf(gateway.adminUrl, bearer(configured))('GET', '/keys')).status).toBe(200);
  });
});

describe('the socket of the data folder', () => {
  afterEach(() => gateway.stop());

  test('lets a command name the shell user, and otherwise has the name of the gateway', async () => {
    gateway = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: makeToken() } });
    for (const headers of [{}, named('cli:anna'), named('cli%3Aj%C3%BCrgen%20b')])
      expect((await local('POST', '/reload', headers)).status).toBe(200);
    expect(await actors()).toEqual(['cli:jürgen b', 'cli:anna', `cli:${userInfo().username}`]);
  });

  test('is the only way on which a name may be chosen, and a token on it has its own role', async () => {
    gateway = await TestGateway.start();
    const reload = (headers: Record<string, string>) => gateway.admin.post('/reload').set(headers);
    const anna = named('cli:anna');
    expect((await reload(anna)).status).toBe(200);
    const call = adminOf(gateway.adminUrl);
    const { token } = bodyOf(await call('POST', '/tokens', { name: 'deploy', role: 'admin' }));
    expect((await reload({ ...bearer(token), ...anna })).status).toBe(200);
    expect((await reload(anna)).status).toBe(401);
    expect((await local('POST', '/reload', { ...bearer(token), ...anna })).status).toBe(200);
    expect((await local('POST', '/reload', bearer(makeToken()))).status).toBe(401);
    expect(await actors()).toEqual(['deploy', 'deploy', 'local', 'local']);
  });
});
