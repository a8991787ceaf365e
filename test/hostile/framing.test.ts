import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { Fixture, isAnError, PET } from './fixture.ts';
import { EMPTY_LIST, valuesOf } from './recording-backend.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start();
});
afterAll(() => fixture.stop());

const chunked = (body: string, extension = '', trailers = '') =>
  `${body.length.toString(16)}${extension}\r\n${body}\r\n0\r\n${trailers}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';

const key = () => `X-API-Key: ${fixture.secret}`;
const post = (...headers: string[]) => fixture.post(headers, chunked(PET));
const sending = (body: string) => fixture.post([CHUNKED], body);
const get = (...lines: string[]) => `GET /pets HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;

/** packages/http1 has all cases of its parser; here is one of each kind, in front of a backend. */
test.each<[what: string, bytes: () => string, status: number]>([
  ['Content-Length before Transfer-Encoding', () => post('Content-Length: 5', CHUNKED), 400],
  ['gzip, then chunked', () => post('Transfer-Encoding: gzip, chunked'), 501],
  ['a length with a sign', () => fixture.post(['Content-Length: +29'], PET), 400],
  ['a chunk longer than its size', () => sending(`1c\r\n${PET}\r\n0\r\n\r\n`), 400],
  ['endless extensions', () => sending(chunked(PET, `;a=${'b'.repeat(20_000)}`)), 413],
  ['a length in a trailer', () => sending(chunked(PET, '', 'Content-Length: 7\r\n')), 400],
  ['lines that end in LF', () => get('Host: a', key()).replaceAll('\r', ''), 400],
  ['the claim of HTTP/2.0', () => get('Host: a', key()).replace('/1.1', '/2.0'), 505],
  ['a TLS handshake', () => '\x16\x03\x01\x02\0\x01\0\x01', 400],
  ['large headers', () => fixture.request('GET /pets', [`X-A: ${'a'.repeat(100_000)}`]), 431],
])(
  'a message that two parsers could read differently is refused: %s',
  async (_what, bytes, status) => {
    await fixture.refusesAndCloses(bytes(), [status]);
  },
);

test('chunks reach the backend as one body of known length, without extensions and trailers', async () => {
  const body = chunked(PET, ';a=b', 'X-Storegate-Account: other-client\r\nX-Trailer: yes\r\n');
  const request = await fixture.passed(fixture.post([CHUNKED, 'Trailer: X-Trailer'], body));
  expect(request.body).toBe(PET);
  expect(valuesOf(request, 'content-length')).toEqual([`${PET.length}`]);
  for (const name of ['transfer-encoding', 'trailer', 'x-trailer'])
    expect(valuesOf(request, name)).toEqual([]);
  expect(valuesOf(request, 'x-storegate-account')).toEqual(['acme']);
});

describe('size', () => {
  test('too many headers are refused, and one fewer passes', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: y`);
    await fixture.refusesAndCloses(fixture.request('GET /pets', lines(99)), [431]);
    const request = await fixture.passed(fixture.request('GET /pets', lines(98)));
    expect(valuesOf(request, 'x-97')).toEqual(['y']);
  });

  test('a target beyond its limit is 414, wherever it is detected', async () => {
    expect(await fixture.ask(fixture.request(`GET /pets?${'a'.repeat(10_000)}`))).toMatchObject({
      status: 414,
    });
    const response = await fixture.refusesAndCloses(`GET /pets?${'a'.repeat(60_000)}`, [414]);
    expect(response.code).toBe('uri_too_long');
  });
});

describe('several requests on one connection', () => {
  test('are processed and answered in their order', async () => {
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    const post = fixture.post([`Content-Length: ${PET.length}`], PET);
    wire.send(post + fixture.probe + post + fixture.request('HEAD /pets'));
    for (const head of [false, false, false, true])
      expect((await wire.answer({ head })).status).toBe(200);
    wire.close();
    expect(fixture.backend.requests.slice(before).map(({ line }) => line)).toEqual([
      'POST /pets HTTP/1.1',
      'GET /categories HTTP/1.1',
      'POST /pets HTTP/1.1',
      'HEAD /pets HTTP/1.1',
    ]);
  });

  test('behind valid requests a fault leaves their responses whole, is answered last, and ends the connection', async () => {
    const wire = await fixture.connect();
    wire.send(`${fixture.probe}${fixture.probe}GET /pets HTTP/1.1\r\nHost: a\n\n${fixture.probe}`);
    expect(await wire.answer()).toMatchObject({ status: 200, body: '[]' });
    expect(await wire.answer()).toMatchObject({ status: 200, body: '[]' });
    const fault = await wire.answer();
    expect(fault.status).toBe(400);
    isAnError(fault);
    expect(await wire.ended()).toBe('');
  });

  test('behind valid requests a broken body is answered in its turn', async () => {
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    wire.send(fixture.probe + fixture.post([CHUNKED], 'zz\r\n') + fixture.probe);
    expect(await wire.answer()).toMatchObject({ status: 200 });
    expect(await wire.answer()).toMatchObject({ status: 400, code: 'malformed_request' });
    expect(await wire.ended()).toBe('');
    await fixture.isUnharmed(before + 1);
  });

  test('are not read while the responses before them are not read', async () => {
    const { respond } = fixture.backend;
    const body = `[${' '.repeat(100_000)}]`;
    fixture.backend.respond = (socket) =>
      void socket.write(EMPTY_LIST.replace('2\r\n\r\n[]', `${body.length}\r\n\r\n${body}`));
    const wire = await fixture.connect();
    wire.socket.pause();
    // More than the socket buffers hold of unread requests, and later of unread responses.
    wire.send(
      fixture.request('GET /categories', [`X-Padding: ${'x'.repeat(10_000)}`]).repeat(2_000),
    );
    const start = fixture.backend.requests.length;
    await until('the first ones are forwarded', () => fixture.backend.requests.length > start);
    await until('no request of it is forwarded', async () => {
      const before = fixture.backend.requests.length;
      expect(await fixture.ask(fixture.probe)).toMatchObject({ status: 200 });
      return fixture.backend.requests.length === before + 1;
    });
    expect(wire.socket.writableLength).toBeGreaterThan(0);
    wire.close();
    fixture.backend.respond = respond;
  });
});
