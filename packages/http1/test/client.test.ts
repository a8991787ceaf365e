import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket, type Server as TcpServer } from 'node:net';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  Server as TlsServer,
} from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { blockEventLoop } from '../../../test/support/block-event-loop.ts';
import { Authority } from '../../../test/support/certificates.ts';
import { lines } from '../../../test/support/lines.ts';
import { until } from '../../../test/support/until.ts';
import { type BodySink, BodyStream } from '../src/body-stream.ts';
import type { ClientConnection } from '../src/client-connection.ts';
import type { ClientError } from '../src/client-error.ts';
import type { ClientRequest, ClientResponse, StreamedBody, Tunnel } from '../src/client-request.ts';
import { createPool, openerTo, type Pool, type PoolOptions } from '../src/pool.ts';
import { PoolBusy } from '../src/pool-busy.ts';

const HOUR = 3_600_000;
/** More than the system buffers of a connection that is not read. */
const MUCH = 32 * 1024 * 1024;

/** For the n-th request, from 1; `text` is what arrived on this connection since the last. */
type Behaviour = (socket: Socket, count: number, text: string) => void;

interface Far {
  readonly url: string;
  readonly sockets: Set<Socket>;
  opened: number;
  asked: number;
  received: string;
}

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function far(
  behave: Behaviour,
  server: TcpServer = createServer(),
  host = '127.0.0.1',
): Promise<Far> {
  const protocol = server instanceof TlsServer ? 'https' : 'http';
  const sockets = new Set<Socket>();
  server.on(protocol === 'https' ? 'secureConnection' : 'connection', (socket: Socket) => {
    made.opened++;
    sockets.add(socket);
    let text = '';
    socket
      .on('error', () => socket.destroy())
      .on('close', () => sockets.delete(socket))
      .on('data', (bytes) => {
        made.received += bytes.toString('latin1');
        text += bytes.toString('latin1');
        if (!text.includes('\r\n\r\n')) return;
        const whole = text;
        text = '';
        behave(socket, ++made.asked, whole);
      });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const made: Far = {
    url: `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    sockets,
    opened: 0,
    asked: 0,
    received: '',
  };
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return made;
}

const LIMITS = {
  connections: 1,
  mostWaiting: 8,
  connectTimeout: HOUR,
  headersTimeout: HOUR,
  bodyTimeout: HOUR,
  keepAliveTimeout: HOUR,
};

function poolTo(url: string, given: Partial<PoolOptions> = {}, tunnels = false): Pool {
  const origin = new URL(url);
  const pool = createPool({
    ...LIMITS,
    host: origin.host,
    open: openerTo(origin, { tunnels }),
    ...given,
  });
  closers.push(() => pool.close());
  return pool;
}

interface Asking {
  readonly connection: ClientConnection;
  readonly question: ClientRequest;
  readonly receive: Promise<ClientResponse>;
}

const GET: ClientRequest = { method: 'GET', target: '/a', fields: lines('x-own', '1'), body: null };

const ask = (connection: ClientConnection, question: ClientRequest) =>
  new Promise<ClientResponse>((resolve, reject) =>
    connection.ask(question, { begun: () => {}, receive: resolve, fail: reject }),
  );

async function begin(pool: Pool, given: Partial<ClientRequest> = {}): Promise<Asking> {
  const connection = await pool.take();
  const question = { ...GET, ...given };
  const response = ask(connection, question);
  response.catch(() => {});
  return { connection, question, receive: response };
}

async function send(pool: Pool, given: Partial<ClientRequest> = {}) {
  const { receive: response } = await begin(pool, given);
  const { status, body } = await response;
  return [status, await textOf(body)];
}

function textOf(body: Buffer | BodyStream): Promise<string> {
  if (!(body instanceof BodyStream)) return Promise.resolve(body.toString('latin1'));
  return new Promise((resolve, reject) => {
    let text = '';
    body.to({
      chunk(bytes) {
        text += bytes.toString('latin1');
        return true;
      },
      end: () => resolve(text),
      fail: reject,
    });
  });
}

function sent(length: number | null) {
  let sink: Parameters<StreamedBody['readBody']>[0] | null = null;
  let resumes = 0;
  const body: StreamedBody = {
    length,
    readBody(taker) {
      sink = taker;
    },
    resumeBody: () => void resumes++,
  };
  return { body, sink: () => sink!, resumes: () => resumes };
}

const failure = (of: Promise<unknown>) =>
  of.then(
    () => Promise.reject(new Error('no failure')),
    (e: ClientError) => e,
  );
/** Of one question. */
const refusal = async (pool: Pool) => failure((await begin(pool)).receive);
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CHUNKED_OK = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
const NINE = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n';
const responses =
  (...all: string[]): Behaviour =>
  (socket, count) =>
    void socket.write(all[Math.min(count, all.length) - 1]!, 'latin1');

async function comesAtThePaceOfItsReader(open: (behave: Behaviour) => Promise<Far>) {
  let all = false;
  const backend = await open((socket, count) => {
    if (count > 1) return void socket.write(OK);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${MUCH}\r\n\r\n`);
    socket.write(Buffer.alloc(MUCH), () => {
      all = true;
    });
  });
  const pool = poolTo(backend.url);
  const { receive: response } = await begin(pool);
  const stream = (await response).body as BodyStream;
  let [taken, whole] = [0, false];
  stream.to({
    chunk: (bytes) => {
      taken += bytes.length;
      return false;
    },
    end: () => {
      whole = true;
    },
    fail: () => {},
  });
  await until('some of it is there', () => taken > 0);
  const other = poolTo((await far(responses(OK))).url);
  for (let i = 0; i < 5; i++) await send(other);
  expect([taken < MUCH / 2, all]).toEqual([true, false]);
  for (; !whole; await new Promise(setImmediate)) stream.resume();
  expect(taken).toBe(MUCH);
  expect(await send(pool)).toEqual([200, 'ok']);
  expect(backend.opened).toBe(1);
}

describe('an answer', () => {
  test.each<[string, string, string, string]>([
    ['of known length', 'GET', OK, 'ok'],
    ['in chunks', 'GET', CHUNKED_OK.replace('2\r\nok', '1\r\no\r\n1\r\nk'), 'ok'],
    ['with trailers', 'GET', CHUNKED_OK.replace('0\r\n', '0\r\nX-T: 1\r\n'), 'ok'],
    ['without a body', 'GET', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ''],
    ['to HEAD', 'HEAD', NINE, ''],
    ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', ''],
    [
      'behind interim ones',
      'GET',
      `HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}`,
      'ok',
    ],
  ])(
    '%s is read whole, and its connection serves the next question',
    async (_what, method, response, body) => {
      const { url, ...backend } = await far(responses(response, OK));
      const pool = poolTo(url);
      expect((await send(pool, { method }))[1]).toBe(body);
      // Twice: the first may show the state that the connection was left in.
      for (let i = 0; i < 2; i++) expect(await send(pool)).toEqual([200, 'ok']);
      expect(backend.sockets.size).toBe(1);
    },
  );

  test.each<[string, string]>([
    ['says so', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'],
    ['of HTTP/1.0 does not say otherwise', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['has bytes behind its answer', `${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`],
    [
      'would be closed at once',
      'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok',
    ],
  ])('whose connection %s is the last on it', async (_what, response) => {
    const backend = await far(responses(response, OK));
    const pool = poolTo(backend.url);
    for (let i = 0; i < 2; i++) expect(await send(pool)).toEqual([200, 'ok']);
    expect(backend.opened).toBe(2);
  });

  test('that ends with its connection is whole then', async () => {
    const backend = await far((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nto the end'));
    const pool = poolTo(backend.url);
    for (let i = 0; i < 2; i++) expect(await send(pool)).toEqual([200, 'to the end']);
    expect(backend.opened).toBe(2);
  });

  test('in one read does not belong to an earlier question, though it was not taken at once', async () => {
    const pool = poolTo((await far(responses(CHUNKED_OK, OK))).url);
    const { receive: response } = await begin(pool);
    const { body } = await response;
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(await textOf(body)).toBe('ok');
  });

  test('comes at the pace of its reader', () => comesAtThePaceOfItsReader(far));

  test.each<[string, string]>([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['two ends', CHUNKED_OK.replace('Transfer', 'Content-Length: 2\r\nTransfer')],
    ['an unrequested change of protocol', 'HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n'],
    ['interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(17)],
    ['a head without end', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}`],
  ])('that is not valid is broken: %s', async (_what, bytes) => {
    const backend = await far(responses(bytes, OK));
    const pool = poolTo(backend.url);
    expect(await refusal(pool)).toMatchObject({ failure: 'broken', diedIdle: false });
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(backend.opened).toBe(2);
  });

  test.each<[string, string]>([
    ['of known length', `${NINE}ok`],
    ['in chunks', CHUNKED_OK.slice(0, -5)],
  ])('that breaks off fails its reader: %s', async (_what, bytes) => {
    const pool = poolTo((await far((socket) => socket.end(bytes))).url);
    const { receive: response } = await begin(pool);
    expect(await failure(textOf((await response).body))).toMatchObject({ failure: 'broken' });
  });
});

describe('no response', () => {
  test('is one that does not come in time', async () => {
    const pool = poolTo((await far(() => {})).url, { headersTimeout: 30 });
    expect(await refusal(pool)).toMatchObject({ failure: 'too_slow' });
  });

  test('is one that does not come in the time of its own request', async () => {
    const { receive } = await begin(poolTo((await far(() => {})).url), { headersTimeout: 30 });
    expect(await failure(receive)).toMatchObject({ failure: 'too_slow' });
  });

  test('is not one that came while this process stood still', async () => {
    const { url } = await far((socket, count, text) => {
      responses('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')(socket, count, text);
      blockEventLoop(1_500);
    });
    const { receive: response } = await begin(poolTo(url, { headersTimeout: 1_000 }));
    expect((await response).status).toBe(200);
  });

  test('is one that stops coming', async () => {
    const pool = poolTo((await far(responses(`${NINE}ok`))).url, { bodyTimeout: 30 });
    const { receive: response } = await begin(pool);
    expect(await failure(textOf((await response).body))).toMatchObject({ failure: 'too_slow' });
  });

  test('comes from a closed port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const pool = poolTo(`http://127.0.0.1:${port}`);
    expect(await refusal(pool)).toMatchObject({ failure: 'unreachable' });
  });

  test('comes on a connection that ends first; only one that has served may have been about to end', async () => {
    const backend = await far(
      (socket, count) => void (count === 2 ? socket.write(OK) : socket.destroy()),
    );
    const pool = poolTo(backend.url);
    expect(await refusal(pool)).toMatchObject({ failure: 'broken', diedIdle: false });
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(await refusal(pool)).toMatchObject({ failure: 'broken', diedIdle: true });
  });
});

describe('a body', () => {
  test.each([10, 100_000])('of %i bytes that is there is sent as it is', async (size) => {
    const backend = await far(responses(OK));
    const pool = poolTo(backend.url);
    const body = Buffer.alloc(size, '\xe9', 'latin1');
    expect(await send(pool, { method: 'POST', body })).toEqual([200, 'ok']);
    await until('it has come', () => backend.received.endsWith(body.toString('latin1')));
    expect(backend.received).toContain(`Content-Length: ${size}\r\n`);
  });

  test.each<[number | null, string]>([
    [6, 'Content-Length: 6\r\nConnection: keep-alive\r\n\r\nonetwo'],
    [
      null,
      'Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n',
    ],
  ])('of length %p is sent as it comes', async (length, expected) => {
    let isWhole = false;
    const backend = await far((socket) => {
      const look = () => {
        if (isWhole || !backend.received.endsWith(expected)) return;
        isWhole = true;
        socket.write(OK);
      };
      if (isWhole) socket.write(OK);
      else socket.on('data', look);
      look();
    });
    const pool = poolTo(backend.url);
    const { body, sink } = sent(length);
    const { receive: response } = await begin(pool, { method: 'PUT', body });
    sink().chunk(Buffer.from('one'));
    await until('it has come', () => backend.received.includes('one'));
    sink().chunk(Buffer.from('two'));
    sink().end();
    expect((await response).status).toBe(200);
    expect(await send(pool, { target: '/b' })).toEqual([200, 'ok']);
    expect(backend.opened).toBe(1);
  });

  test('waits for a slow server, and continues with it', async () => {
    const backend = await far((socket) => socket.pause());
    const pool = poolTo(backend.url);
    const { body, sink, resumes } = sent(null);
    await begin(pool, { method: 'PUT', body });
    await until('it is connected', () => backend.sockets.size === 1 && backend.received !== '');
    const part = Buffer.alloc(64 * 1024);
    let written = 0;
    while (sink().chunk(part)) written += part.length;
    expect([written < MUCH, resumes()]).toEqual([true, 0]);
    for (const socket of backend.sockets) socket.resume();
    await until('it may continue', () => resumes() > 0);
  });

  test('that fails on its way fails the question, with its reason', async () => {
    const backend = await far(() => {});
    const { body, sink } = sent(6);
    const { receive: response } = await begin(poolTo(backend.url), { method: 'PUT', body });
    sink().chunk(Buffer.from('one'));
    const reason = new Error('the caller has left');
    sink().fail(reason);
    expect(await failure(response)).toMatchObject({ failure: 'body', cause: reason });
    await until('the server sees the end', () => backend.sockets.size === 0);
  });

  test.each(['as it comes', 'at once'])(
    'that is answered before it is sent ends its connection: %s',
    async (how) => {
      // A pause keeps the system from taking all of it.
      const backend = await far((socket, count) => {
        if (count === 1) socket.pause();
        socket.write(OK);
      });
      const pool = poolTo(backend.url);
      const { body, sink } = sent(9);
      const { receive: response } = await begin(pool, {
        method: 'PUT',
        body: how === 'at once' ? Buffer.alloc(MUCH) : body,
      });
      if (how === 'as it comes') sink().chunk(Buffer.from('one'));
      expect((await response).status).toBe(200);
      expect(await send(pool)).toEqual([200, 'ok']);
      expect(backend.opened).toBe(2);
      if (how === 'as it comes') expect(sink().chunk(Buffer.from('more'))).toBe(true);
    },
  );
});

describe('a question', () => {
  test('that is given up ends its connection, and notifies no listener', async () => {
    const backend = await far(() => {});
    const pool = poolTo(backend.url);
    const { connection, question, receive: response } = await begin(pool);
    let called = false;
    response
      .finally(() => {
        called = true;
      })
      .catch(() => {});
    await until('it has come', () => backend.asked === 1);
    connection.cancel(question);
    await until('the server sees the end', () => backend.sockets.size === 0);
    expect([called, connection.isOpen]).toEqual([false, false]);
  });

  test('that is over cannot end its connection, nor the question of another', async () => {
    const backend = await far(responses(OK));
    const pool = poolTo(backend.url);
    const first = await begin(pool);
    await first.receive;
    const second = await begin(pool);
    expect(second.connection).toBe(first.connection);
    first.connection.cancel(first.question);
    expect((await second.receive).status).toBe(200);
    expect(backend.opened).toBe(1);
  });

  test('on a connection that has one is an error, and the first one is answered', async () => {
    const pool = poolTo((await far(responses(OK))).url);
    const { connection, receive: response } = await begin(pool);
    const receiver = { begun: () => {}, receive: () => {}, fail: () => {} };
    expect(() => connection.ask(GET, receiver)).toThrow('"waiting" cannot follow "waiting"');
    expect((await response).status).toBe(200);
    pool.close();
    expect(() => connection.ask(GET, receiver)).toThrow('"waiting" cannot follow "closed"');
  });

  test('that cannot be sent leaves its connection free', async () => {
    const backend = await far(responses(OK));
    const connection = await poolTo(backend.url).take();
    const taker = { begun: () => {}, receive: () => {}, fail: () => {} };
    expect(() => connection.ask({ ...GET, target: '/a b' }, taker)).toThrow('no target can have');
    expect((await ask(connection, GET)).status).toBe(200);
    expect(backend.received).not.toContain('/a b');
  });
});

describe('a pool', () => {
  /** Answers the first question when it is released. */
  async function holding() {
    let first: Socket;
    const backend = await far((socket, count) => {
      if (count === 1) first = socket;
      else socket.write(OK);
    });
    return { backend, release: () => void first.write(OK) };
  }

  test('keeps to its connections: questions wait in turn, and beyond the most are refused', async () => {
    const { backend, release } = await holding();
    const pool = poolTo(backend.url, { mostWaiting: 2 });
    const first = begin(pool);
    await until('it has come', () => backend.asked === 1);
    const others = [send(pool, { target: '/1' }), send(pool, { target: '/2' })];
    await expect(pool.take()).rejects.toBeInstanceOf(PoolBusy);
    release();
    await (await first).receive;
    expect(await Promise.all(others)).toEqual([
      [200, 'ok'],
      [200, 'ok'],
    ]);
    expect(backend.received.indexOf('/1')).toBeLessThan(backend.received.indexOf('/2'));
    expect(backend.opened).toBe(1);
  });

  test('gives a full queue of one group to another as far as its weight goes, and serves the heavier one first', async () => {
    const held: Socket[] = [];
    const backend = await far((socket) => void held.push(socket));
    const pool = poolTo(backend.url, { mostWaiting: 4 });
    const order: string[] = [];
    const askFor = async (group: string, weight: number) => {
      const connection = await pool.take({ group, weight, member: group });
      order.push(group);
      return (await ask(connection, GET)).status;
    };
    const first = askFor('free', 1);
    await until('it has come', () => backend.asked === 1);
    const free = Array.from({ length: 5 }, () => askFor('free', 1).catch((error) => error.name));
    const paid = Array.from({ length: 3 }, () => askFor('paid', 1_000));
    for (let i = 0; i < 5; i++) {
      await until('the next one has come', () => held.length === 1);
      held.pop()!.write(OK);
    }
    expect(await Promise.all([first, ...paid])).toEqual([200, 200, 200, 200]);
    expect((await Promise.all(free)).sort()).toEqual(
      [200, 'PoolBusy', 'PoolBusy', 'PoolBusy', 'PoolBusy'].sort(),
    );
    expect(order).toEqual(['free', 'paid', 'free', 'paid', 'paid']);
  });

  test('makes room at once for others where one that waits wants no connection any more', async () => {
    const { backend, release } = await holding();
    const pool = poolTo(backend.url, { mostWaiting: 3 });
    const first = await begin(pool);
    await until('it has come', () => backend.asked === 1);
    const leaves: (() => void)[] = [];
    const served: number[] = [];
    for (let i = 0; i < 3; i++) {
      const waits = (leave: () => void) => void leaves.push(leave);
      void (async () =>
        pool.release(await pool.take({ group: '', weight: 1, member: '' }, { waits })))().then(() =>
        served.push(i),
      );
    }
    expect(pool.status.waiting).toBe(3);
    leaves[1]!();
    leaves[1]!();
    expect(pool.status.waiting).toBe(2);
    const last = send(pool);
    expect(pool.status.waiting).toBe(3);
    release();
    expect((await first.receive).status).toBe(200);
    expect(await last).toEqual([200, 'ok']);
    expect(served).toEqual([0, 2]);
    for (const leave of leaves) leave();
    expect(pool.status).toMatchObject({ open: 1, waiting: 0 });
  });

  test('keeps to fewer connections from the next end of a question on, and to more from now on, also while questions wait', async () => {
    const held: Socket[] = [];
    const backend = await far((socket) => void held.push(socket));
    const pool = poolTo(backend.url, { connections: 3 });
    const all = Array.from({ length: 7 }, () => send(pool));
    await until('three have come', () => held.length === 3);
    pool.use(LIMITS);
    // One by a response, one by its own end.
    held.shift()!.write(OK);
    held.shift()!.destroy();
    await until('they have ended', () => pool.status.open === 1);
    expect(pool.status.waiting).toBe(4);
    expect(await failure(Promise.all(all))).toMatchObject({ failure: 'broken' });
    held.shift()!.write(OK);
    await until('the next one has come', () => held.length === 1);
    pool.use({ ...LIMITS, connections: 3 });
    await until('two more have come', () => held.length === 3);
    expect(pool.status).toMatchObject({ open: 3, waiting: 1 });
    while (pool.load > 0) {
      for (const socket of held.splice(0)) socket.write(OK);
      await new Promise(setImmediate);
    }
    const ends = await Promise.allSettled(all);
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });

  test('ends the slowest reader alone when a question waits for a connection', async () => {
    const backend = await far((socket, count) => {
      if (count === 4) socket.write(OK);
      else
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Length: ${10 * MUCH}\r\n\r\n${'x'.repeat(MUCH / 8)}`,
        );
    });
    const pool = poolTo(backend.url, { connections: 3, minResponseRate: 1024 });
    const failures: string[][] = [];
    /** Some read another part from time to time. */
    const readers = await Promise.all(
      ['stuck', 'slow', 'slow'].map(async (name, i) => {
        failures[i] = [];
        const body = (await (await begin(pool)).receive).body as BodyStream;
        body.to({
          chunk: () => false,
          end: () => {},
          fail: (error) => failures[i]!.push((error as ClientError).failure),
        });
        if (name === 'stuck') return null;
        return setInterval(() => body.resume(), 50);
      }),
    );
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(failures).toEqual([['slow_reader'], [], []]);
    for (const reader of readers) if (reader !== null) clearInterval(reader);
  });

  test('ends the slowest sender alone when a question waits for a connection', async () => {
    const backend = await far((socket, count) => void (count === 4 && socket.write(OK)));
    const pool = poolTo(backend.url, { connections: 3, minResponseRate: 1024 });
    /** Bytes in each part; all begin with a part. */
    const parts = [0, 512, 512];
    const timers: NodeJS.Timeout[] = [];
    const senders = await Promise.all(
      parts.map((size) => {
        const readBody = (sink: BodySink) => {
          sink.chunk(Buffer.alloc(100));
          timers.push(setInterval(() => sink.chunk(Buffer.alloc(size)), 50));
        };
        return begin(pool, {
          method: 'PUT',
          body: { length: 10 * MUCH, readBody, resumeBody: () => {} },
        });
      }),
    );
    const failures: number[] = [];
    for (const [i, { receive: response }] of senders.entries())
      response.catch((error) => failures.push(i, error.failure === 'body' ? 1 : 0));
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(failures).toEqual([0, 1]);
    for (const timer of timers) clearInterval(timer);
  });

  test('gives the place of a lost connection to who waits', async () => {
    const backend = await far(
      (socket, count) => void (count === 1 ? socket.destroy() : socket.write(OK)),
    );
    const pool = poolTo(backend.url);
    const first = begin(pool);
    const second = send(pool);
    expect(await failure((await first).receive)).toMatchObject({ failure: 'broken' });
    expect(await second).toEqual([200, 'ok']);
  });

  test('gives the place of a connection that is late to who waits', async () => {
    const backend = await far((socket, count) => void (count !== 2 && socket.write(OK)));
    const pool = poolTo(backend.url, { headersTimeout: 1_000 });
    await send(pool);
    const { receive: response } = await begin(pool);
    pool.use(LIMITS);
    const next = send(pool);
    expect(await failure(response)).toMatchObject({ failure: 'too_slow' });
    expect(await next).toEqual([200, 'ok']);
  });

  test('gives no place to who waits while others are found late at the same time: the server may be given up for that', async () => {
    const backend = await far((socket, count) => void (count <= 3 && socket.write(OK)));
    const pool = poolTo(backend.url, { connections: 3, headersTimeout: 1_000 });
    await Promise.all([1, 2, 3].map(() => send(pool)));
    await until('all connections are free', () => pool.status.idle === 3);
    const reason = new Error('given up');
    let failures = 0;
    for (const connection of [1, 2, 3].map(() => pool.take() as ClientConnection)) {
      const fail = () => void (++failures === 3 && pool.renew(reason));
      connection.ask(GET, { begun() {}, receive() {}, fail });
    }
    const waiting = await Promise.allSettled([pool.take(), pool.take()]);
    expect(waiting).toEqual(Array(2).fill({ status: 'rejected', reason }));
    expect(backend.asked).toBe(6);
  });

  test('waits at most as long as for an answer, and not after its end', async () => {
    const backend = await far(() => {});
    const slow = poolTo(backend.url, { headersTimeout: 30 });
    // While its body arrives, its response is not late.
    await begin(slow, { method: 'PUT', body: sent(null).body });
    await expect(slow.take()).rejects.toBeInstanceOf(PoolBusy);
    const closed = poolTo(backend.url);
    await begin(closed);
    const waiting = closed.take();
    closed.close();
    await expect(waiting).rejects.toBeInstanceOf(PoolBusy);
    expect(() => closed.take()).toThrow(PoolBusy);
  });

  test('uses no connection that has been idle for too long, also before its timer sees that', async () => {
    const backend = await far(responses(OK));
    const pool = poolTo(backend.url, { connections: 2, keepAliveTimeout: 50 });
    await Promise.all([send(pool), send(pool)]);
    await until('both are free', () => pool.status.idle === 2);
    blockEventLoop(60);
    expect(await send(pool, { method: 'POST' })).toEqual([200, 'ok']);
    expect([backend.opened, pool.status.open]).toEqual([3, 1]);
  });

  test('applies a new idle time to connections that are idle already', async () => {
    const backend = await far(responses(OK));
    const pool = poolTo(backend.url);
    await send(pool);
    await until('it is free', () => pool.status.idle === 1);
    pool.use({ ...LIMITS, keepAliveTimeout: 50 });
    blockEventLoop(60);
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(backend.opened).toBe(2);
  });

  test('forgets a connection that ends while it is idle, or that sends unrequested bytes', async () => {
    const backend = await far(responses(OK));
    const pool = poolTo(backend.url);
    const first = await begin(pool);
    await first.receive;
    for (const socket of backend.sockets) socket.end();
    await until('it has ended', () => !first.connection.isOpen);
    const second = await begin(pool);
    await second.receive;
    for (const socket of backend.sockets) socket.write(OK);
    await until('it has ended', () => !second.connection.isOpen);
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(backend.opened).toBe(3);
  });
});

/** RFC 6455 section 1.3. */
const HANDSHAKE = ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='];
const SWITCHED =
  'HTTP/1.1 101 Go Ahead\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n';

const tunnelOf = (pool: Pool) =>
  new Promise<Tunnel>((upgraded) => void begin(pool, { fields: lines(...HANDSHAKE), upgraded }));
/** Echoes what comes in the tunnel. */
const echoing =
  (early: string): Behaviour =>
  (socket, count) => {
    if (count > 1) return;
    socket.write(SWITCHED + early);
    socket.on('data', (bytes) => socket.write(`${bytes}!`));
  };

describe('a tunnel', () => {
  test('has the bytes behind the answer, and carries both ways from then on', async () => {
    const backend = await far(echoing('early'));
    const pool = poolTo(backend.url, {}, true);
    const tunnel = await tunnelOf(pool);
    expect([tunnel.reason, tunnel.rest?.toString()]).toEqual(['Go Ahead', 'early']);
    expect(backend.received).toContain('Connection: Upgrade\r\nUpgrade: websocket\r\n');
    tunnel.socket.write('ping');
    expect(String((await once(tunnel.socket, 'data'))[0])).toBe('ping!');
    // It occupies no place in the pool.
    const next = await pool.take();
    expect(next.isOpen).toBe(true);
    next.destroy();
    tunnel.socket.destroy();
  });

  test('that is refused is an answer', async () => {
    const backend = await far(responses('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'));
    const pool = poolTo(backend.url, {}, true);
    const never = () => {
      throw new Error('the tunnel is missing');
    };
    for (let i = 0; i < 2; i++) expect(await send(pool, { upgraded: never })).toEqual([403, 'no']);
    expect(backend.opened).toBe(1);
  });
});

test('a server of IPv6 is asked by its address', async () => {
  const backend = await far(responses(OK), undefined, '::1');
  expect(await send(poolTo(backend.url))).toEqual([200, 'ok']);
  expect(backend.received).toContain(`Host: ${new URL(backend.url).host}\r\n`);
});

describe('a server behind TLS', () => {
  let authority: Authority;
  let trusted: string[];
  beforeAll(() => {
    authority = new Authority();
    trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, authority.pem]);
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    authority.remove();
  });

  function secured(behave: Behaviour, names = 'IP:127.0.0.1'): Promise<Far> {
    const { cert, key } = authority.issue('backend', names);
    const server = createTlsServer({
      cert: readFileSync(cert),
      key: readFileSync(key),
      ALPNProtocols: ['http/1.1'],
    });
    return far(behave, server);
  }

  test('is asked again and again on one connection, with bodies of any size', async () => {
    const large = 'x'.repeat(1_000_000);
    const backend = await secured(
      responses(OK, `HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n${large}`, OK),
    );
    const pool = poolTo(backend.url);
    expect(await send(pool)).toEqual([200, 'ok']);
    expect(await send(pool)).toEqual([200, large]);
    expect(await send(pool, { method: 'POST', body: Buffer.from(large) })).toEqual([200, 'ok']);
    await until('the body has come', () => backend.received.endsWith(large));
    expect(backend.opened).toBe(1);
  });

  test('sends at the pace of its reader', () => comesAtThePaceOfItsReader(secured));

  test('takes a tunnel', async () => {
    const backend = await secured(echoing(''));
    const pool = poolTo(backend.url, {}, true);
    const tunnel = await tunnelOf(pool);
    tunnel.socket.write('ping');
    expect(String((await once(tunnel.socket, 'data'))[0])).toBe('ping!');
    tunnel.socket.destroy();
  });

  test('with a certificate for another name, or from an unknown authority, is not asked', async () => {
    const other = await secured(responses(OK), 'DNS:other.example');
    expect(await refusal(poolTo(other.url))).toMatchObject({ failure: 'unreachable' });
    const unknown = await secured(responses(OK));
    setDefaultCACertificates(trusted);
    try {
      expect(await refusal(poolTo(unknown.url))).toMatchObject({ failure: 'unreachable' });
    } finally {
      setDefaultCACertificates([...trusted, authority.pem]);
    }
    expect([other.asked, unknown.asked]).toEqual([0, 0]);
  });
});
