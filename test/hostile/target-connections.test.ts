import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { blockEventLoop } from '../support/block-event-loop.ts';
import { Authority } from '../support/certificates.ts';
import { TestGateway } from '../support/gateway.ts';
import { tlsBackend } from '../support/tls-backend.ts';
import { until } from '../support/until.ts';
import { Fixture } from './fixture.ts';
import { EMPTY_LIST } from './recording-backend.ts';

const apis = (url: string) =>
  `apis: [{name: files, path: /files, contract: none, stripPath: false, target: "${url}"}]`;
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';

/** The other deadline is too long to replace the short one. */
let hastyForHeads: Fixture;
let hastyForBodies: Fixture;
let patient: Fixture;
let fixture: Fixture;
const all = () => [hastyForHeads, hastyForBodies, patient];
beforeAll(async () => {
  const start = (upstream: string, http: string) =>
    Fixture.start({ settings: `upstream: {${upstream}}\nhttp: {${http}}`, apis });
  hastyForHeads = await start('headersTimeout: 1s, bodyTimeout: 60s', 'maxBodyBytes: 4MiB');
  hastyForBodies = await start(
    'headersTimeout: 60s, bodyTimeout: 1s',
    'maxBodyBytes: 64KiB, bodyBudget: 512KiB',
  );
  patient = await start(
    'headersTimeout: 60s, bodyTimeout: 60s',
    'maxBodyBytes: 4MiB, drainTimeout: 60s',
  );
});
afterAll(async () => {
  for (const one of all()) await one.stop();
});
beforeEach(() => {
  fixture = patient;
  for (const { backend } of all()) {
    backend.dropConnections();
    backend.respond = (socket) => void socket.write(EMPTY_LIST);
  }
});

const request = (method: string, body = '') =>
  fixture.request(
    `${method} /files/a`,
    body === '' ? [] : [`Content-Length: ${body.length}`],
    body,
  );
const get = () => request('GET');

describe('a deadline of a target', () => {
  beforeEach(() => {
    fixture = hastyForHeads;
  });

  test('headersTimeout is not extended by interim responses', async () => {
    fixture.backend.respond = (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 100);
      socket.once('close', () => clearInterval(timer));
    };
    expect(await fixture.ask(get())).toMatchObject({ status: 504, code: 'upstream_timeout' });
  });

  test('headersTimeout ends where the response has begun', async () => {
    fixture.backend.respond = (socket) => {
      socket.write(HEAD);
      setTimeout(() => socket.write('0123456789'), 2_000);
    };
    expect(await fixture.ask(get())).toMatchObject({ status: 200, body: '0123456789' });
  });

  test('bodyTimeout begins with the response', async () => {
    fixture = hastyForBodies;
    fixture.backend.respond = (socket) => void setTimeout(() => socket.write(EMPTY_LIST), 2_000);
    expect(await fixture.ask(get())).toMatchObject({ status: 200, body: '[]' });
  });

  test('bodyTimeout does not count while the client reads slowly', async () => {
    fixture = hastyForBodies;
    const body = Buffer.alloc(24 * 1024 * 1024, 'x');
    fixture.backend.respond = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    };
    const wire = await fixture.connect();
    wire.socket.pause();
    wire.send(get());
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    wire.socket.resume();
    expect((await wire.answer()).body).toHaveLength(body.length);
    wire.close();
  });
});

test('the head of a response passes before the first byte of its body', async () => {
  let finish: (() => void) | undefined;
  fixture.backend.respond = (socket) => {
    socket.write(HEAD);
    finish = () => void socket.write('0123456789');
  };
  const response = await fetch(`${fixture.gateway.url}/files/a`, {
    headers: { 'X-API-Key': fixture.secret },
  });
  finish!();
  expect(await response.text()).toBe('0123456789');
});

test('a request is not sent again to a target that has had a part of its body', async () => {
  const served = new WeakSet<Socket>();
  fixture.backend.respond = (socket) => {
    if (served.has(socket)) return void socket.destroy();
    served.add(socket);
    socket.write(EMPTY_LIST);
  };
  await fixture.ask(get());
  const before = fixture.backend.requests.length;
  expect((await fixture.ask(request('PUT', 'x'.repeat(3_000_000)))).status).toBe(502);
  expect(fixture.backend.requests.length - before).toBe(1);
});

describe('an idle connection to a target', () => {
  test('is given up as its target closes it', async () => {
    let close: (() => void) | undefined;
    fixture.backend.respond = (socket) => {
      socket.write(EMPTY_LIST);
      close = () => void socket.end();
    };
    await fixture.ask(get());
    close!();
    await until('the connection is closed', () => fixture.backend.connections === 0);
    expect((await fixture.ask(request('POST', '[]'))).status).toBe(200);
  });

  test.each([
    ['upstream.keepAliveTimeout', 'keepAliveTimeout: 200ms', ''],
    ['the Keep-Alive of the target', '', 'Keep-Alive: timeout=1\r\n'],
  ])('is not used after %s', async (_what, settings, hint) => {
    const own = await Fixture.start({ settings: settings && `upstream: {${settings}}`, apis });
    const used = new WeakSet<Socket>();
    own.backend.respond = (socket) => {
      if (used.has(socket)) socket.destroy();
      else socket.write(EMPTY_LIST.replace('\r\n', `\r\n${hint}`));
      used.add(socket);
    };
    const post = own.request('POST /files/a', ['Content-Length: 2'], '[]');
    expect((await own.ask(post)).status).toBe(200);
    // No timer runs meanwhile, so only a check at the next request can see the age.
    blockEventLoop(300);
    expect((await own.ask(post)).status).toBe(200);
    await own.stop();
  });
});

describe('a target on a socket of its own', () => {
  let server: Server;
  let gateway: TestGateway;
  let serve: (socket: Socket) => void;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    server = createServer((socket) => {
      sockets.push(socket.on('error', () => socket.destroy()));
      serve(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    gateway = await TestGateway.start({
      settings: `http: {maxBodyBytes: 64MiB}\n${apis(`http://127.0.0.1:${port}`)}`,
    });
  });
  afterAll(async () => {
    await gateway.stop();
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  test.each([
    ['and reads on', (socket: Socket) => void socket.resume()],
    ['and reads no more', (socket: Socket) => void socket.pause()],
  ])('answers before the body is whole, %s: the client gets that answer', async (_what, after) => {
    serve = (socket) =>
      void socket.once('data', () => {
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
        after(socket);
      });
    const { secret } = await gateway.key();
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.alloc(0x10000, 'x')),
    });
    const headers = { 'X-API-Key': secret };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const response = await fetch(`${gateway.url}/files/a`, init);
    expect([response.status, await response.text()]).toEqual([413, 'no']);
  });
});

test('a response head of a target may have 16 KiB; a larger one is 502', async () => {
  const statuses = [];
  for (const size of [15_000, 20_000]) {
    fixture.backend.respond = (socket) =>
      void socket.write(EMPTY_LIST.replace('\r\n', `\r\nX-Large: ${'x'.repeat(size)}\r\n`));
    statuses.push((await fixture.ask(get())).status);
  }
  expect(statuses).toEqual([200, 502]);
});

test('a status line that Node.js reads but cannot write is 502, and the gateway goes on', async () => {
  for (const line of ['099 Low', '999 High', '200 Sp\x01lit']) {
    fixture.backend.respond = (socket) =>
      void socket.write(`HTTP/1.1 ${line}\r\nContent-Length: 2\r\n\r\n[]`);
    expect(await fixture.ask(get())).toMatchObject({ status: 502, code: 'upstream_error' });
  }
  fixture.backend.respond = (socket) => void socket.write(EMPTY_LIST);
  expect((await fixture.ask(get())).status).toBe(200);
});

describe('a target with https', () => {
  const authority = new Authority();
  const trusted = getCACertificates('default');
  afterAll(() => {
    setDefaultCACertificates(trusted);
    authority.remove();
  });

  test('is used over one kept connection if its certificate is trusted, and else is 502', async () => {
    const target = await tlsBackend(authority.issue('target', 'DNS:localhost'));
    const refused = await Fixture.start({ apis: () => apis(target.url) });
    const ask = (one: Fixture) => one.ask(one.request('GET /files/a'));
    expect(await ask(refused)).toMatchObject({ status: 502, code: 'upstream_unavailable' });
    await refused.stop();
    setDefaultCACertificates([...trusted, authority.pem]);
    const accepted = await Fixture.start({ apis: () => apis(target.url) });
    for (let i = 0; i < 3; i++)
      expect(await ask(accepted)).toMatchObject({ status: 200, body: '[]' });
    expect(target.connections).toHaveLength(1);
    await accepted.stop();
    await target.close();
  });
});
