import { copyFileSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Authority } from '../support/certificates.ts';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { type TlsBackend, tlsBackend } from '../support/tls-backend.ts';
import { until } from '../support/until.ts';

let authority: Authority;
let gateway: TestGateway;
let backend: TlsBackend;
let key: string;
beforeAll(() => {
  authority = new Authority();
});
afterEach(async () => {
  await gateway.stop();
  await backend.close();
});
afterAll(() => authority.remove());

async function behind(started: TlsBackend, tls: Record<string, string>): Promise<void> {
  backend = started;
  gateway = await TestGateway.start({
    settings: JSON.stringify({ upstream: { tls } }),
    backendUrl: backend.url,
  });
  key = (await gateway.key()).secret;
}

const get = () => gateway.client.get('/pets').set('X-API-Key', key);
const logged = (msg: string) => gateway.log.filter((line) => line.msg === msg);

describe('a backend behind TLS', () => {
  test('is trusted by its own authority, and its sessions are resumed', async () => {
    await behind(await tlsBackend(authority.issue('backend', 'DNS:localhost')), {
      ca: authority.file,
    });
    expect((await get()).status).toBe(200);
    backend.hangUp();
    await until(
      'a second connection',
      async () => (await get()).status === 200 && backend.connections.length > 1,
    );
    expect(backend.connections.map(({ resumed }) => resumed).slice(0, 2)).toEqual([false, true]);
  });

  test('is 502 if its certificate is not trusted, and the log says what to do', async () => {
    await behind(await tlsBackend(authority.issue('backend', 'DNS:localhost')), {});
    isTheError(await get(), 502, 'upstream_unavailable');
    const { host } = new URL(backend.url);
    expect(logged('outage')[0]!.reason).toContain(`the certificate of ${host} is not trusted`);
    expect(logged('outage')[0]!.reason).toContain('tls.ca');
    await until('it is down', async () => (await get()).status === 503);
    expect(logged('upstream.down')[0]).toMatchObject({
      reason: 'untrusted',
      error: expect.stringContaining('tls.ca'),
    });
    const { backends } = (await gateway.admin.get('/backends')).body;
    expect(JSON.stringify(backends)).toContain('"reason":"untrusted"');
  });

  test('may have a certificate of another name than the URL, if settings name it', async () => {
    const pair = authority.issue('elsewhere', 'DNS:backend.internal');
    await behind(await tlsBackend(pair), { ca: authority.file });
    isTheError(await get(), 502, 'upstream_unavailable');
    expect(logged('outage')[0]!.reason).toContain('is for another name');
    await gateway.stop();
    await backend.close();
    await behind(await tlsBackend(pair), { ca: authority.file, serverName: 'backend.internal' });
    expect((await get()).status).toBe(200);
  });

  test('identifies the gateway by its certificate, also after a renewal, and without a restart', async () => {
    const asking = {
      requestCert: true,
      rejectUnauthorized: true,
      ca: [readFileSync(authority.file)],
    };
    const first = authority.issue('first', 'DNS:gateway.example');
    const second = authority.issue('second', 'DNS:gateway.example');
    await behind(await tlsBackend(authority.issue('backend', 'DNS:localhost'), asking), {
      ca: authority.file,
      ...first,
    });
    expect((await get()).status).toBe(200);
    expect(backend.connections.at(-1)!.client).toBe('first');

    copyFileSync(second.cert, first.cert);
    await until('half a pair is refused', () => logged('reload.failed').length > 0);
    expect(logged('reload.failed')[0]!.problems).toEqual([
      expect.stringContaining(
        'upstream.tls.key: the private key in its file does not belong to the certificate',
      ),
    ]);
    copyFileSync(second.key, first.key);
    await until('the pair is taken', () => logged('reload.done').length > 0);
    expect(logged('reload.done')[0]!.changed).toEqual(['certificates']);
    backend.hangUp();
    await until('the backend knows the new one', async () => {
      expect((await get()).status).toBe(200);
      return backend.connections.at(-1)!.client === 'second';
    });
  });

  test('that requires a certificate and gets none is 502, and the log says so', async () => {
    const asking = {
      requestCert: true,
      rejectUnauthorized: true,
      ca: [readFileSync(authority.file)],
    };
    await behind(await tlsBackend(authority.issue('backend', 'DNS:localhost'), asking), {
      ca: authority.file,
    });
    expect((await get()).status).toBe(502);
    expect(logged('outage')[0]!.reason).toContain(
      "does not take the gateway's certificate, or wants one",
    );
  });
});
