import { once } from 'node:events';
import { connect, createServer, type Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConnectionLimits, mostPerAddress } from '../../../src/gateway/wire/connection-limits.ts';
import type { Event } from '../../../src/observe/events.ts';
import { until } from '../../support/until.ts';

const LIMITS = { maxConnections: 100, maxConnectionsPerAddress: 2, trustedProxies: [] } as const;

/** A socket that seems to come from this address. */
function from(address: string | undefined): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
}

describe('open connections', () => {
  let refused: Event[];
  let limits: ConnectionLimits;
  beforeEach(() => {
    refused = [];
    limits = new ConnectionLimits(LIMITS, (event) => void refused.push(event));
  });

  const taken = (...addresses: readonly (string | undefined)[]) =>
    addresses.map((address) => limits.take(from(address)));

  test('of one address are limited, and those of another are not affected', () => {
    expect(taken('192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2')).toEqual([true, true, false, true]);
    expect(refused).toEqual([{ type: 'connection.refused', reason: 'address', address: '192.0.2.1' }]);
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

  test('of all clients are limited, also those of trusted proxies', () => {
    limits.use({ ...LIMITS, maxConnections: 2, trustedProxies: ['10.0.0.0/8'] });
    expect(taken('192.0.2.1', '10.0.0.1', '192.0.2.2', '10.0.0.1')).toEqual([true, true, false, false]);
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
    for (const socket of sockets) expect(limits.take(socket)).toBe(true);
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

describe('sockets accepted by a server', () => {
  let server: Server;
  const callers: Socket[] = [];
  afterEach(async () => {
    for (const caller of callers.splice(0)) caller.destroy();
    server.close();
    await once(server, 'close');
  });

  test('are closed beyond the limit, even while the client sends, and the others count until they close', async () => {
    const limits = new ConnectionLimits(LIMITS, () => {});
    const taken: boolean[] = [];
    server = createServer((socket) => {
      socket.on('error', () => {}).resume();
      taken.push(limits.take(socket));
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

describe('auto gives one address', () => {
  test.each([
    [10_000, 1_000],
    [1_000_000, 100_000],
    [2_000, 256],
    [300, 150],
    [3, 2],
    [1, 1],
  ])('of %i connections %i', (maxConnections, most) => {
    expect(mostPerAddress({ maxConnections, maxConnectionsPerAddress: 'auto' })).toBe(most);
  });

  test('the configured number, if there is one', () => {
    expect(mostPerAddress({ maxConnections: 10, maxConnectionsPerAddress: 50 })).toBe(50);
  });
});
