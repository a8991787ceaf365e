import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, jest, test } from '@jest/globals';
import { makeTicketSecret } from '@storegate/http1/tls';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Call } from '../../../src/gateway/wire/call.ts';
import { createConnectionLimits } from '../../../src/gateway/wire/connection-limits.ts';
import { createListener, type DrainOptions } from '../../../src/gateway/wire/listener.ts';
import { Wire } from '../../hostile/wire.ts';
import { freePort } from '../../support/free-port.ts';
import { lines } from '../../support/lines.ts';
import { until } from '../../support/until.ts';

const HOUR = 3_600_000;
const DOOR: Config['http'] = {
  ...loadConfig({ cwd: import.meta.dirname, env: {} }).http,
  keepAliveTimeout: HOUR,
  // So long that no test reaches it: what ends sooner has another reason.
  drainTimeout: HOUR,
};
const GET = 'GET /now HTTP/1.1\r\nHost: a\r\n\r\n';
const ROUNDS = 20;
const HELD = 'GET /held HTTP/1.1\r\nHost: a\r\n\r\n';

class Server {
  readonly held: Call[] = [];
  answered = 0;
  readonly #listener: ReturnType<typeof createListener>;
  readonly #wires: Wire[] = [];
  #url = '';
  #drained: Promise<number> | null = null;

  private constructor(server: Partial<Config['http']>, port: number) {
    this.#listener = createListener({
      config: { listen: { host: '127.0.0.1', port }, http: { ...DOOR, ...server } },
      handle: (call) => {
        if (call.target === '/held') this.held.push(call);
        else {
          this.answered++;
          call.respond(200, '', lines(), call.target);
        }
      },
      limits: createConnectionLimits(DOOR, () => {}),
      replyUnparsed: async () => {},
      ticketSecret: makeTicketSecret(),
      observe: () => {},
    });
  }

  static async open(settings: Partial<Config['http']> = {}, port = 0): Promise<Server> {
    const server = new Server(settings, port);
    server.#url = `http://127.0.0.1:${await server.#listener.listen()}`;
    servers.push(server);
    return server;
  }

  get port(): number {
    return Number(new URL(this.#url).port);
  }

  async connect(): Promise<Wire> {
    const wire = await Wire.open(this.#url);
    this.#wires.push(wire);
    return wire;
  }

  async used(): Promise<Wire> {
    const wire = await this.connect();
    expect((await wire.send(GET).answer()).headers.connection).toBe('keep-alive');
    return wire;
  }

  async holds(count: number): Promise<void> {
    await until('the requests are there', () => this.held.length === count);
  }

  drain(options?: DrainOptions): Promise<number> {
    this.#drained ??= this.#listener.drain(options);
    return this.#drained;
  }

  async stop(): Promise<void> {
    for (const wire of this.#wires) wire.close();
    await this.drain();
  }
}

/** A server with one request in progress. */
async function holding() {
  const server = await Server.open();
  const wire = await server.connect();
  wire.send(HELD);
  await server.holds(1);
  return { server, wire, held: server.held[0]! };
}

/** The next response has this body; `close` ends its connection. */
async function expectAnswer(wire: Wire, body: string, connection: string): Promise<void> {
  expect(await wire.answer()).toMatchObject({ status: 200, body, headers: { connection } });
  if (connection === 'close') expect(await wire.ended()).toBe('');
}

const servers: Server[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

test('idle and unused connections do not delay a stop', async () => {
  const server = await Server.open();
  const [used, unused] = [await server.used(), await server.connect()];
  expect(await server.drain()).toBe(0);
  expect([await used.ended(), await unused.ended()]).toEqual(['', '']);
});

test('a client that does not end its side of an idle connection does not delay a stop', async () => {
  const server = await Server.open();
  const used = await server.used();
  used.socket.pause();
  expect(await server.drain()).toBe(0);
});

test('a response in progress announces the end of its connection, and ends it', async () => {
  const { server, wire, held } = await holding();
  const drained = server.drain();
  held.respond(200, '', lines(), 'late');
  await expectAnswer(wire, 'late', 'close');
  expect(await drained).toBe(0);
});

test('a response whose head was sent is finished, and its connection then ends', async () => {
  const { server, wire, held } = await holding();
  held.begin(200, '', lines('content-length', '4'));
  held.flush();
  const drained = server.drain();
  held.write(Buffer.from('late'), () => {});
  held.end();
  await expectAnswer(wire, 'late', 'keep-alive');
  expect(await wire.ended()).toBe('');
  expect(await drained).toBe(0);
});

test('a response that begins to stream after that announces the end of its connection, too', async () => {
  const { server, wire, held } = await holding();
  const drained = server.drain();
  held.begin(200, '', lines());
  held.write(Buffer.from('late'), () => {});
  held.end();
  await expectAnswer(wire, 'late', 'close');
  await drained;
});

test('a request whose head has only begun is awaited and answered', async () => {
  const server = await Server.open();
  const [used, unused] = [await server.used(), await server.connect()];
  // The first read of the third connection has a whole request and the beginning of the next.
  const pipelining = await server.connect();
  const part = GET.slice(0, 10);
  pipelining.send(GET + part);
  expect((await pipelining.answer()).headers.connection).toBe('keep-alive');
  const wires = [used, unused];
  for (const wire of wires) wire.send(part);
  wires.push(pipelining);
  const idle = await server.used();
  const drained = server.drain();
  expect(await idle.ended()).toBe('');
  for (const wire of wires) wire.send(GET.slice(10));
  for (const wire of wires) await expectAnswer(wire, '/now', 'close');
  expect(await drained).toBe(0);
});

test('pipelined requests behind one in progress are answered, and the last response announces the end', async () => {
  const server = await Server.open();
  const wire = await server.connect();
  wire.send(HELD + GET + HELD);
  await server.holds(1);
  const drained = server.drain();
  server.held[0]!.respond(200, '', lines(), 'first');
  await expectAnswer(wire, 'first', 'keep-alive');
  await expectAnswer(wire, '/now', 'keep-alive');
  await server.holds(2);
  server.held[1]!.respond(200, '', lines(), 'last');
  await expectAnswer(wire, 'last', 'close');
  expect(await drained).toBe(0);
});

test('requests in the buffers at the beginning of a stop are answered', async () => {
  const server = await Server.open();
  const wires = await Promise.all(Array.from({ length: 20 }, () => server.used()));
  const unused = await Promise.all(Array.from({ length: 20 }, () => server.connect()));
  for (const wire of [...wires, ...unused]) wire.send(GET);
  const drained = server.drain();
  for (const wire of [...wires, ...unused])
    expect(await wire.answer()).toMatchObject({ status: 200, body: '/now' });
  expect(await drained).toBe(0);
});

test('connections in the backlog of the system are answered', async () => {
  const server = await Server.open();
  const wires = Array.from({ length: 20 }, async () => (await server.connect()).send(GET));
  // The listener cannot accept a connection in this turn of the event loop.
  const drained = server.drain();
  for (const wire of await Promise.all(wires)) {
    await expectAnswer(wire, '/now', 'close');
  }
  expect(await drained).toBe(0);
});

test('clients that keep connecting while the listener closes are answered or refused, and never reset', async () => {
  // A connection without a request is never quiet for too long, however late its client gets the
  // processor.
  jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  const clients = new Worker(new URL('../../support/connecting-clients.ts', import.meta.url));
  const lost: (readonly string[])[] = [];
  clients.on('message', (outcomes) => lost.push(outcomes));
  for (let round = 0; round < ROUNDS; round++) {
    // A port that no other suite uses: clients continue for a second after the close.
    const server = await Server.open({}, await freePort());
    clients.postMessage(server.port);
    await until('clients are answered', () => server.answered > 20);
    await server.drain();
  }
  await until('all clients are refused', () => lost.length === ROUNDS);
  await clients.terminate();
  expect(lost.flat()).toEqual([]);
});

test('bytes behind the last request do not reset its connection', async () => {
  const { server, wire, held } = await holding();
  const drained = server.drain();
  let reset = false;
  wire.socket.once('error', () => {
    reset = true;
  });
  held.respond(200, '', lines(), 'x'.repeat(1_000_000));
  wire.send(
    `POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${'y'.repeat(1_000_000)}`,
  );
  expect((await wire.answer()).body).toHaveLength(1_000_000);
  expect(await wire.ended()).toBe('');
  await drained;
  expect(reset).toBe(false);
});

test('everything is answered during the delay, and each response announces the end of its connection', async () => {
  const server = await Server.open({ drainDelay: 2_000 });
  const [used, idle] = [await server.used(), await server.used()];
  let over = false;
  const drained = server.drain().then((cutOff) => {
    over = true;
    return cutOff;
  });
  for (const wire of [used, await server.connect()]) {
    await expectAnswer(wire.send(GET), '/now', 'close');
  }
  expect(over).toBe(false);
  expect(await idle.ended()).toBe('');
  expect(await drained).toBe(0);
});

test('stops accepting before the delay if other processes accept at the same address', async () => {
  const server = await Server.open({ drainDelay: 2_000 });
  const used = await server.used();
  const drained = server.drain({ accepting: false });
  await until('no connection is accepted', () =>
    server.connect().then(
      (wire) => {
        wire.close();
        return false;
      },
      ({ code }) => code === 'ECONNREFUSED',
    ),
  );
  await expectAnswer(used.send(GET), '/now', 'close');
  expect(await drained).toBe(0);
});

test('unfinished responses are cut off after the timeout and counted', async () => {
  const server = await Server.open({ drainTimeout: 50 });
  const wire = await server.connect();
  wire.send(HELD);
  await server.holds(1);
  const closed = once(wire.socket, 'close');
  expect(await server.drain()).toBe(1);
  await closed;
});
