import { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { BodyStream, createPool, type Pool } from '@storegate/http1';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import type { Checked } from '../../../src/gateway/results.ts';
import { createForward } from '../../../src/gateway/stages/forward.ts';
import { soleUpstream } from '../../../src/gateway/upstream/upstream.ts';
import { type Send, sendUpstream } from '../../../src/gateway/upstream/upstream-request.ts';
import { ClientAbort } from '../../../src/gateway/wire/client-abort.ts';
import type { Event } from '../../../src/observe/events.ts';
import {
  admittedClient,
  exchangeOf,
  requestFields,
  returnedNames,
  routeOf,
  targetOf,
  via,
} from '../../support/exchange.ts';

interface Far {
  /** Each argument is one read of the gateway. */
  send(...reads: string[]): void;
  end(): void;
  fail(error: Error): void;
}

type Backend = (far: Far) => void;

const HOUR = 3_600_000;
const pools: Pool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.close();
});

interface Behaviour {
  readonly connects?: boolean;
  readonly connectTimeout?: number;
  readonly headersTimeout?: number;
}

/** The n-th backend handles the n-th request. The stage may open one connection. */
function forwarding(
  backends: Backend[],
  { connects = true, connectTimeout = HOUR, headersTimeout = HOUR }: Behaviour = {},
) {
  const sent: string[] = [];
  const flow: string[] = [];
  const events: Event[] = [];
  let opened = 0;
  const pool = createPool({
    connections: 1,
    mostWaiting: 0,
    connectTimeout,
    headersTimeout,
    bodyTimeout: HOUR,
    keepAliveTimeout: HOUR,
    host: 'backend',
    basePath: '/base',
    open(receive, connected) {
      opened++;
      const socket = new Duplex({
        read() {},
        write(chunk, _encoding, done) {
          sent.push(chunk.toString('latin1'));
          done();
          setImmediate(() => backends[sent.length - 1]!(far));
        },
      });
      socket.pause = () => {
        flow.push('pause');
        return socket;
      };
      socket.resume = () => {
        flow.push('resume');
        return socket;
      };
      const far: Far = {
        send: (...reads) => {
          for (const read of reads) receive(Buffer.from(read, 'latin1'));
        },
        end: () => void socket.emit('end'),
        fail: (error) => void socket.destroy(error),
      };
      if (connects) queueMicrotask(connected);
      return socket;
    },
  });
  pools.push(pool);
  const upstream = soleUpstream('backend:80', pool);
  const { forward } = createForward({ requestFields, joinTunnel: () => {}, plainResponses: false });
  const observe = (event: Event) => events.push(event);
  const send: Send = (exchange, requested) =>
    sendUpstream({ upstream, observe, returned: returnedNames, exchange, request: requested });
  const route = routeOf({ send });

  function ask(
    exchange: Exchange = exchangeOf(),
    body: Buffer | null = null,
    url = '/pets?limit=1',
  ) {
    return forward(exchange, {
      client: admittedClient(),
      target: targetOf(url),
      route,
      body,
    } as Checked);
  }
  return { ask, sent, flow, events, opened: () => opened };
}

function text(status: number, fields: Readonly<Record<string, string>>, body = ''): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} OK\r\n${lines.join('')}\r\n${body}`;
}

const OK = text(200, { 'content-length': '2' }, 'ok');

const responses =
  (...reads: string[]): Backend =>
  (far) =>
    far.send(...reads);

const fails =
  (code: string): Backend =>
  (far) =>
    far.fail(Object.assign(new Error(code), { code }));

async function gathered(body: BodyStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    body.to({
      chunk(bytes) {
        text += bytes.toString();
        return true;
      },
      end: () => resolve(text),
      fail: reject,
    });
  });
}

describe('the backend is asked', () => {
  test('with the target as it came, the checked bytes, and the client', async () => {
    const { ask, sent } = forwarding([responses(text(200, { 'content-length': '0' }))]);
    const target = '/p%65ts?limit=%31&';
    await ask(
      exchangeOf('POST', { 'X-API-Key': 'secret', 'X-Own': '1' }),
      Buffer.from('{}'),
      target,
    );
    expect(sent).toHaveLength(1);
    const [head = '', body] = sent[0]!.split('\r\n\r\n');
    expect(body).toBe('{}');
    const [line, ...fields] = head.split('\r\n');
    expect(line).toBe('POST /base/p%65ts?limit=%31& HTTP/1.1');
    expect(fields).toEqual(
      expect.arrayContaining([
        'X-Own: 1',
        'X-Storegate-Key-Id: key_1',
        'X-Storegate-Plan: free',
        'Content-Length: 2',
      ]),
    );
    expect(head.toLowerCase()).not.toContain('x-api-key');
  });
});

describe('and returns its response as a value', () => {
  test('with the whole body if that came with the head', async () => {
    const response = `HTTP/1.1 200 OK\r\ncontent-length: 4\r\nX-Own: 1\r\nX-Own: 2\r\nConnection: keep-alive\r\n\r\nbody`;
    const { ask, opened } = forwarding([responses(response), responses(OK)]);
    const exchange = exchangeOf();
    expect(await ask(exchange)).toEqual({
      status: 200,
      reason: 'OK',
      headers: [
        'content-length',
        '4',
        'x-own',
        '1',
        'x-own',
        '2',
        'cache-control',
        'private',
        'vary',
        'X-API-Key, Authorization',
        'via',
        via.values[1],
      ],
      body: Buffer.from('body'),
    });
    expect(exchange.respondedAt).toBeGreaterThan(0);
    expect(exchange.cancel).toBeNull();
    expect((await ask()).body).toEqual(Buffer.from('ok'));
    expect(opened()).toBe(1);
  });

  test.each<[string, string, number, Record<string, string>]>([
    ['HEAD', 'HEAD', 200, { 'content-length': '4' }],
    ['304', 'GET', 304, { 'content-length': '4' }],
    ['Content-Length: 0', 'GET', 200, { 'content-length': '0' }],
  ])('with an empty body: %s', async (_what, method, status, fields) => {
    const { ask } = forwarding([responses(text(status, fields))]);
    expect((await ask(exchangeOf(method))).body).toEqual(Buffer.alloc(0));
  });

  test.each([
    [
      'of unknown length',
      { 'transfer-encoding': 'chunked' },
      ['3\r\none\r\n', '3\r\ntwo\r\n0\r\n\r\n'],
    ],
    ['that comes in pieces', { 'content-length': '6' }, ['one', 'two']],
  ])('and returns a stream %s', async (_what, fields, [first = '', ...others]) => {
    const { ask, opened } = forwarding([
      responses(text(200, fields, first), ...others),
      responses(OK),
    ]);
    const { body } = await ask();
    expect(body).toBeInstanceOf(BodyStream);
    expect(await gathered(body as BodyStream)).toBe('onetwo');
    expect((await ask()).body).toEqual(Buffer.from('ok'));
    expect(opened()).toBe(1);
  });

  test('and its connection waits while nothing reads the body', async () => {
    let more = (): void => {};
    const { ask, flow } = forwarding([
      (far) => {
        far.send(text(200, { 'content-length': '9' }, 'one'));
        more = () => far.send('two', 'six');
      },
    ]);
    const { body } = await ask();
    expect(flow).toEqual(['pause']);
    const all = gathered(body as BodyStream);
    expect(flow).toEqual(['pause', 'resume']);
    more();
    expect(await all).toBe('onetwosix');
    expect(flow).toEqual(['pause', 'resume']);
  });

  test('and an aborted body fails its reader', async () => {
    const { ask } = forwarding([
      (far) => {
        far.send(text(200, { 'content-length': '9' }, 'one'));
        fails('ECONNRESET')(far);
      },
    ]);
    const { body } = await ask();
    await expect(gathered(body as BodyStream)).rejects.toMatchObject({
      name: 'Outage',
      code: 'upstream_error',
    });
  });
});

describe('a missing response is an outage', () => {
  test.each<[string, Backend, Behaviour, string]>([
    ['ECONNREFUSED', fails('ECONNREFUSED'), { connects: false }, 'upstream_unavailable'],
    [
      'no connection in time',
      () => {},
      { connects: false, connectTimeout: 20 },
      'upstream_unavailable',
    ],
    ['no response in time', () => {}, { headersTimeout: 20 }, 'upstream_timeout'],
    ['the end of the connection', (far) => far.end(), {}, 'upstream_error'],
    ['an invalid response', responses('220 mail.example ESMTP\r\n\r\n'), {}, 'upstream_error'],
  ])('%s is reported as such', async (_what, backend, behaviour, outage) => {
    const { ask, opened } = forwarding([backend, backend], behaviour);
    // The second request shows that the first has released its slot.
    for (const place of [1, 2]) {
      await expect(ask()).rejects.toMatchObject({ name: 'Outage', code: outage });
      expect(opened()).toBe(place);
    }
  });

  test('and so are too many requests at once', async () => {
    const { ask } = forwarding([() => {}]);
    ask().catch(() => {});
    await expect(ask()).rejects.toMatchObject({ name: 'Outage', code: 'upstream_busy' });
  });

  test('and a client that leaves aborts the request', async () => {
    const { ask } = forwarding([() => {}]);
    const exchange = exchangeOf();
    const response = ask(exchange);
    exchange.cancel!();
    await expect(response).rejects.toBeInstanceOf(ClientAbort);
  });
});

describe('a connection that was closed while idle', () => {
  const dies = fails('ECONNRESET');

  test('is replaced once, and reported', async () => {
    const { ask, events, opened } = forwarding([responses(OK), dies, responses(OK)]);
    await ask();
    expect((await ask()).body).toEqual(Buffer.from('ok'));
    expect(events).toEqual([
      {
        type: 'retry',
        id: 'request-1',
        upstream: 'target',
        backend: 'backend:80',
        error: expect.any(Error),
      },
    ]);
    expect(opened()).toBe(2);
  });

  test('is not replaced a second time', async () => {
    const { ask, sent } = forwarding([responses(OK), dies, dies]);
    await ask();
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_error' });
    expect(sent).toHaveLength(3);
  });

  test('is not replaced for a non-idempotent method', async () => {
    const { ask, sent } = forwarding([responses(OK), dies]);
    await ask();
    await expect(ask(exchangeOf('POST'))).rejects.toMatchObject({ code: 'upstream_error' });
    expect(sent).toHaveLength(2);
  });
});
