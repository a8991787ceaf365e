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

describe('two body lengths', () => {
  test.each<[what: string, headers: string[], statuses: number[]]>([
    ['Content-Length before Transfer-Encoding', ['Content-Length: 5', CHUNKED], [400]],
    ['Transfer-Encoding before Content-Length', [CHUNKED, 'Content-Length: 5'], [400]],
    ['gzip, then chunked', ['Transfer-Encoding: gzip, chunked'], [501]],
    ['chunked and identity in two lines', [CHUNKED, 'Transfer-Encoding: identity'], [400, 501]],
    ['a space before the colon', ['Transfer-Encoding : chunked'], [400]],
  ])('%s', async (_what, headers, statuses) => {
    await fixture.refusesAndCloses(fixture.post(headers, chunked(PET)), statuses);
  });

  test('Transfer-Encoding in HTTP/1.0', async () => {
    const bytes = fixture.post([CHUNKED], chunked(PET)).replace('HTTP/1.1', 'HTTP/1.0');
    await fixture.refusesAndCloses(bytes, [400]);
  });
});

describe('an invalid length', () => {
  test.each(['+29', '٢٩'])('Content-Length: %s', async (length) => {
    await fixture.refusesAndCloses(
      Buffer.from(fixture.post([`Content-Length: ${length}`], PET)),
      [400],
    );
  });

  test.each([['29', '5']])('Content-Length: %s and Content-Length: %s', async (first, second) => {
    const headers = [`Content-Length: ${first}`, `Content-Length: ${second}`];
    await fixture.refusesAndCloses(fixture.post(headers, PET), [400]);
  });
});

describe('chunks', () => {
  test.each<[what: string, body: string, statuses: number[]]>([
    ['a size that is not a number', `zz\r\n${PET}\r\n0\r\n\r\n`, [400]],
    ['a size that ends in LF', `1d\n${PET}\r\n0\r\n\r\n`, [400]],
    ['data longer than its size', `1c\r\n${PET}\r\n0\r\n\r\n`, [400]],
    ['extensions past all use', chunked(PET, `;a=${'b'.repeat(20_000)}`), [413]],
    ['a Content-Length among the trailers', chunked(PET, '', 'Content-Length: 7\r\n'), [400]],
    [
      'trailers past the header limit',
      chunked(PET, '', `A: ${'b'.repeat(20_000)}\r\n`),
      [400, 431],
    ],
  ])('%s', async (_what, body, statuses) => {
    await fixture.refusesAndCloses(fixture.post([CHUNKED], body), statuses);
  });

  test('reach the backend as one whole body of known length, without extensions and trailers', async () => {
    const body = chunked(PET, ';a=b', 'X-Storegate-Account: other-client\r\nX-Trailer: yes\r\n');
    const request = await fixture.passed(fixture.post([CHUNKED, 'Trailer: X-Trailer'], body));
    expect(request.body).toBe(PET);
    expect(valuesOf(request, 'content-length')).toEqual([`${PET.length}`]);
    for (const name of ['transfer-encoding', 'trailer', 'x-trailer'])
      expect(valuesOf(request, name)).toEqual([]);
    expect(valuesOf(request, 'x-storegate-account')).toEqual(['acme']);
  });

  test.each([
    'Transfer-Encoding: Chunked',
    'Transfer-Encoding: chunked ',
    'TRANSFER-ENCODING: chunked',
  ])('are read in any spelling of the header: %s', async (header) => {
    expect((await fixture.passed(fixture.post([header], chunked(PET)))).body).toBe(PET);
  });

  test('of one byte each are put together', async () => {
    const body = `${' '.repeat(40_000)}{"name":"Rex","categoryId":1}`;
    const bytes = [...body].map((byte) => `1\r\n${byte}\r\n`).join('');
    expect((await fixture.passed(fixture.post([CHUNKED], `${bytes}0\r\n\r\n`))).body).toBe(body);
  });
});

describe('lines', () => {
  const key = () => `X-API-Key: ${fixture.secret}`;

  test.each<[what: string, bytes: (key: string) => string, statuses: number[]]>([
    ['that all end in LF', (key) => `GET /pets HTTP/1.1\nHost: a\n${key}\n\n`, [400]],
    [
      'that are folded',
      (key) => `GET /pets HTTP/1.1\r\nHost: a\r\n${key}\r\nX-A: b\r\n c\r\n\r\n`,
      [400],
    ],
    [
      'folded before the first header',
      (key) => `GET /pets HTTP/1.1\r\n Host: a\r\n${key}\r\n\r\n`,
      [400],
    ],
    [
      'with a control character',
      (key) => `GET /pets HTTP/1.1\r\nHost: a\r\n${key}\r\nX-A: b\x01c\r\n\r\n`,
      [400],
    ],
    [
      'without a colon',
      (key) => `GET /pets HTTP/1.1\r\nHost: a\r\n${key}\r\nnonsense\r\n\r\n`,
      [400],
    ],
    ['of HTTP/0.9', () => 'GET /pets\r\n', [400, 505]],
    ['that claim HTTP/2.0', (key) => `GET /pets HTTP/2.0\r\nHost: a\r\n${key}\r\n\r\n`, [505]],
    ['of an HTTP/2 preface', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [505]],
    ['of a TLS handshake', () => '\x16\x03\x01\x02\0\x01\0\x01', [400]],
  ])('%s', async (_what, bytes, statuses) => {
    await fixture.refusesAndCloses(bytes(key()), statuses);
  });
});

describe('size', () => {
  test('headers beyond their limit are refused, never cut', async () => {
    await fixture.refusesAndCloses(
      fixture.request('GET /pets', [`X-A: ${'a'.repeat(100_000)}`]),
      [431],
    );
  });

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

  test('behind `Connection: close` are ignored', async () => {
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    wire.send(fixture.request('GET /pets', ['Connection: close']) + fixture.probe);
    expect(await wire.answer()).toMatchObject({ status: 200 });
    expect(await wire.ended()).toBe('');
    expect(fixture.backend.requests.slice(before).map(({ line }) => line)).toEqual([
      'GET /pets HTTP/1.1',
    ]);
  });

  test('do not include the body of a refused request', async () => {
    const before = fixture.backend.requests.length;
    const smuggled = fixture.request('GET /pets');
    const wire = await fixture.connect();
    const headers = ['Host: a', 'X-API-Key: wrong', `Content-Length: ${smuggled.length}`];
    wire.send(`POST /pets HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${smuggled}${fixture.probe}`);
    expect(await wire.answer()).toMatchObject({ status: 401 });
    expect(await wire.answer()).toMatchObject({ status: 200 });
    wire.close();
    expect(fixture.backend.requests.slice(before).map(({ line }) => line)).toEqual([
      'GET /categories HTTP/1.1',
    ]);
  });

  test('are answered in order, however many there are, and read no faster than they are answered', async () => {
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    const requests = Array.from({ length: 500 }, (_, i) =>
      fixture.request(`GET /pets?limit=${(i % 100) + 1}`),
    );
    wire.send(requests.join(''));
    for (let i = 0; i < requests.length; i++) expect((await wire.answer()).status).toBe(200);
    wire.close();
    expect(fixture.backend.requests.slice(before).map(({ line }) => line)).toEqual(
      requests.map((request) => request.slice(0, request.indexOf('\r'))),
    );
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
