import { once } from 'node:events';
import { connect, createServer, type Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Occupant } from '@storegate/http1';
import {
  type ConnectionLimits,
  createConnectionLimits,
} from '../../../src/gateway/wire/connection-limits.ts';
import type { Event } from '../../../src/observe/events.ts';
import { until } from '../../support/until.ts';

const LIMITS = { maxConnections: 100, maxConnectionsPerAddress: 2, trustedProxies: [] } as const;

/** A socket that seems to come from this address. */
function from(address: string | undefined): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
}

/** Whether it has entered at once. */
function enters(limits: ConnectionLimits, socket: Socket): boolean {
  let entered = false;
  limits.take(socket, () => {
    entered = true;
  });
  return entered;
}

describe('open connections', () => {
  let refused: Event[];
  let limits: ConnectionLimits;
  beforeEach(() => {
    refused = [];
    limits = createConnectionLimits(LIMITS, (event) => void refused.push(event));
  });

  const taken = (...addresses: readonly (string | undefined)[]) =>
    addresses.map((address) => enters(limits, from(address)));

  test('of one address are limited, and those of another are not affected', () => {
    expect(taken('192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2')).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(refused).toEqual([
      { type: 'connection.refused', reason: 'address', address: '192.0.2.1' },
    ]);
  });

  test('of one IPv4 address are the same on an IPv6 socket', () => {
    expect(taken('192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1')).toEqual([true, true, false]);
  });

  test('of one /64 count as one client, however many addresses it has', () => {
    expect(taken('2001:db8::1', '2001:db8:0:0:9::2', '2001:db8::3', '2001:db8:0:1::3')).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(refused).toMatchObject([{ address: '2001:db8::3' }]);
  });

  test('that broke before their address was read are limited too', () => {
    expect(taken(undefined, undefined, undefined)).toEqual([true, true, false]);
  });

  test('of all clients are limited, also those of trusted proxies', async () => {
    limits.use({ ...LIMITS, maxConnections: 2, trustedProxies: ['10.0.0.0/8'] });
    expect(taken('192.0.2.1', '10.0.0.1', '192.0.2.2', '10.0.0.1')).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await until('nothing was found to end for the last two', () => refused.length === 2);
    expect(refused).toMatchObject([
      { reason: 'total', address: '192.0.2.2' },
      { reason: 'total', address: '10.0.0.1' },
    ]);
  });

  test('of a trusted proxy may use the total limit, as soon as a reload names it', () => {
    expect(taken('10.0.0.1', '10.0.0.1', '10.0.0.1')).toEqual([true, true, false]);
    limits.use({ ...LIMITS, trustedProxies: ['10.0.0.0/8'] });
    expect(taken('10.0.0.1', '10.0.0.1', '192.0.2.1')).toEqual([true, true, true]);
    limits.use(LIMITS);
    expect(taken('10.0.0.1')).toEqual([false]);
  });

  test('stay when a reload lowers the limit, and make room when they close', async () => {
    const sockets = [from('192.0.2.1'), from('192.0.2.1')];
    for (const socket of sockets) expect(enters(limits, socket)).toBe(true);
    limits.use({ ...LIMITS, maxConnectionsPerAddress: 1 });
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    for (const socket of sockets) {
      expect(taken('192.0.2.1')).toEqual([false]);
      socket.destroy();
      await once(socket, 'close');
    }
    expect(taken('192.0.2.1')).toEqual([true]);
  });
});

/** A connection that has been idle for so many milliseconds; `null`: a request is in flight. */
class TestConnection implements Occupant {
  readonly socket: Socket;
  known: boolean;
  readonly #since: number;
  hasEntered = false;
  isEnded = false;

  constructor(address: string, idle: number | null, existing = false) {
    this.socket = from(address);
    this.#since = idle === null ? Number.POSITIVE_INFINITY : performance.now() - idle;
    this.known = existing;
  }

  get idleSince(): number {
    return this.isEnded ? Number.POSITIVE_INFINITY : this.#since;
  }

  enter(limits: ConnectionLimits): this {
    limits.take(this.socket, (place) => {
      place.occupant = this;
      this.hasEntered = true;
    });
    return this;
  }

  endIdle(): void {
    this.isEnded = true;
  }

  destroy(): void {
    this.socket.destroy();
  }
}

describe('if all places are taken', () => {
  const FULL = { maxConnections: 20, maxConnectionsPerAddress: 20, trustedProxies: [] as string[] };
  const LONG = 60_000;
  let events: Event[];
  let limits: ConnectionLimits;
  const opened: TestConnection[] = [];
  beforeEach(() => {
    events = [];
    limits = createConnectionLimits(FULL, (event) => void events.push(event));
  });
  afterEach(() => {
    for (const connection of opened.splice(0)) connection.destroy();
  });

  const add = (count: number, address: string, idle: number | null, existing = false) =>
    Array.from({ length: count }, () => {
      const connection = new TestConnection(address, idle, existing).enter(limits);
      opened.push(connection);
      return connection;
    });
  const ended = (of: readonly TestConnection[]) => of.filter(({ isEnded }) => isEnded).length;
  const settled = ({ hasEntered, socket }: TestConnection) => hasEntered || socket.destroyed;

  test('a new connection enters in place of the longest idle connection of the network that holds most', async () => {
    const few = add(6, '192.0.2.2', LONG);
    const [oldest, ...others] = [...add(1, '192.0.2.1', 2 * LONG), ...add(11, '192.0.2.1', LONG)];
    const [added] = add(1, '192.0.2.3', 0);
    await until('room is made', () => oldest!.isEnded);
    expect(added!.hasEntered).toBe(true);
    expect([ended(others) > 0, ended(few)]).toEqual([true, 0]);
    expect(events).toEqual([
      { type: 'connection.ended', withKey: 0, withoutKey: 1 + ended(others) },
    ]);
  });

  test('those that ended are closed, though their clients do not close them', async () => {
    const many = add(18, '192.0.2.1', LONG);
    add(2, '192.0.2.2', 0);
    await until('some have ended', () => ended(many) > 0);
    await until('they are closed', () =>
      many.every(({ isEnded, socket }) => socket.destroyed === isEnded),
    );
  });

  test('a new connection is refused if every connection has a request in flight, and one of them finds its place', async () => {
    const busy = add(18, '192.0.2.1', null);
    const [first, second, third] = ['192.0.2.2', '192.0.2.3', '192.0.2.4'].map(
      (address) => add(1, address, null)[0]!,
    );
    expect([first!.hasEntered, second!.hasEntered]).toEqual([true, true]);
    await until('the third is refused', () => third!.socket.destroyed);
    expect([third!.hasEntered, ended(busy)]).toEqual([false, 0]);
    expect(events).toEqual([{ type: 'connection.refused', reason: 'total', address: '192.0.2.4' }]);
  });

  test('a tenth is kept for networks that hold few', async () => {
    add(18, '192.0.2.1', null);
    const [refused] = add(1, '192.0.2.1', null);
    const entered = [...add(1, '192.0.2.2', null), ...add(1, '192.0.2.3', null)];
    expect(entered.map(({ hasEntered }) => hasEntered)).toEqual([true, true]);
    await until('it is refused', () => refused!.socket.destroyed);
  });

  test('connections that had a key end for a new connection, and not for a large network without a key', async () => {
    const keyed = [2, 3, 4, 5, 6, 7].flatMap((i) => add(1, `192.0.2.${i}`, LONG, true));
    add(12, '192.0.2.1', null);
    const large = add(2, '192.0.2.1', 0);
    await until('the large network is refused', () =>
      large.every(({ socket }) => socket.destroyed),
    );
    expect(ended(keyed)).toBe(0);
    const added = [11, 12, 13].flatMap((i) => add(1, `192.0.2.${i}`, null));
    await until('all new connections are in', () => added.every(settled));
    expect(added.every(({ hasEntered }) => hasEntered)).toBe(true);
    expect(ended(keyed)).toBeGreaterThan(0);
    expect(events.filter(({ type }) => type === 'connection.ended')).toEqual([
      { type: 'connection.ended', withKey: ended(keyed), withoutKey: 0 },
    ]);
  });

  test('a connection of a small network does not count as idle at once', async () => {
    const fresh = [2, 3, 4].flatMap((i) => add(1, `192.0.2.${i}`, 1_000));
    const many = add(15, '192.0.2.1', 1_000);
    add(1, '192.0.2.9', 0);
    await until('room is made', () => ended(many) > 0);
    expect(ended(fresh)).toBe(0);
  });

  test('a trusted proxy loses no connection for holding the most', async () => {
    limits.use({ ...FULL, trustedProxies: ['10.0.0.1'] });
    const proxied = add(12, '10.0.0.1', 2 * LONG);
    const many = add(6, '192.0.2.1', LONG);
    add(1, '192.0.2.9', 0);
    await until('room is made', () => ended(many) > 0);
    expect(ended(proxied)).toBe(0);
  });

  test('a place that a balancer reports belongs to the network that it reports', async () => {
    limits.use({ ...FULL, balancers: ['10.0.0.1'] });
    const report = (address: string) => {
      const connection = new TestConnection('10.0.0.1', LONG);
      opened.push(connection);
      limits.take(connection.socket, (place) => {
        place.occupant = connection;
        connection.hasEntered = limits.takeFrom(place, address);
      });
      return connection;
    };
    const few = Array.from({ length: 3 }, () => report('192.0.2.2'));
    const many = Array.from({ length: 15 }, () => report('192.0.2.1'));
    report('192.0.2.3');
    await until('room is made', () => ended(many) > 0);
    expect(ended(few)).toBe(0);
    limits.use({ ...FULL, balancers: ['10.0.0.1'], maxConnectionsPerAddress: 3 });
    expect(report('192.0.2.2')).toMatchObject({ hasEntered: false, socket: { destroyed: true } });
  });
});

describe('sockets accepted by a server', () => {
  let server: Server;
  const callers: Socket[] = [];
  afterEach(async () => {
    for (const caller of callers.splice(0)) caller.destroy();
    server.close();
    await once(server, 'close');
  });

  test('are closed beyond the limit, even while the client sends, and the others count until they close', async () => {
    const limits = createConnectionLimits(LIMITS, () => {});
    const taken: boolean[] = [];
    server = createServer((socket) => {
      socket.on('error', () => {}).resume();
      taken.push(enters(limits, socket));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const open = async () => {
      const caller = connect({ host: '127.0.0.1', port }).on('error', () => {});
      callers.push(caller);
      caller.resume().write('GET / HTTP/1.1\r\n');
      const before = taken.length;
      await until('it is taken or closed', () => taken.length > before);
      return caller;
    };
    const [first, , third] = [await open(), await open(), await open()];
    expect(taken).toEqual([true, true, false]);
    await until('the third has ended', () => third.destroyed);
    first.destroy();
    await until('there is room for another', async () => {
      await open();
      return taken.at(-1)!;
    });
  });
});
