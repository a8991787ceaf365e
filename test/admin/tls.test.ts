import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
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
afterEach(() => gateway.stop());
afterAll(() => {
  authority.remove();
  others.remove();
});

let issued = 0;

async function open(
  env: Readonly<Record<string, string>> = {},
  names = 'DNS:localhost,IP:127.0.0.1',
): Promise<void> {
  pair = authority.issue(`admin-${issued++}`, names);
  const files = { STOREGATE_ADMIN_TLS_CERT: pair.cert, STOREGATE_ADMIN_TLS_KEY: pair.key };
  gateway = await TestGateway.start({ env: { ...files, ...env }, backendUrl: STORE });
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

describe('the admin listener with a certificate', () => {
  test('speaks TLS, and still asks for a token', async () => {
    await open({ STOREGATE_ADMIN_TOKEN: TOKEN });
    expect(gateway.adminUrl).toMatch(/^https:/);
    expect((await ask('/health/ready')).status).toBe(200);
    expect((await ask('/keys')).status).toBe(401);
    expect((await ask('/keys', {}, { Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  });

  test('gives a browser a cookie for TLS only', async () => {
    await open({ STOREGATE_ADMIN_TOKEN: TOKEN });
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

  test('uses a renewed certificate without a restart', async () => {
    await open();
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

describe('with an authority for operators', () => {
  test('refuses connections without a certificate of that authority', async () => {
    await open({ STOREGATE_ADMIN_TLS_CLIENT_CA: authority.file, STOREGATE_ADMIN_TOKEN: TOKEN });
    expect(await reasonOf(ask('/health/ready'))).toMatch(/ALERT_CERTIFICATE_REQUIRED|ECONNRESET/);
    const foreign = others.issue('foreign', 'DNS:alice.example');
    expect(await reasonOf(ask('/health/ready', identity(foreign)))).toMatch(
      /ALERT|ECONNRESET|EPIPE/,
    );
    expect((await ask('/health/ready', identity(operator))).status).toBe(200);
  });

  test('asks a client with a certificate for a token as well', async () => {
    await open({ STOREGATE_ADMIN_TLS_CLIENT_CA: authority.file, STOREGATE_ADMIN_TOKEN: TOKEN });
    expect((await ask('/keys', identity(operator))).status).toBe(401);
    expect(
      (await ask('/keys', identity(operator), { Authorization: `Bearer ${TOKEN}` })).status,
    ).toBe(200);
  });
});

describe('a command', () => {
  const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    commandLine(gateway.folder)(args, { env });
  const list = (env: Readonly<Record<string, string>>) =>
    run(['keys', 'list'], { STOREGATE_ADMIN_URL: gateway.adminUrl, ...env });

  test('reaches the gateway by the authority in the environment', async () => {
    await open();
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

  test('reports the other scheme if its URL has the wrong one', async () => {
    await open();
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

  test('sends its own certificate if the gateway asks for one', async () => {
    await open({ STOREGATE_ADMIN_TLS_CLIENT_CA: authority.file });
    const files = {
      STOREGATE_ADMIN_CLIENT_CERT: operator.cert,
      STOREGATE_ADMIN_CLIENT_KEY: operator.key,
    };
    expect((await list({ STOREGATE_ADMIN_CA: authority.file, ...files })).code).toBe(0);
    const { code, err } = await list({ STOREGATE_ADMIN_CA: authority.file });
    expect(code).toBe(3);
    expect(err).toContain('Set STOREGATE_ADMIN_CLIENT_CERT and STOREGATE_ADMIN_CLIENT_KEY');
  });

  test('finds the gateway of its folder, whatever name its certificate has', async () => {
    await open({}, 'DNS:elsewhere.example');
    const env = {
      STOREGATE_ADMIN_TLS_CERT: pair.cert,
      STOREGATE_ADMIN_TLS_KEY: pair.key,
      STOREGATE_ADMIN_PORT: '0',
    };
    expect(await run(['bans', 'list'], env)).toMatchObject({ code: 0, err: '' });
  });

  test('needs no certificate in the folder of its gateway', async () => {
    const trusted = { STOREGATE_ADMIN_TLS_CLIENT_CA: authority.file, STOREGATE_ADMIN_TOKEN: TOKEN };
    await open(trusted);
    expect(await run(['bans', 'list'], {})).toMatchObject({ code: 0 });
  });

  test('finds the gateway of its folder, whatever is in the files of its certificate', async () => {
    await open({}, 'DNS:elsewhere.example');
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
