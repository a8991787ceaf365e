import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Wire } from '../hostile/wire.ts';
import { Authority } from '../support/certificates.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { HANDSHAKE_LINES, SWITCHED } from '../support/websocket.ts';

const PLANS = 'plans:\n  free: { windows: [{ limit: 1000000, per: 1m }] }\n';
const NAME = 'gateway.example';

let authority: Authority;
let gateway: TestGateway;
let backend: FakeBackend;
let key: string;
let pair: { cert: string; key: string };
let issued = 0;
beforeAll(() => {
  authority = new Authority();
});
afterEach(async () => {
  await gateway.stop();
  await backend.close();
});
afterAll(() => authority.remove());

const issue = (names: string) => authority.issue(`certificate-${issued++}`, names);

async function open(tls: object = {}, settings: object = {}): Promise<void> {
  pair = issue(`DNS:${NAME}`);
  backend = await fakeBackend((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end('[]');
  });
  const all = { listen: { tls: { ...pair, ...tls } }, ...settings };
  gateway = await TestGateway.start({
    settings: JSON.stringify(all),
    plans: PLANS,
    backendUrl: backend.url,
  });
  key = (await gateway.key()).secret;
}

const logged = (msg: string) => gateway.log.filter((line) => line.msg === msg);

function reaching(): ConnectionOptions & AgentOptions {
  return {
    ca: authority.pem,
    servername: NAME,
    port: Number(new URL(gateway.url).port),
    host: '127.0.0.1',
  };
}

async function handshake(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ ...reaching(), ...options });
  await once(socket, 'secureConnect');
  return socket;
}

async function refusal(options: ConnectionOptions): Promise<string> {
  const socket = connect({ ...reaching(), ...options });
  const [error] = await once(socket, 'error');
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** The certificate that the server sent on each connection; Node does not keep it. */
const serials = new WeakMap<Socket, string>();

interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly serial: string;
}

async function get(agent: Agent | false = false): Promise<Got> {
  const call = request({
    ...reaching(),
    agent,
    path: '/pets',
    headers: { 'X-API-Key': key, Host: NAME },
  });
  call.on('socket', (socket) => {
    const note = () =>
      void serials.set(socket, (socket as TLSSocket).getPeerX509Certificate()!.serialNumber);
    if (!serials.has(socket)) socket.once('secureConnect', note);
  });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const serial = serials.get(response.socket)!;
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: await text(response),
    serial,
  };
}

async function metrics(): Promise<string> {
  return (await gateway.admin.get('/metrics')).text;
}

describe('a gateway with a certificate', () => {
  test('answers over TLS, sends that to the backend, and explains the mistake to a client without TLS', async () => {
    await open();
    expect(gateway.url).toMatch(/^https:/);
    expect(await get()).toMatchObject({ status: 200, body: '[]' });
    const { headers } = backend.seen[0]!;
    expect(headers['x-forwarded-proto']).toBe('https');
    expect(headers.forwarded).toBe(`for=127.0.0.1;proto=https;host="${NAME}"`);

    const wire = await Wire.open(gateway.url);
    const response = await wire.send('GET /pets HTTP/1.1\r\nHost: a\r\n\r\nGET /').answer();
    expect(response).toMatchObject({ status: 400, code: 'malformed_request' });
    expect(response.body).toContain('This port uses TLS');
    expect(await wire.ended()).toBe('');
    expect(await metrics()).toContain(
      'storegate_tls_handshake_failures_total{reason="plaintext"} 1',
    );
  });

  test('has a certificate for each name: the exact one, one with a wildcard, and the first for all others', async () => {
    const wild = issue('DNS:*.shop.example,DNS:shop.example');
    const exact = issue('DNS:one.shop.example');
    await open({ certificates: [wild, exact] });
    const nameFor = async (servername: string | undefined) => {
      const socket = await handshake({ servername: servername ?? '', rejectUnauthorized: false });
      const { subjectAltName } = socket.getPeerX509Certificate()!;
      socket.destroy();
      return subjectAltName;
    };
    expect(await nameFor('ONE.shop.example')).toBe('DNS:one.shop.example');
    expect(await nameFor('two.shop.example')).toBe('DNS:*.shop.example, DNS:shop.example');
    expect(await nameFor('shop.example')).toBe('DNS:*.shop.example, DNS:shop.example');
    expect(await nameFor('a.two.shop.example')).toBe(`DNS:${NAME}`);
    expect(await nameFor('elsewhere.example')).toBe(`DNS:${NAME}`);
    expect(await nameFor(undefined)).toBe(`DNS:${NAME}`);
  });

  test('accepts no old version, no other protocol, and agrees on keys once', async () => {
    await open();
    const old = {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const;
    expect(await refusal(old)).toMatch(/VERSION|PROTOCOL/);
    for (const ciphers of [
      'AES128-GCM-SHA256',
      'DHE-RSA-AES128-GCM-SHA256',
      'ECDHE-RSA-AES128-SHA',
      'ECDHE-ECDSA-AES128-SHA',
    ])
      expect([ciphers, await refusal({ maxVersion: 'TLSv1.2', ciphers })]).toEqual([
        ciphers,
        expect.stringMatching(/HANDSHAKE_FAILURE/),
      ]);
    const { version } = (await handshake({ maxVersion: 'TLSv1.2' })).getCipher();
    expect(version).toBe('TLSv1.2');
    expect(await refusal({ ALPNProtocols: ['h2'] })).toMatch(/NO_APPLICATION_PROTOCOL/);
    expect((await handshake({ ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol).toBe('http/1.1');
    const again = await handshake({ maxVersion: 'TLSv1.2' });
    again.renegotiate({}, () => {});
    const [refused] = (await once(again, 'error')) as [NodeJS.ErrnoException];
    expect(refused.message).toContain('no renegotiation');
    await until('they are logged', () => logged('tls.failed').length > 1);
    expect(logged('tls.failed').map(({ reason }) => reason)).toEqual(['version', 'protocol']);
  });
});

describe('a client that does not finish its handshake', () => {
  test('and sends nothing, or the beginning of one, is disconnected after http.headersTimeout', async () => {
    await open({}, { http: { headersTimeout: '1s' } });
    for (const bytes of [Buffer.alloc(0), Buffer.from([0x16, 3, 1, 2, 0, 1, 0])])
      expect(await (await Wire.open(gateway.url)).send(bytes).ended()).toBe('');
    await until('it is logged', () => logged('tls.failed').length > 0);
    expect(logged('tls.failed')[0]).toMatchObject({ reason: 'timeout', address: '127.0.0.1' });
    const failures = (await metrics()).match(/^storegate_tls_handshake_failures_total\{.*[1-9]$/gm);
    expect(failures).toEqual(['storegate_tls_handshake_failures_total{reason="timeout"} 2']);
    // On a busy machine a good handshake may be late too.
    await until('others are served', async () => (await get().catch(() => null))?.status === 200);
  });

  test('and sends garbage affects no other client', async () => {
    await open();
    for (const bytes of [
      Buffer.from([0x16, 3, 1, 0, 4, 1, 0, 0, 0]),
      Buffer.alloc(5_000, 0x16),
      Buffer.from([0x80, 1]),
    ]) {
      const wire = await Wire.open(gateway.url);
      wire.send(bytes);
      wire.socket.end();
      await wire.ended();
    }
    expect((await get()).status).toBe(200);
    expect(logged('bug')).toEqual([]);
  });
});

describe('a renewed certificate', () => {
  test('affects no request in progress, and is used by new connections', async () => {
    await open();
    const before = (await get()).serial;
    const lasting = new Agent({ keepAlive: true, maxSockets: 1, ...reaching() });
    const results: { status: number; serial: string; lasting: boolean }[] = [];
    const losses: unknown[] = [];
    let over = false;
    const run = async (agent: Agent | false) => {
      for (; !over; await pause(10)) {
        await get(agent).then(
          ({ status, serial }) => results.push({ status, serial, lasting: agent !== false }),
          (error) => losses.push(error),
        );
      }
    };
    const runs = [run(lasting), run(false), run(false), run(false)];
    await until('they run', () => results.length > 20);
    const renewed = issue(`DNS:${NAME}`);
    copyFileSync(renewed.cert, pair.cert);
    await until('the half is refused', () => logged('reload.failed').length > 0);
    const amidst = results.length;
    await until('they continue', () => results.length > amidst + 20);
    expect(new Set(results.map(({ serial }) => serial))).toEqual(new Set([before]));
    copyFileSync(renewed.key, pair.key);
    await until('the whole is taken', () => logged('reload.done').length > 0);
    const after = results.length;
    await until('they continue', () => results.length > after + 40);
    over = true;
    await Promise.all(runs);
    lasting.destroy();

    expect(losses).toEqual([]);
    expect(results.every(({ status }) => status === 200)).toBe(true);
    const fresh = results.slice(after).filter((one) => !one.lasting);
    expect(fresh.at(-1)!.serial).not.toBe(before);
    expect(results.filter((one) => one.lasting).every(({ serial }) => serial === before)).toBe(
      true,
    );
    expect(logged('reload.failed')[0]!.problems).toEqual([
      expect.stringContaining(
        'listen.tls.key: the private key in its file does not belong to the certificate',
      ),
    ]);
    expect(logged('reload.done')[0]!.changed).toEqual(['certificates']);
  });
});

test('TLS is enabled, disabled and made stricter by a reload, for new connections', async () => {
  await open();
  const write = (tls: object) =>
    writeFileSync(join(gateway.folder, 'gateway.yaml'), JSON.stringify({ listen: { tls } }));
  const done = (count: number) =>
    until('it is taken', () => logged('reload.done').length === count);
  const lasting = new Agent({ keepAlive: true, maxSockets: 1, ...reaching() });
  expect((await get(lasting)).status).toBe(200);
  write({});
  await done(1);
  const wire = await Wire.open(gateway.url);
  expect(
    await wire.send(`GET /pets HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`).answer(),
  ).toMatchObject({
    status: 200,
  });
  wire.close();
  expect(backend.seen.map(({ headers }) => headers['x-forwarded-proto'])).toEqual([
    'https',
    'http',
  ]);
  expect((await get(lasting)).status).toBe(200);
  lasting.destroy();
  write({ ...pair, minVersion: 'TLSv1.3' });
  await done(2);
  expect(await refusal({ maxVersion: 'TLSv1.2' })).toMatch(/VERSION/);
  expect((await get()).status).toBe(200);
});

test('a stop loses no request, and ends connections with close_notify', async () => {
  await open({}, { http: { drainDelay: '2s' } });
  const idle = await handshake();
  const over = once(idle, 'end');
  const agents = [1, 2, 3].map(() => new Agent({ keepAlive: true, maxSockets: 1, ...reaching() }));
  const statuses: number[] = [];
  const losses: unknown[] = [];
  let isOver = false;
  const runs = agents.map(async (agent) => {
    for (; !isOver; await pause(5)) {
      const { status, headers } = await get(agent);
      statuses.push(status);
      if (headers.connection === 'close') return;
    }
  });
  await until('they run', () => statuses.length > 20);
  const stopped = gateway.close();
  await Promise.all(runs.map((run) => run.catch((error) => losses.push(error))));
  isOver = true;
  await Promise.all([stopped, over]);
  for (const agent of agents) agent.destroy();
  expect([losses, new Set(statuses)]).toEqual([[], new Set([200])]);
});

test('a WebSocket through an API without a contract works over TLS too', async () => {
  const echo = createTcpServer((socket) => {
    socket.once('data', () => {
      socket.write(SWITCHED);
      socket.on('data', (bytes) => socket.write(bytes));
    });
    socket.on('error', () => socket.destroy());
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const target = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  await open(
    {},
    {
      apis: [
        {
          name: 'chat',
          path: '/chat',
          contract: 'none',
          stripPath: false,
          target,
          websocket: true,
        },
      ],
    },
  );
  const socket = await handshake();
  const lines = ['Host: a', `X-API-Key: ${key}`, ...HANDSHAKE_LINES];
  socket.write(`GET /chat HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  await until('the protocol changes', () => received.includes('\r\n\r\n'));
  expect(received).toMatch(/^HTTP\/1\.1 101 /);
  const much = 'frame '.repeat(50_000);
  socket.write(much);
  await until('all comes back', () => received.endsWith(much));
  const ended = once(socket, 'close');
  socket.end();
  await ended;
  echo.close();
});
