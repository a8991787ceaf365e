import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeToken } from '../../src/records/operators/tokens.ts';
import { adminOf } from '../support/admin.ts';
import { ConsoleCaller, OWN } from '../support/console-caller.ts';
import { bodyOf } from '../support/failure.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

const MINUTE = 60_000;
const root = makeToken();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({
    settings:
      'console: { idleTimeout: 10m, links: [{ title: Grafana, url: "https://grafana.example/?orgId=1" }] }\n',
    env: { STOREGATE_ADMIN_TOKEN: root },
  });
});
afterAll(() => gateway.stop());

const caller = () => new ConsoleCaller(gateway.adminUrl);
const asRoot = () => adminOf(gateway.adminUrl, { Authorization: `Bearer ${root}` });
let made = 0;

async function issue(role = 'admin') {
  const name = `operator-${++made}`;
  const body = bodyOf(await asRoot()('POST', '/tokens', { name, role }));
  return { name, token: body.token as string };
}

async function signedIn(role = 'admin') {
  const it = caller();
  const { name, token } = await issue(role);
  expect((await it.signIn(token)).status).toBe(200);
  return { it, name, token };
}

describe('signing in', () => {
  test('accepts a token of any role, and returns name, role, end and dashboards', async () => {
    const { name, token } = await issue('read');
    const it = caller();
    const { body, headers } = await it.signIn(token);
    expect(body).toEqual({
      operator: { name, role: 'read' },
      open: false,
      idle: 600,
      links: [{ title: 'Grafana', url: 'https://grafana.example/?orgId=1' }],
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(await it.who()).toBe(name);
    expect((await it.call('GET', '/keys')).status).toBe(200);
    expect(await it.call('POST', '/keys', { account: 'a', plan: 'free' })).toMatchObject({
      status: 403,
      body: { code: 'role_too_low' },
    });
  });

  test('sets one cookie of 256 bits that scripts cannot read and other sites cannot send', async () => {
    const { headers } = await caller().signIn(root);
    const { port } = new URL(gateway.adminUrl);
    expect(headers['set-cookie']).toHaveLength(1);
    const [value, ...attributes] = headers['set-cookie']![0]!.split('; ');
    expect(value).toMatch(new RegExp(`^storegate_session_${port}=[\\w-]{43}$`));
    expect(attributes).toEqual(['Path=/console/', 'HttpOnly', 'SameSite=Strict']);
  });

  test('marks the cookie as Secure behind TLS: the browser reports it, and no proxy is trusted', async () => {
    const body = JSON.stringify({ token: root });
    const sign = async (headers: Record<string, string>) => {
      const type = { 'Content-Type': 'application/json', Host: 'localhost:8443' };
      const response = await caller().ask(
        'POST',
        '/console/session',
        { ...type, ...headers },
        body,
      );
      return response.headers['set-cookie']![0];
    };
    expect(await sign({ Origin: 'https://localhost:8443' })).toMatch(
      /^storegate_session_8443=.*; Secure$/,
    );
    expect(
      await sign({ Origin: 'http://localhost:8443', 'X-Forwarded-Proto': 'https' }),
    ).not.toMatch(/Secure/);
  });

  test('ends the previous session of the browser', async () => {
    const { it, name } = await signedIn();
    const before = it.cookie;
    const { token } = await issue();
    await it.signIn(token);
    expect(it.cookie).not.toBe(before);
    it.cookie = before;
    expect(await it.who()).not.toBe(name);
  });

  test('returns 429 after wrong tokens, while valid ones still work', async () => {
    const one = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: root } });
    const it = new ConsoleCaller(one.adminUrl);
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await it.signIn(`guess-${i}`)).status);
    for (let i = 5; i < 12; i++)
      statuses.push((await it.ask('GET', '/keys', { Authorization: `Bearer guess-${i}` })).status);
    const last = await it.signIn('guess-12');
    expect([...statuses, last.status]).toEqual([...Array(10).fill(401), 429, 429, 429]);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    expect(last.headers['set-cookie']).toBeUndefined();
    expect((await it.signIn(root)).status).toBe(200);
    await one.stop();
  });

  test.each([
    ['half a map', '{', 'application/json', 400],
    ['a text', '"SECRET"', 'application/json', 400],
    ['a map for a token', '{"token":{"$ne":null}}', 'application/json', 400],
    ['the type of text', '{"token":"SECRET"}', 'text/plain', 415],
    ['a form', 'token=SECRET', 'application/x-www-form-urlencoded', 415],
    ['300 KB', `{"token":"${'x'.repeat(300_000)}"}`, 'application/json', 413],
  ])('refuses an invalid body: %s', async (_what, body, type, status) => {
    const logged = gateway.log.length;
    const response = await caller().ask(
      'POST',
      '/console/session',
      { ...OWN, ...(type && { 'Content-Type': type }) },
      body.replace('SECRET', root),
    );
    expect([response.status, response.headers['set-cookie']]).toEqual([status, undefined]);
    expect(response.text).not.toContain(root);
    expect(JSON.stringify(gateway.log.slice(logged))).not.toMatch(/bug/);
  });

  test('reads JSON as UTF-8 whatever its charset, and refuses encoded bodies', async () => {
    const body = JSON.stringify({ token: root });
    const sent = (headers: Record<string, string>) =>
      caller().ask('POST', '/console/session', { ...OWN, ...headers }, body);
    expect((await sent({ 'Content-Type': 'application/json; charset=koi8-r' })).status).toBe(200);
    const gzip = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    expect((await sent(gzip)).status).toBe(415);
  });

  test('writes neither token nor cookie into log, responses or the audit log', async () => {
    const { it, token } = await signedIn();
    const responses = [
      await it.signIn(token),
      await it.call('GET', '/audit'),
      await it.signIn(`${token}x`),
    ];
    const id = it.cookie.split('=')[1]!;
    for (const { text } of responses)
      for (const secret of [token, id]) expect(text).not.toContain(secret);
    for (const secret of [token, id]) expect(JSON.stringify(gateway.log)).not.toContain(secret);
  });
});

describe('a session', () => {
  test('ends when its operator signs out, for every holder of the cookie', async () => {
    const { it } = await signedIn();
    const copy = caller();
    copy.cookie = it.cookie;
    expect(await copy.who()).not.toBeNull();
    const { status, body, headers } = await it.ask('DELETE', '/console/session', OWN);
    expect([status, body.operator, body.links]).toEqual([200, null, []]);
    expect(headers['set-cookie']![0]).toMatch(
      /=; Path=\/console\/; HttpOnly; SameSite=Strict; Max-Age=0$/,
    );
    expect(await copy.who()).toBeNull();
    expect((await copy.call('GET', '/keys')).body).toMatchObject({
      status: 401,
      code: 'invalid_admin_token',
    });
  });

  test('ends after console.idleTimeout without user activity: polls of the page do not count', async () => {
    const { it, name } = await signedIn();
    for (let minute = 0; minute < 20; minute += 10) {
      gateway.clock.pass(10 * MINUTE);
      expect(await it.who()).toBe(name);
    }
    gateway.clock.pass(9 * MINUTE);
    expect((await it.call('GET', '/status')).status).toBe(200);
    gateway.clock.pass(MINUTE + 1);
    expect((await it.call('GET', '/status')).status).toBe(401);
    expect(await it.who()).toBeNull();
  });

  test('ends after twelve hours, however busy', async () => {
    const { it, name } = await signedIn();
    for (let passed = 0; passed < 720; passed += 10) {
      expect(await it.who()).toBe(name);
      gateway.clock.pass(10 * MINUTE);
    }
    expect(await it.who()).toBe(name);
    gateway.clock.pass(1);
    expect(await it.who()).toBeNull();
  });

  test('ends with its token, and has the role of the token at each call', async () => {
    const { it, name } = await signedIn('operate');
    expect((await it.call('POST', '/keys', { account: 'a', plan: 'free' })).status).toBe(201);
    await asRoot()('DELETE', `/tokens/${name}`);
    await asRoot()('POST', '/tokens', { name, role: 'operate' });
    expect(await it.who()).toBeNull();
    expect((await it.call('POST', '/keys', { account: 'a', plan: 'free' })).status).toBe(401);
  });

  test('is dropped for the fifty-first of its token, and never for those of other tokens', async () => {
    const { it: other, name } = await signedIn();
    const { token } = await issue();
    const sessions: ConsoleCaller[] = [];
    for (let i = 0; i <= 50; i++) {
      const it = caller();
      await it.signIn(token);
      sessions.push(it);
    }
    const who = await Promise.all(sessions.map((it) => it.who()));
    expect(who.map((one) => one === null)).toEqual([true, ...Array(50).fill(false)]);
    expect(await other.who()).toBe(name);
  });

  test('records changes in the audit log under the name of its operator', async () => {
    const { it, name } = await signedIn();
    const headers = { ...OWN, 'Content-Type': 'application/json' };
    const forged = { 'X-Storegate-User': 'cli:root', Authorization: `Bearer ${root}` };
    const draft = JSON.stringify({ account: 'audited', plan: 'free' });
    expect(
      (await it.ask('POST', '/console/api/keys', { ...headers, ...forged }, draft)).status,
    ).toBe(201);
    const { entries } = (await it.call('GET', '/audit?limit=1')).body;
    expect(entries[0]).toMatchObject({ actor: name, action: 'keys.create' });
  });
});

describe('the cookie', () => {
  test.each(['/keys', '/metrics', '/CONSOLE/api/keys', '/console/../keys'])(
    'is refused at %s',
    async (path) => {
      const { it } = await signedIn();
      const { status } = await it.ask('GET', path, OWN);
      expect([401, 404]).toContain(status);
    },
  );

  test.each([
    ['/console/%61pi/keys', 404],
    ['/console/api%2fkeys', 404],
    ['/console/api/..%2fkeys', 404],
    ['/console/api/%E0%A4%A', 404],
    ['/console/api', 404],
    ['/console/apikeys', 404],
    ['/console/session?token=x', 200],
  ])('accepts one spelling of a path only: %s', async (path, status) => {
    const { it } = await signedIn();
    expect((await it.ask('GET', path, OWN)).status).toBe(status);
  });

  test('is found among other cookies by its whole name, and hidden by none', async () => {
    const { it, name } = await signedIn();
    const [own, id] = it.cookie.split('=') as [string, string];
    const found = async (cookie: string) => {
      it.cookie = cookie;
      return await it.who();
    };
    expect(await found(`a=b; ${own}=${id}; c=d`)).toBe(name);
    expect(await found(`${own}=other; ${own}=; ${own}=${id}`)).toBe(name);
    expect(await found(`${Array(200).fill(`${own}=x`).join('; ')}; ${own}=${id}`)).toBe(name);
    for (const wrong of [
      `${own}x=${id}`,
      `x${own}=${id}`,
      own,
      `${own}=${id}=`,
      `${own}="${id}"`,
      `${own}=__proto__`,
    ])
      expect([wrong, await found(wrong)]).toEqual([wrong, null]);
  });

  test('of any size costs only its request', async () => {
    const it = caller();
    it.cookie = `storegate_session=${'x'.repeat(20_000)}`;
    expect((await it.ask('GET', '/console/session', OWN)).status).toBe(431);
    it.cookie = ';;;=;'.repeat(2_000);
    expect(await it.who()).toBeNull();
  });

  test('of a gateway at another port does not sign in here', async () => {
    const { it } = await signedIn();
    const other = { ...OWN, Host: 'localhost:9902' };
    expect((await it.ask('GET', '/console/session', other)).body.operator).toBeNull();
  });
});

describe('another page', () => {
  const bent: readonly [what: string, headers: Record<string, string>][] = [
    ['of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['that claims two sources', { 'Sec-Fetch-Site': 'same-origin, cross-site' }],
    ['of another origin that claims to be ours', { ...OWN, Origin: 'http://localhost:3000' }],
    ['in a sandbox', { Origin: 'null' }],
    ['under a name bent to this address', { ...OWN, Host: 'evil.example' }],
  ];

  test.each(bent)('%s cannot use a session, not even to read', async (_what, headers) => {
    const { it } = await signedIn();
    const before = (await it.call('GET', '/audit?limit=1')).text;
    const json = { 'Content-Type': 'application/json', ...headers };
    const responses = [
      await it.ask('GET', '/console/api/keys', headers),
      await it.ask('GET', '/console/session', headers),
      await it.ask('POST', '/console/api/keys', json, '{"account":"evil","plan":"free"}'),
      await it.ask('DELETE', '/console/session', headers),
      await it.ask('POST', '/console/session', json, JSON.stringify({ token: root })),
    ];
    expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(403));
    expect(responses.flatMap(({ headers }) => headers['set-cookie'] ?? [])).toEqual([]);
    expect((await it.call('GET', '/audit?limit=1')).text).toBe(before);
  });

  test('makes no changes without Sec-Fetch-Site, or Origin from old browsers', async () => {
    const { it } = await signedIn();
    const create = (headers: Record<string, string>) =>
      it.ask(
        'POST',
        '/console/api/keys',
        { 'Content-Type': 'application/json', ...headers },
        '{"account":"a","plan":"free"}',
      );
    expect((await create({})).status).toBe(403);
    expect((await create({ 'Sec-Fetch-Site': 'none' })).status).toBe(403);
    expect((await create({ Origin: gateway.adminUrl })).status).toBe(201);
    expect((await it.ask('GET', '/console/api/keys', { 'Sec-Fetch-Site': 'none' })).status).toBe(
      200,
    );
  });
});

describe('the page', () => {
  test('has a policy that allows only its own import map inline', async () => {
    const { text, headers } = await caller().ask('GET', '/console/');
    const [, map] = /<script type="importmap">([^<]+)<\/script>/.exec(text)!;
    const hash = createHash('sha256').update(map!).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(text.replace(/<script type="importmap">.*<\/script>/, '')).not.toMatch(
      /<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=|(?:src|href)="(?:https?:)?\/\//,
    );
  });

  test('is public, and gives access to nothing else', async () => {
    const it = caller();
    expect((await it.ask('GET', '/console/')).status).toBe(200);
    expect((await it.ask('GET', '/console/session')).body).toMatchObject({
      operator: null,
      open: false,
      links: [],
    });
    expect((await it.ask('GET', '/console/api/keys')).status).toBe(401);
    expect(
      (await it.ask('GET', '/console/api/keys', { Authorization: `Bearer ${root}` })).status,
    ).toBe(401);
  });

  test.each([
    ['HEAD', '/console/', 200],
    ['GET', '/console', 308],
    ['POST', '/console/', 404],
    ['GET', '/console/assets/', 404],
    ['GET', '/console/assets/..%2f..%2fpackage.json', 404],
  ])('%s %s is %i', async (method, path, status) => {
    const response = await caller().ask(method, path, OWN);
    expect([response.status, method === 'HEAD' ? response.text : '']).toEqual([status, '']);
  });

  test('accepts no other method for a session', async () => {
    const { status, headers } = await caller().ask('PUT', '/console/session', OWN);
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST, DELETE']);
  });

  test('is the redirect target of browsers at /, while other clients get the usual response', async () => {
    const led = await caller().ask('GET', '/', {
      Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    });
    expect([led.status, led.headers.location]).toEqual([303, '/console/']);
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }])
      expect((await caller().ask('GET', '/', headers)).status).toBe(401);
    expect((await caller().ask('POST', '/', { Accept: 'text/html' })).status).toBe(401);
  });
});

test('is missing if the console is disabled, and the response says so', async () => {
  const off = await TestGateway.start({ settings: 'console: { enabled: false }\n' });
  const it = new ConsoleCaller(off.adminUrl);
  for (const path of ['/console/', '/console/session', '/console/api/keys']) {
    const { status, body } = await it.ask('GET', path);
    expect([path, status, body.message]).toEqual([
      path,
      404,
      'The console is switched off: see console.enabled in gateway.yaml.',
    ]);
  }
  expect((await it.ask('GET', '/', { Accept: 'text/html' })).status).toBe(404);
  expect((await it.ask('GET', '/keys')).status).toBe(200);
  await off.stop();
});

test('without a configured token, sign-in fails, and other pages are still refused', async () => {
  const open = await TestGateway.start();
  const it = new ConsoleCaller(open.adminUrl);
  expect((await it.ask('GET', '/console/session', OWN)).body).toMatchObject({
    operator: { name: 'local', role: 'admin' },
    open: true,
  });
  expect((await it.call('POST', '/keys', { account: 'a', plan: 'free' })).status).toBe(201);
  const json = { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-site' };
  expect(
    (await it.ask('POST', '/console/api/keys', json, '{"account":"a","plan":"free"}')).status,
  ).toBe(403);
  const { token } = bodyOf(await it.call('POST', '/tokens', { name: 'first', role: 'admin' }));
  expect((await it.call('GET', '/keys')).status).toBe(401);
  expect((await it.signIn(token)).body).toMatchObject({ operator: { name: 'first' }, open: false });
  await open.stop();
});

describe('sessions', () => {
  test('end with their gateway, and a reload changes their timeouts', async () => {
    const one = await TestGateway.start({
      settings: 'console: { idleTimeout: 1h }\n',
      env: { STOREGATE_ADMIN_TOKEN: root },
    });
    const it = new ConsoleCaller(one.adminUrl);
    await it.signIn(root);
    one.clock.pass(30 * MINUTE);
    writeFileSync(join(one.folder, 'gateway.yaml'), 'console: { idleTimeout: 20m }\n');
    const reloaded = await adminOf(one.adminUrl, { Authorization: `Bearer ${root}` })(
      'POST',
      '/reload',
    );
    expect(reloaded.body.changed).toEqual(['console.idleTimeout']);
    expect(await it.who()).toBeNull();
    await it.signIn(root);
    await one.close();
    await one.open();
    const after = new ConsoleCaller(one.adminUrl);
    after.cookie = it.cookie.replace(/_\d+=/, `_${new URL(one.adminUrl).port}=`);
    expect(await after.who()).toBeNull();
    await one.stop();
  });

  let redis: RedisServer;
  let one: TestGateway;
  let two: TestGateway;
  beforeAll(async () => {
    redis = await startRedis();
    const options = { env: { REDIS_URL: redis.url, STOREGATE_ADMIN_TOKEN: root } };
    one = await TestGateway.start(options);
    two = await TestGateway.start(options);
  });
  afterAll(async () => {
    await one?.stop();
    await two?.stop();
    await redis?.stop();
  });

  test('end when their token is revoked at another gateway of the Redis', async () => {
    const atTwo = adminOf(two.adminUrl, { Authorization: `Bearer ${root}` });
    const { token } = bodyOf(await atTwo('POST', '/tokens', { name: 'anna', role: 'read' }));
    const it = new ConsoleCaller(one.adminUrl);
    await it.signIn(token);
    expect(await it.who()).toBe('anna');
    await atTwo('DELETE', '/tokens/anna');
    expect((await it.call('GET', '/keys')).status).toBe(401);
    expect(await it.who()).toBeNull();
  });
});
