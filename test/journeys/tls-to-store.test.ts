import { copyFileSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Authority } from '../support/certificates.ts';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { type TlsStore, tlsStore } from '../support/tls-store.ts';
import { until } from '../support/until.ts';

let authority: Authority;
let gateway: TestGateway;
let store: TlsStore;
let key: string;
beforeAll(() => {
  authority = new Authority();
});
afterEach(async () => {
  await gateway.stop();
  await store.close();
});
afterAll(() => authority.remove());

async function behind(started: TlsStore, tls: Record<string, string>): Promise<void> {
  store = started;
  gateway = await TestGateway.start({
    settings: JSON.stringify({ upstream: { tls } }),
    storeUrl: store.url,
  });
  key = (await gateway.key()).secret;
}

const get = () => gateway.client.get('/pets').set('X-API-Key', key);
const logged = (msg: string) => gateway.log.filter((line) => line.msg === msg);

describe('a backend behind TLS', () => {
  test('is trusted by its own authority, and its sessions are resumed', async () => {
    await behind(await tlsStore(authority.issue('store', 'DNS:localhost')), { ca: authority.file });
    expect((await get()).status).toBe(200);
    store.hangUp();
    await until(
      'a second connection',
      async () => (await get()).status === 200 && store.connections.length > 1,
    );
    expect(store.connections.map(({ resumed }) => resumed).slice(0, 2)).toEqual([false, true]);
  });

  test('is 502 if its certificate is not trusted, and the log says what to do', async () => {
    await behind(await tlsStore(authority.issue('store', 'DNS:localhost')), {});
    isTheError(await get(), 502, 'upstream_unavailable');
    const { host } = new URL(store.url);
    expect(logged('outage')[0]!.reason).toContain(`the certificate of ${host} is not trusted`);
    expect(logged('outage')[0]!.reason).toContain('tls.ca');
    await until('it is down', async () => (await get()).status === 503);
    expect(logged('upstream.down')[0]).toMatchObject({
      reason: 'untrusted',
      error: expect.stringContaining('tls.ca'),
    });
    const { stores } = (await gateway.admin.get('/stores')).body;
    expect(JSON.stringify(stores)).toContain('"reason":"untrusted"');
  });

  test('may have a certificate of another name than the URL, if settings name it', async () => {
    const pair = authority.issue('elsewhere', 'DNS:store.internal');
    await behind(await tlsStore(pair), { ca: authority.file });
    isTheError(await get(), 502, 'upstream_unavailable');
    expect(logged('outage')[0]!.reason).toContain('is for another name');
    await gateway.stop();
    await store.close();
    await behind(await tlsStore(pair), { ca: authority.file, serverName: 'store.internal' });
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
    await behind(await tlsStore(authority.issue('store', 'DNS:localhost'), asking), {
      ca: authority.file,
      ...first,
    });
    expect((await get()).status).toBe(200);
    expect(store.connections.at(-1)!.client).toBe('first');

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
    store.hangUp();
    await until('the store knows the new one', async () => {
      expect((await get()).status).toBe(200);
      return store.connections.at(-1)!.client === 'second';
    });
  });

  test('that requires a certificate and gets none is 502, and the log says so', async () => {
    const asking = {
      requestCert: true,
      rejectUnauthorized: true,
      ca: [readFileSync(authority.file)],
    };
    await behind(await tlsStore(authority.issue('store', 'DNS:localhost'), asking), {
      ca: authority.file,
    });
    expect((await get()).status).toBe(502);
    expect(logged('outage')[0]!.reason).toContain(
      "does not take the gateway's certificate, or wants one",
    );
  });
});
