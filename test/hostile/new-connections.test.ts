import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { Authority } from '../support/certificates.ts';
import { until } from '../support/until.ts';
import { Fixture } from './fixture.ts';
import { EMPTY_LIST } from './recording-backend.ts';
import { Wire } from './wire.ts';

const MOST = 100;
const ADDRESSES = Array.from({ length: 11 }, (_, i) => `127.0.1.${i + 1}`);
const GOOD = '127.0.2.1';
const PROXY = '127.0.3.1';
const NEW = 24;
const LIMITS = { maxConnections: MOST, maxConnectionsPerAddress: 50 };

/** Connections from eleven addresses that send `first`, and then nothing. */
class ManyConnections {
  readonly #url: string;
  readonly #first: string;
  readonly #reopens: boolean;
  readonly #sockets = new Set<Socket>();
  opened = 0;
  #isOver = false;

  constructor(url: string, first: string, { reopens = false } = {}) {
    this.#url = url;
    this.#first = first;
    this.#reopens = reopens;
  }

  /** Until no place is left for it. */
  async fill(): Promise<this> {
    let closed = 0;
    for (let i = 0; i < MOST + ADDRESSES.length; i++)
      this.#open(ADDRESSES[i % ADDRESSES.length]!, () => closed++);
    await until('some find no place', () => closed > 0);
    return this;
  }

  get open(): number {
    return this.#sockets.size;
  }

  close(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(localAddress: string, closed: () => void): void {
    const { hostname, port } = new URL(this.#url);
    const socket = connectTcp({ host: hostname, port: Number(port), localAddress });
    this.#sockets.add(socket);
    this.opened++;
    socket.on('error', () => {}).resume();
    if (this.#first !== '') socket.write(this.#first);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      closed();
      if (this.#reopens && !this.#isOver)
        setImmediate(() => this.#isOver || this.#open(localAddress, closed));
    });
  }
}

let fixture: Fixture;
const fixtures = new Map<string, Fixture>();
/** Connections that the gateway had ended before the test. */
const endedBefore = { none: 0, valid: 0 };
type Key = keyof typeof endedBefore;
let many: ManyConnections | null = null;
const wires: Wire[] = [];
afterEach(() => {
  many?.close();
  many = null;
  for (const wire of wires.splice(0)) wire.close();
});
afterAll(async () => {
  for (const one of fixtures.values()) await one.stop();
});

/** Gateways of the same settings are one. */
async function stage(settings: object = { http: LIMITS }): Promise<void> {
  const text = JSON.stringify(settings);
  fixture = fixtures.get(text) ?? (await Fixture.start({ settings: text }));
  fixtures.set(text, fixture);
  for (const key of ['none', 'valid'] as const) endedBefore[key] = await endedInAll(key);
}

const endedInAll = (key: Key) => fixture.metric(`connections_ended_total{key="${key}"}`);

async function openWire(from: string): Promise<Wire> {
  const wire = await fixture.connect(from);
  wires.push(wire);
  return wire;
}

async function answered(wire: Wire): Promise<boolean> {
  return (await wire.send(fixture.probe).answer()).status === 200;
}

const ended = async (key: Key) => (await endedInAll(key)) - endedBefore[key];

/** Others come and go, more than find a place, so there is a search for idle connections. */
async function idleOnesEnd(key: Key): Promise<void> {
  await until('connections of others count as idle', async () => {
    const addresses = Array.from({ length: 24 }, (_, i) => `127.0.4.${i + 1}`);
    const others = await Promise.all(addresses.map((address) => fixture.connect(address)));
    await Promise.allSettled(others.map((other) => answered(other)));
    for (const other of others) other.close();
    return (await ended(key)) > 0;
  });
}

describe('eleven addresses that take all connections', () => {
  const KEYLESS = 'GET /categories HTTP/1.1\r\nHost: a\r\n\r\n';
  test.each([
    ['and send nothing', ''],
    ['and keep them after a request without a key', KEYLESS],
    ['with heads that do not end', 'GET /categories HTTP/1.1\r\nHost: a\r\nX-A: '],
    [
      'with bodies of refused requests that do not end',
      'POST /pets HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n',
    ],
  ])('%s do not keep a client out', async (_how, first) => {
    await stage();
    many = await new ManyConnections(fixture.gateway.url, first).fill();
    await idleOnesEnd('none');
    for (let i = 0; i < NEW; i++) expect(await answered(await openWire(GOOD))).toBe(true);
    for (const wire of wires) expect(await answered(wire)).toBe(true);
    expect(await ended('valid')).toBe(0);
  });

  test('and reopen what is closed do not keep a client out', async () => {
    await stage();
    many = await new ManyConnections(fixture.gateway.url, KEYLESS, { reopens: true }).fill();
    await idleOnesEnd('none');
    const before = many.opened;
    for (let i = 0; i < NEW; i++) expect(await answered(await openWire(GOOD))).toBe(true);
    for (const wire of wires) expect(await answered(wire)).toBe(true);
    expect(await ended('valid')).toBe(0);
    expect(many.opened).toBeGreaterThan(before);
  });

  test('with a key do not keep a client out', async () => {
    await stage();
    many = await new ManyConnections(fixture.gateway.url, fixture.probe).fill();
    await idleOnesEnd('valid');
    for (let i = 0; i < NEW; i++) expect(await answered(await openWire(GOOD))).toBe(true);
  });

  test('end before idle connections that had a key, and those of a trusted proxy', async () => {
    await stage({ http: { ...LIMITS, trustedProxies: [`${PROXY}/32`] } });
    const keyed = await Promise.all(Array.from({ length: 15 }, () => openWire(GOOD)));
    for (const wire of keyed) expect(await answered(wire)).toBe(true);
    const proxied = await Promise.all(Array.from({ length: 15 }, () => openWire(PROXY)));
    for (const wire of proxied) expect((await wire.send(KEYLESS).answer()).status).toBe(401);
    many = await new ManyConnections(fixture.gateway.url, KEYLESS).fill();
    await idleOnesEnd('none');
    for (let i = 5; i < 15; i++) expect(await answered(await openWire(`127.0.5.${i}`))).toBe(true);
    for (const wire of keyed) expect(await answered(wire)).toBe(true);
    for (const wire of proxied) expect((await wire.send(KEYLESS).answer()).status).toBe(401);
  });

  test('with requests in flight leave a tenth for clients without a connection, and get their responses', async () => {
    const held: Socket[] = [];
    await stage({ http: LIMITS, upstream: { connections: 2 * MOST } });
    fixture.backend.respond = (socket, { line }) => {
      if (line.startsWith('GET /pets ')) held.push(socket);
      else socket.write(EMPTY_LIST);
    };
    const busy = await Promise.all(
      Array.from({ length: MOST - 2 }, (_, i) => openWire(ADDRESSES[i % 11]!)),
    );
    const responses = busy.map((wire) => wire.send(fixture.request('GET /pets')).answer());
    const outcomes = Promise.allSettled(responses);
    const refused = () =>
      busy.filter(({ socket }) => socket.destroyed || socket.readableEnded).length;
    await until('every other connection is refused', () => held.length + refused() === busy.length);
    expect(refused()).toBeGreaterThan(0);
    for (let i = 0; i < 5; i++)
      expect(await answered(await openWire(`127.0.5.${i + 1}`))).toBe(true);
    for (const socket of held) socket.write(EMPTY_LIST);
    const whole = (await outcomes).filter(({ status }) => status === 'fulfilled');
    expect(whole).toHaveLength(held.length);
    expect(await ended('valid')).toBe(0);
  });
});

test('a request that has arrived when room is made is answered', async () => {
  await stage();
  const keyed = await Promise.all(
    Array.from({ length: 90 }, (_, i) => openWire(ADDRESSES[i % ADDRESSES.length]!)),
  );
  for (const wire of keyed) expect(await answered(wire)).toBe(true);
  await idleOnesEnd('valid');
  const open = () => keyed.filter(({ socket }) => !socket.destroyed && !socket.readableEnded);
  await until('those that ended are closed', async () => {
    const before = open().length;
    await ended('valid');
    return before < keyed.length && open().length === before;
  });
  const places = MOST - open().length;
  for (let i = 0; i < places; i++)
    expect(await answered(await openWire(`127.0.5.${i + 1}`))).toBe(true);
  const late = openWire('127.0.6.1');
  // It connects in this tick, so the gateway accepts it before it reads the requests.
  await new Promise((resolve) => process.nextTick(resolve));
  const responses = await Promise.all(open().map((wire) => answered(wire)));
  expect(new Set(responses)).toEqual(new Set([true]));
  await late;
});

describe('handshakes that do not end', () => {
  const NAME = 'gateway.example';
  const authority = new Authority();
  const pair = authority.issue('new-connections', `DNS:${NAME}`);
  afterAll(() => authority.remove());

  test.each([
    ['before their first byte', ''],
    ['in their first message', '\x16\x03\x01\x02\x00\x01'],
  ])('%s do not keep a client out', async (_where, first) => {
    await stage({ listen: { tls: pair }, http: LIMITS });
    many = await new ManyConnections(fixture.gateway.url, first).fill();
    await idleOnesEnd('none');
    const port = Number(new URL(fixture.gateway.url).port);
    for (let i = 0; i < NEW; i++) {
      const plain = connectTcp({ host: '127.0.0.1', port, localAddress: GOOD });
      const socket = connect({ socket: plain, servername: NAME, ca: authority.pem });
      await once(socket, 'secureConnect');
      const wire = new Wire(socket);
      wires.push(wire);
      expect(await answered(wire)).toBe(true);
    }
    for (const wire of wires) expect(await answered(wire)).toBe(true);
  });
});
