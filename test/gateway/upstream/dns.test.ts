import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { ClientConnection } from '@storegate/http1';
import { createPool, FieldLines, openerTo, type Pool } from '@storegate/http1';
import { createChecks } from '../../../src/gateway/upstream/checks.ts';
import { createDnsResolver, isName } from '../../../src/gateway/upstream/dns.ts';
import type { Verdict } from '../../../src/gateway/upstream/health.ts';
import { until } from '../../support/until.ts';

type DnsResolver = ReturnType<typeof createDnsResolver>;

const EVERY = 30_000;
const at = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: 4 }));

let response: () => LookupAddress[] | Promise<LookupAddress[]>;
let requested = 0;
const moves: string[][] = [];
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
  moves.length = 0;
  requested = 0;
  jest.useRealTimers();
});

function names(
  moved: (addresses: ReadonlySet<string>) => void = (all) => void moves.push([...all]),
): DnsResolver {
  const resolve = async () => {
    requested++;
    return response();
  };
  const made = createDnsResolver({ host: 'backend.example', every: EVERY, moved, resolve });
  closing.push(() => made.close());
  return made;
}

function lookup(of: DnsResolver): Promise<string[]> {
  return new Promise((resolve, reject) =>
    of.lookup('backend.example', { all: true }, (error, found) =>
      error ? reject(error) : resolve((found as LookupAddress[]).map(({ address }) => address)),
    ),
  );
}

describe('the addresses of a name', () => {
  /** At 10.0.0.1, with a clock that the test moves. */
  async function resolved(): Promise<DnsResolver> {
    jest.useFakeTimers();
    response = () => at('10.0.0.1');
    const some = names();
    await lookup(some);
    return some;
  }

  test('are resolved once for all connections, and used in turn', async () => {
    response = () => at('10.0.0.1', '10.0.0.2', '10.0.0.3');
    const some = names();
    const found = await Promise.all([lookup(some), lookup(some), lookup(some), lookup(some)]);
    expect(requested).toBe(1);
    expect(found.map(([first]) => first)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.1']);
    expect(found[1]).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.1']);
  });

  test('are resolved again in time, and pools with connections get the changes', async () => {
    const some = await resolved();
    await jest.advanceTimersByTimeAsync(EVERY);
    expect([requested, moves]).toEqual([2, []]);
    response = () => at('10.0.0.1', '10.0.0.2');
    await jest.advanceTimersByTimeAsync(EVERY);
    response = () => at('10.0.0.2');
    await jest.advanceTimersByTimeAsync(EVERY);
    expect(moves).toEqual([['10.0.0.1', '10.0.0.2'], ['10.0.0.2']]);
    expect(await lookup(some)).toEqual(['10.0.0.2']);
  });

  test('are resolved again after a failed connection, after a second at the earliest', async () => {
    const some = await resolved();
    for (let i = 0; i < 9; i++) some.doubt();
    expect(requested).toBe(1);
    await jest.advanceTimersByTimeAsync(1_000);
    for (let i = 0; i < 9; i++) some.doubt();
    await jest.advanceTimersByTimeAsync(0);
    expect(requested).toBe(2);
  });

  test('stay unchanged while the name cannot be resolved', async () => {
    const some = await resolved();
    for (const failing of [() => Promise.reject(new Error('EAI_AGAIN')), () => []]) {
      response = failing;
      await jest.advanceTimersByTimeAsync(EVERY);
      expect(await lookup(some)).toEqual(['10.0.0.1']);
    }
    expect([requested, moves]).toEqual([3, []]);
  });

  test('are an error until the first resolution, which is repeated', async () => {
    response = () => Promise.reject(new Error('EAI_AGAIN'));
    const some = names();
    await expect(lookup(some)).rejects.toThrow('EAI_AGAIN');
    response = () => [];
    await expect(lookup(some)).rejects.toThrow('backend.example has no address');
    response = () => at('10.0.0.1');
    expect(await lookup(some)).toEqual(['10.0.0.1']);
  });

  test.each([
    ['10.0.0.1', false],
    ['[::1]', false],
    ['backend.example', true],
    ['localhost', true],
  ])('%s is a name: %s', (host, is) => {
    expect(isName(host)).toBe(is);
  });
});

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

async function serverAt(address: string, port: number, responses = true): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      if (responses) socket.write(OK);
    });
    closing.push(() => socket.destroy());
  });
  server.listen(port, address);
  await once(server, 'listening');
  closing.push(() => server.close());
  return server;
}

function ask(pool: Pool): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = pool.take() as ClientConnection;
    const fields = new FieldLines();
    const question = { method: 'GET', target: '/', fields, body: null };
    connection.ask(question, {
      begun() {},
      receive: () => resolve(connection.address!),
      fail: reject,
    });
  });
}

test('connections use the next address after a refusal, and leave an address that was removed from the name', async () => {
  const first = await serverAt('127.0.0.1', 0);
  const { port } = first.address() as AddressInfo;
  await serverAt('127.0.0.2', port);
  response = () => at('127.0.0.3', '127.0.0.1');
  const some = names((addresses) => pool.keepOnly(addresses));
  const pool: Pool = createPool({
    connections: 2,
    mostWaiting: 0,
    connectTimeout: 5_000,
    headersTimeout: 5_000,
    bodyTimeout: 5_000,
    keepAliveTimeout: 5_000,
    host: 'backend',
    open: openerTo(new URL(`http://store.example:${port}`), { lookup: some.lookup }),
  });
  closing.push(() => pool.close());
  expect(await ask(pool)).toBe('127.0.0.1');
  await until('the connection is free', () => pool.status.idle === 1);
  const busy = ask(pool);
  response = () => at('127.0.0.2');
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'queueMicrotask', 'nextTick'] });
  some.use(1_000);
  await jest.advanceTimersByTimeAsync(1_000);
  jest.useRealTimers();
  expect(await busy).toBe('127.0.0.1');
  await until('it is gone', () => pool.status.open === 0);
  expect(await ask(pool)).toBe('127.0.0.2');
});

test('health checks leave an address that was removed from the name, too', async () => {
  const first = await serverAt('127.0.0.1', 0);
  const { port } = first.address() as AddressInfo;
  const second = await serverAt('127.0.0.2', port);
  const connected: string[] = [];
  first.on('connection', () => connected.push('first'));
  second.on('connection', () => connected.push('second'));
  response = () => at('127.0.0.1');
  const some = names((addresses) => checks.keepOnly(addresses));
  const verdicts: Verdict[] = [];
  const checks = createChecks({
    url: `http://store.example:${port}`,
    secure: { lookup: some.lookup },
    settings: {
      keepAliveTimeout: 5_000,
      healthChecks: {
        path: '/',
        interval: 20,
        timeout: 5_000,
        healthyThreshold: 1,
        unhealthyThreshold: 1,
        statuses: [{ from: 200, to: 200 }],
      },
      ejection: {
        enabled: true,
        failures: 5,
        timeouts: 3,
        statuses: [],
        failureRate: 0.5,
        probeInterval: 1_000,
        slowStart: 0,
      },
    },
    health: { state: 'up', since: 0, failedReturns: 0 },
    onResult: (verdict) => verdicts.push(verdict),
    ticked() {},
  });
  closing.push(() => checks.close());
  await until('two checks were answered', () => verdicts.length >= 2);
  expect(connected).toEqual(['first']);
  response = () => at('127.0.0.2');
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'queueMicrotask', 'nextTick'] });
  some.use(1_000);
  await jest.advanceTimersByTimeAsync(1_000);
  jest.useRealTimers();
  await until('a check went to the new address', () => connected.includes('second'));
  const before = verdicts.length;
  await until('it was answered', () => verdicts.length > before);
  expect(connected).toEqual(['first', 'second']);
  expect(new Set(verdicts)).toEqual(new Set(['good']));
});
