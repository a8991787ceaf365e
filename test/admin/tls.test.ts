import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { httpFetch } from '../../src/common/http-fetch.ts';
import { Authority } from '../support/certificates.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const STORE = 'http://127.0.0.1:1';

let authority: Authority;
let others: Authority;
let gateway: TestGateway;
let pair: { cert: string; key: string };
let operator: { cert: string; key: string };
beforeAll(() => {
  authority = new Authority();
  others = new Authority();
  operator = authority.issue('operator', 'DNS:alice.example');
});
afterAll(() => {
  authority.remove();
  others.remove();
});

let issued = 0;

/** Opens a gateway for the tests of this block. */
function beforeTests(
  env: () => Readonly<Record<string, string>> = () => ({}),
  names = 'DNS:localhost,IP:127.0.0.1',
): void {
  beforeAll(async () => {
    pair = authority.issue(`admin-${issued++}`, names);
    const files = { STOREGATE_ADMIN_TLS_CERT: pair.cert, STOREGATE_ADMIN_TLS_KEY: pair.key };
    gateway = await TestGateway.start({ env: { ...files, ...env() }, backendUrl: STORE });
  });
  afterAll(() => gateway.stop());
}

const pem = (file: string) => readFileSync(file, 'utf8');
const identity = (one: { cert: string; key: string }) => ({
  cert: pem(one.cert),
  key: pem(one.key),
});
const ask = (path: string, tls: object = {}, headers: Record<string, string> = {}) =>
  httpFetch(`${gateway.adminUrl}${path}`, { tls: { ca: authority.pem, ...tls } }, { headers });
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );

const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  commandLine(gateway.folder)(args, { env });
const list = (env: Readonly<Record<string, string>>) =>
  run(['keys', 'list'], { STOREGATE_ADMIN_URL: gateway.adminUrl, ...env });

describe('the admin listener with a certificate and a token', () => {
  beforeTests(() => ({ STOREGATE_ADMIN_TOKEN: TOKEN }));

  test('speaks TLS, and still asks for a token', async () => {
    expect(gateway.adminUrl).toMatch(/^https:/);
    expect((await ask('/health/ready')).status).toBe(200);
    expect((await ask('/keys')).status).toBe(401);
    expect((await ask('/keys', {}, { Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  });

  test('gives a browser a cookie for TLS only', async () => {
    const signed = await httpFetch(
      `${gateway.adminUrl}/console/session`,
      { tls: { ca: authority.pem } },
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: gateway.adminUrl },
        body: JSON.stringify({ token: TOKEN }),
      },
    );
    expect(signed.headers.get('set-cookie')).toContain('; Secure');
  });
});

describe('the admin listener with a certificate', () => {
  beforeTests();

  test('is reached by a command with the authority in the environment', async () => {
    expect(await list({ STOREGATE_ADMIN_CA: authority.file })).toEqual({
      code: 0,
      out: 'No keys.\n',
      err: '',
    });
    const { code, err } = await list({});
    expect(code).toBe(3);
    expect(err).toContain('its certificate is not trusted');
    expect(err).toContain('Set STOREGATE_ADMIN_CA to the file of its CA');
  });

  test('is named with its scheme by a command whose URL has the wrong one', async () => {
    const plain = await list({ STOREGATE_ADMIN_URL: gateway.adminUrl.replace('https:', 'http:') });
    expect(plain).toMatchObject({
      code: 3,
      err: expect.stringContaining('if it uses TLS, use an https'),
    });
    const secured = { STOREGATE_ADMIN_URL: gateway.url.replace('http:', 'https:') };
    for (const ca of [{}, { STOREGATE_ADMIN_CA: authority.file }]) {
      const { code, err } = await list({ ...secured, ...ca });
      expect([code, err]).toEqual([
        3,
        expect.stringContaining('it does not use TLS. Use an http:// URL.\n'),
      ]);
    }
  });

  test('uses a renewed certificate without a restart', async () => {
    const serial = async () => {
      const socket = connect({
        port: Number(new URL(gateway.adminUrl).port),
        ca: authority.pem,
        servername: 'localhost',
      });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerX509Certificate()!;
      socket.destroy();
      return serialNumber;
    };
    const before = await serial();
    const renewed = authority.issue('renewed', 'DNS:localhost');
    copyFileSync(renewed.cert, pair.cert);
    copyFileSync(renewed.key, pair.key);
    await until('new connections have it', async () => (await serial()) !== before);
  });
});

describe('the admin listener with an authority for operators', () => {
  beforeTests(() => ({
    STOREGATE_ADMIN_TLS_CLIENT_CA: authority.file,
    STOREGATE_ADMIN_TOKEN: TOKEN,
  }));

  test('refuses connections without a certificate of that authority', async () => {
    expect(await reasonOf(ask('/health/ready'))).toMatch(/ALERT_CERTIFICATE_REQUIRED|ECONNRESET/);
    const foreign = others.issue('foreign', 'DNS:alice.example');
    expect(await reasonOf(ask('/health/ready', identity(foreign)))).toMatch(
      /ALERT|ECONNRESET|EPIPE/,
    );
    expect((await ask('/health/ready', identity(operator))).status).toBe(200);
  });

  test('asks a client with a certificate for a token as well', async () => {
    expect((await ask('/keys', identity(operator))).status).toBe(401);
    expect(
      (await ask('/keys', identity(operator), { Authorization: `Bearer ${TOKEN}` })).status,
    ).toBe(200);
  });

  test('is reached by a command with a certificate', async () => {
    const files = {
      STOREGATE_ADMIN_CLIENT_CERT: operator.cert,
      STOREGATE_ADMIN_CLIENT_KEY: operator.key,
    };
    const trusting = { STOREGATE_ADMIN_CA: authority.file, STOREGATE_ADMIN_TOKEN: TOKEN };
    expect((await list({ ...trusting, ...files })).code).toBe(0);
    const { code, err } = await list(trusting);
    expect(code).toBe(3);
    expect(err).toContain('Set STOREGATE_ADMIN_CLIENT_CERT and STOREGATE_ADMIN_CLIENT_KEY');
  });

  test('needs no certificate from a command in its folder', async () => {
    expect(await run(['bans', 'list'], {})).toMatchObject({ code: 0 });
  });
});

describe('the admin listener with a certificate for another name', () => {
  beforeTests(undefined, 'DNS:elsewhere.example');

  test('is found by a command in its folder', async () => {
    const env = {
      STOREGATE_ADMIN_TLS_CERT: pair.cert,
      STOREGATE_ADMIN_TLS_KEY: pair.key,
      STOREGATE_ADMIN_PORT: '0',
    };
    expect(await run(['bans', 'list'], env)).toMatchObject({ code: 0, err: '' });
  });

  test('is found by a command in its folder, whatever is in the files of its certificate', async () => {
    const settings = join(gateway.folder, 'gateway.yaml');
    const listed = () => run(['bans', 'list'], {});
    writeFileSync(pair.cert, 'not a certificate');
    writeFileSync(settings, 'nonsense: true\n');
    expect(await listed()).toMatchObject({
      code: 0,
      err: expect.stringContaining('the running gateway does not use it'),
    });
    writeFileSync(settings, '{}\n');
    expect(await listed()).toMatchObject({ code: 0, err: '' });
  });
});
