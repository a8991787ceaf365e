import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Wire } from '../hostile/wire.ts';
import { program } from '../runner/programs.ts';
import { Authority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { TestGateway } from '../support/gateway.ts';
import { binary, field } from '../support/proxy-protocol.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

let gateway: TestGateway;
let backend: FakeBackend;
let key: string;
let authority: Authority;
beforeAll(() => {
  authority = new Authority();
});
afterEach(async () => {
  await gateway.stop();
  await backend.close();
});
afterAll(() => authority.remove());

async function open(settings: object): Promise<void> {
  backend = await fakeBackend((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end('[]');
  });
  gateway = await TestGateway.start({
    settings: JSON.stringify(settings),
    backendUrl: backend.url,
  });
  key = (await gateway.key()).secret;
}

const behind = (more: object = {}) => ({
  listen: { proxyProtocol: { trustedBalancers: ['127.0.0.0/8'] }, ...more },
});
const get = () => `GET /pets HTTP/1.1\r\nHost: shop.example\r\nX-API-Key: ${key}\r\n\r\n`;
const logged = (msg: string) => gateway.log.filter((line) => line.msg === msg);
const from = (address: string) => `PROXY TCP4 ${address} 198.51.100.1 12345 443\r\n`;
const V4 = Buffer.from('c000020bc63364013039 01bb'.replaceAll(' ', ''), 'hex');

describe('behind a balancer with the PROXY protocol', () => {
  test('the client and its TLS are those in the header, and proxies before it are trusted by the same settings', async () => {
    await open({ ...behind(), http: { trustedProxies: ['192.0.2.12/32'] } });
    const forwarded = async (header: string | Buffer, requests = [get()]) => {
      const wire = await Wire.open(gateway.url);
      wire.send(Buffer.concat([Buffer.from(header), Buffer.from(requests.join(''))]));
      for (const _ of requests) expect((await wire.answer()).status).toBe(200);
      wire.close();
      const { headers } = backend.seen.at(-1)!;
      return [headers['x-forwarded-for'], headers['x-forwarded-proto'], headers.forwarded];
    };
    const plain = (address: string) => [
      address,
      'http',
      `for=${address.replace(', ', ', for=')};proto=http;host="shop.example"`,
    ];
    expect(await forwarded(from('192.0.2.11'), [get(), get()])).toEqual(plain('192.0.2.11'));
    await until('both are logged', () => logged('request').length === 2);
    expect(logged('request').map(({ address }) => address)).toEqual(['192.0.2.11', '192.0.2.11']);

    const overTls = binary(0x21, 0x11, V4, field(0x20, '\x01\0\0\0\0'));
    expect(await forwarded(overTls)).toEqual([
      '192.0.2.11',
      'https',
      'for=192.0.2.11;proto=https;host="shop.example"',
    ]);
    // Health checks of the balancer, and what it does not know.
    for (const header of [binary(0x20, 0x00), 'PROXY UNKNOWN\r\n'])
      expect(await forwarded(header)).toEqual(plain('127.0.0.1'));
    const chain = get().replace('\r\n\r\n', '\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n');
    const [addresses] = await forwarded(from('192.0.2.12'), [chain]);
    expect(addresses).toBe('203.0.113.9, 192.0.2.12');
  });

  test('a bad, missing or late header is refused without a response, and reported', async () => {
    await open({ ...behind(), http: { headersTimeout: '200ms' } });
    for (const bytes of [
      'PROXY TCP4 192.0',
      'PROXY TCP4 nowhere 198.51.100.1 1 2\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    ])
      expect(await (await Wire.open(gateway.url)).send(bytes).ended()).toBe('');
    // Others are summed up later.
    const first = { reason: 'it did not come in time', address: '127.0.0.1', count: 1 };
    expect(logged('proxy.refused')).toMatchObject([first]);
    expect((await gateway.admin.get('/metrics')).text).toMatch(
      /^storegate_proxy_headers_refused_total 3$/m,
    );
  });

  test('connections are counted by the address in the header, and the balancer may open all of them', async () => {
    await open({ ...behind(), http: { maxConnectionsPerAddress: 2 } });
    const wires: Wire[] = [];
    const next = async (address: string) => {
      const wire = await Wire.open(gateway.url);
      wires.push(wire);
      return wire.send(from(address) + get());
    };
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3'])
      expect((await (await next(address)).answer()).status).toBe(200);
    expect(await (await next('192.0.2.1')).ended()).toBe('');
    expect(logged('connection.refused')).toMatchObject([
      { reason: 'address', address: '192.0.2.1' },
    ]);
    for (const wire of wires) wire.close();
    await until('there is room again', async () => {
      const wire = await next('192.0.2.1');
      const status = await wire.answer().then(
        (response) => response.status,
        () => 0,
      );
      wire.close();
      return status === 200;
    });
  });

  test('TLS begins behind the header, also in the same read', async () => {
    const pair = authority.issue('gateway', 'DNS:shop.example');
    await open(behind({ tls: pair }));
    const wire = await Wire.open(gateway.url);
    wire.send(from('192.0.2.11'));
    const secured = connect({
      socket: wire.socket.removeAllListeners('data'),
      ca: authority.pem,
      servername: 'shop.example',
    });
    await once(secured, 'secureConnect');
    secured.write(get());
    expect(String(await once(secured, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
    const { headers } = backend.seen[0]!;
    expect([headers['x-forwarded-for'], headers['x-forwarded-proto']]).toEqual([
      '192.0.2.11',
      'https',
    ]);
    wire.close();
  });
});

test('another client cannot send the header: it is not a valid request', async () => {
  await open({ listen: { proxyProtocol: { trustedBalancers: ['192.0.2.0/24'] } } });
  const wire = await Wire.open(gateway.url);
  expect(await wire.send(from('192.0.2.11') + get()).answer()).toMatchObject({
    status: 400,
    code: 'malformed_request',
  });
  expect(backend.seen).toEqual([]);
});

describe('behind a real HAProxy', () => {
  test.each([
    ['version 1', 'send-proxy'],
    ['version 2 with a checksum and TLS', 'send-proxy-v2-ssl-cn proxy-v2-options crc32c'],
  ])('the client is known: %s', async (_, how) => {
    await open(behind());
    const folder = mkdtempSync(join(tmpdir(), 'haproxy-'));
    const port = await freePort();
    const { host } = new URL(gateway.url);
    const lines = [
      'defaults\n mode tcp\n timeout connect 5s\n timeout client 30s\n timeout server 30s',
      `frontend in\n bind 127.0.0.1:${port}\n default_backend out`,
      `backend out\n source 127.0.0.1\n server one ${host} ${how}`,
    ];
    writeFileSync(join(folder, 'haproxy.cfg'), `${lines.join('\n')}\n`);
    const child = spawn(program('haproxy'), ['-f', join(folder, 'haproxy.cfg'), '-db'], {
      stdio: 'ignore',
    });
    try {
      const wire = await reached(port, '127.0.0.7');
      expect((await wire.send(get()).answer()).status).toBe(200);
      const { headers } = backend.seen[0]!;
      expect([headers['x-forwarded-for'], headers['x-forwarded-proto']]).toEqual([
        '127.0.0.7',
        'http',
      ]);
      wire.close();
    } finally {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function reached(port: number, address: string): Promise<Wire> {
  let wire: Wire | null = null;
  await until('HAProxy listens', async () => {
    wire = await Wire.open(`http://127.0.0.1:${port}`, address).catch(() => null);
    return wire !== null;
  });
  return wire!;
}
