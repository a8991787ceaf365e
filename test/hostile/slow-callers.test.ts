import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { Fixture, isAnError } from './fixture.ts';
import { EMPTY_LIST } from './recording-backend.ts';
import type { Wire } from './wire.ts';

describe('a slow client', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await Fixture.start({
      settings: 'http: {headersTimeout: 300ms, requestTimeout: 500ms}',
    });
  });
  afterAll(() => fixture.stop());

  test('with its head gets 408', async () => {
    const wire = await fixture.connect();
    const drip = setInterval(() => wire.send('X'), 50);
    const response = await wire.send('GET /pets HTTP/1.1\r\nX-A: ').answer();
    clearInterval(drip);
    expect(response).toMatchObject({ status: 408, code: 'request_timeout' });
    isAnError(response);
    expect(await wire.ended()).toBe('');
  });
});

describe('a slow client', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await Fixture.start({
      settings: 'http: {keepAliveTimeout: 200ms, responseWriteTimeout: 200ms}',
    });
  });
  afterAll(() => fixture.stop());

  test('that does not read its response is disconnected, and so is the backend', async () => {
    const ended: string[] = [];
    const respond = fixture.backend.respond;
    fixture.backend.respond = (socket) => {
      const size = 64 * 1024 * 1024;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size, 'x'));
      socket.once('close', () => ended.push('closed'));
    };
    const before = process.memoryUsage().external + process.memoryUsage().arrayBuffers;
    const wire = await fixture.connect();
    wire.socket.pause();
    wire.send(fixture.request('GET /pets'));
    await until('the backend is cut off', () => ended.length === 1);
    expect(
      process.memoryUsage().external + process.memoryUsage().arrayBuffers - before,
    ).toBeLessThan(200 * 1024 * 1024);
    wire.close();
    fixture.backend.respond = respond;
    expect((await fixture.ask(fixture.probe)).status).toBe(200);
  });
});

describe('a client that reads nothing of its response', () => {
  let fixture: Fixture;
  let size: number;
  beforeAll(async () => {
    const settings = 'upstream: { connections: 1, minResponseRate: 1KiB }\n';
    fixture = await Fixture.start({
      settings,
      respond: (socket, { line }) => {
        const body = line.startsWith('GET /pets') ? Buffer.alloc(size, 'x') : Buffer.from('[]');
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
        socket.write(body);
      },
    });
  });
  afterAll(() => fixture.stop());

  async function begin(bytes: number): Promise<Wire> {
    size = bytes;
    const wire = await fixture.connect();
    wire.socket.pause();
    const before = fixture.backend.requests.length;
    wire.send(fixture.request('GET /pets'));
    await until('the backend has it', () => fixture.backend.requests.length > before);
    return wire;
  }

  test('keeps no connection to the backend of a response within the budget, and gets all of it later', async () => {
    const wire = await begin(3 * 1024 * 1024);
    expect((await fixture.ask(fixture.request('GET /categories'))).status).toBe(200);
    wire.socket.resume();
    expect((await wire.answer()).body).toHaveLength(3 * 1024 * 1024);
    wire.close();
  });

  test('is disconnected while others wait, if the response is larger', async () => {
    const wire = await begin(32 * 1024 * 1024);
    expect((await fixture.ask(fixture.request('GET /categories'))).status).toBe(200);
    wire.socket.resume();
    await expect(wire.answer()).rejects.toThrow('the connection ended before the answer was whole');
    const line = () => fixture.gateway.log.find(({ code }) => code === 'slow_reader');
    await until('it is logged', () => line() !== undefined);
    expect(line()).toMatchObject({ msg: 'request', status: 200, complete: false });
    expect(fixture.gateway.log.filter(({ msg }) => msg === 'upstream.down')).toEqual([]);
  });
});

describe('connections beyond the limit are refused, and those within it continue', () => {
  let capped: Fixture;
  const held: Socket[] = [];
  const wires: Wire[] = [];
  afterEach(async () => {
    for (const wire of wires.splice(0)) wire.close();
    held.length = 0;
    await capped.stop();
  });

  const start = async (settings: string) => {
    capped = await Fixture.start({ settings, respond: (socket) => void held.push(socket) });
  };

  /** Requests in flight, because idle connections make room. */
  async function fillsUp(...from: readonly string[]): Promise<void> {
    const before = held.length;
    const more = await Promise.all(from.map((address) => capped.connect(address)));
    for (const wire of more) wire.send(capped.probe);
    wires.push(...more);
    await until('the requests are in flight', () => held.length === before + from.length);
    const tooMany = [await capped.connect(), await capped.connect()];
    for (const wire of tooMany) expect(await wire.send(capped.probe).ended()).toBe('');
  }

  async function allAreAnswered(): Promise<void> {
    for (const socket of held) socket.write(EMPTY_LIST);
    for (const wire of wires) expect((await wire.answer()).status).toBe(200);
  }

  const refusedLines = () => capped.gateway.log.filter(({ msg }) => msg === 'connection.refused');
  test('of their address, while other addresses have room', async () => {
    await start('http: {maxConnections: 10, maxConnectionsPerAddress: 3}');
    await fillsUp('127.0.0.1', '127.0.0.1', '127.0.0.1');
    await fillsUp('127.0.0.2');
    expect(await capped.metric('connections_refused_total{reason="address"}')).toBe(4);
    expect(refusedLines()).toMatchObject([
      { level: 40, reason: 'address', address: '127.0.0.1', count: 1 },
    ]);
    await allAreAnswered();
  });
});
