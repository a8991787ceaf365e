import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { FAULTY_RESPONSES } from './faulty-responses.ts';
import { Fixture } from './fixture.ts';
import { EMPTY_LIST, type Recorded, valuesOf } from './recording-backend.ts';

const APIS = (url: string) =>
  `apis: [{name: files, path: /files, contract: none, stripPath: false, target: "${url}"}, {name: v2, path: /v2, contract: none, stripPath: true, target: "${url}/base"}]`;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start({ settings: 'http: {maxBodyBytes: 8MiB}', apis: APIS });
});
afterAll(() => fixture.stop());
beforeEach(() => {
  fixture.backend.respond = (socket) => void socket.write(EMPTY_LIST);
});

const get = () => fixture.request('GET /files/a');

/** Answers once with these bytes, and correctly afterwards. */
function answerOnce({ backend }: Fixture, bytes: string, end = true): void {
  backend.respond = (socket) => {
    backend.respond = (next) => void next.write(EMPTY_LIST);
    socket.write(Buffer.from(bytes, 'latin1'));
    if (end) socket.end();
  };
}

/** The response as it came, names and lines too. */
async function rawAnswer(bytes: string): Promise<string> {
  const wire = await fixture.connect();
  return wire.send(bytes.replace('\r\n', '\r\nConnection: close\r\n')).ended();
}

function unchunked(text: string): string {
  const end = text.indexOf('\r\n');
  const size = Number.parseInt(text.slice(0, end), 16);
  const rest = text.slice(end + 2);
  return size === 0 ? '' : rest.slice(0, size) + unchunked(rest.slice(size + 2));
}

test('a request whose response cannot be forwarded keeps no slot of the key', async () => {
  const plans = 'plans: { free: { windows: [{ limit: 1000, per: minute }], concurrency: 1 } }\n';
  const narrow = await Fixture.start({ plans, apis: APIS });
  for (const [, bytes] of FAULTY_RESPONSES) {
    answerOnce(narrow, bytes, false);
    const wire = await narrow.connect();
    wire.send(narrow.request('POST /files/a', ['Content-Length: 0']));
    if (bytes.includes('101') || bytes.includes('17'))
      expect((await wire.answer()).status).toBe(502);
    wire.close();
    await until(
      'the slot is free',
      async () => (await narrow.ask(narrow.request('GET /files/a'))).status === 200,
    );
  }
  await narrow.stop();
});

describe('a valid but unusual response of a target passes', () => {
  test('with each of 999 fields; with more it is 502, so that none is dropped', async () => {
    const own = EMPTY_LIST.split('\r\n').indexOf('') - 1;
    const responses = [];
    for (const more of [999 - own, 1_000 - own, 1_001 - own]) {
      const lines = Array.from({ length: more }, (_, i) => `X-${i}: ${i}\r\n`).join('');
      answerOnce(fixture, EMPTY_LIST.replace('\r\n', `\r\n${lines}`));
      const { status, headers } = await fixture.ask(get());
      responses.push([status, Object.keys(headers).filter((name) => /^x-\d+$/.test(name)).length]);
    }
    expect(responses).toEqual([
      [200, 999 - own],
      [502, 0],
      [502, 0],
    ]);
  });

  test('with the lines of a list in one, and the first line of a single value', async () => {
    const lines = [
      'WWW-Authenticate: Basic realm="a, b"',
      'X-A: 1',
      'Set-Cookie: a=1',
      'WWW-Authenticate: Digest realm="c"',
      'Server: a',
      'X-A: 2',
      'Set-Cookie: b=2',
      'Server: b',
    ];
    answerOnce(fixture, EMPTY_LIST.replace('\r\n', `\r\n${lines.join('\r\n')}\r\n`));
    const text = await rawAnswer(get());
    expect(text.match(/^(?:www-authenticate|x-a|set-cookie|server): .*$/gim)).toEqual([
      'www-authenticate: Basic realm="a, b", Digest realm="c"',
      'x-a: 1, 2',
      'set-cookie: a=1',
      'set-cookie: b=2',
      'server: a',
    ]);
  });

  test.each(['Content-Length: 2\r\n', ''])(
    'with the bytes of a file name in UTF-8, behind %j',
    async (length) => {
      // The second byte of the last character and a careless conversion would make a line end.
      const name = Buffer.from('attachment; filename="Tür-一-Ċ"').toString('latin1');
      answerOnce(fixture, `HTTP/1.1 200 OK\r\n${length}Content-Disposition: ${name}\r\n\r\n[]`);
      expect(await rawAnswer(get())).toContain(`content-disposition: ${name}\r\n`);
    },
  );

  test('with trailers announced, and without chunks that could have any', async () => {
    answerOnce(fixture, EMPTY_LIST.replace('\r\n', '\r\nTrailer: X-T\r\n'));
    expect(await fixture.ask(get())).toMatchObject({ status: 200, body: '[]' });
  });

  test.each([204, 304])('with status %d and fields of a body', async (status) => {
    answerOnce(
      fixture,
      `HTTP/1.1 ${status} \r\nETag: "a"\r\nTransfer-Encoding: chunked\r\n\r\n`,
      false,
    );
    expect(await fixture.ask(get())).toMatchObject({ status, headers: { etag: '"a"' } });
  });

  test('to HEAD', async () => {
    answerOnce(fixture, 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', false);
    const response = await fixture.ask(fixture.request('HEAD /files/a'));
    expect(response).toMatchObject({ status: 200, headers: { 'content-length': '1000' } });
  });
});

describe('bytes that no request asked for are not the next response', () => {
  const EVIL = EMPTY_LIST.replace('200 OK', '201 Evil');

  test.each([
    ['204', 'GET', `HTTP/1.1 204 No Content\r\n\r\n${EVIL}`, 204],
    ['a response to HEAD', 'HEAD', `${EMPTY_LIST}${EVIL}`, 200],
    ['a whole response', 'GET', `${EMPTY_LIST}${EVIL}`, 200],
  ])('behind %s', async (_what, method, bytes, status) => {
    answerOnce(fixture, bytes, false);
    const wire = await fixture.connect();
    wire.send(fixture.request(`${method} /files/a`) + get());
    // A response that comes with more than it should may be refused, too.
    expect([status, 502]).toContain((await wire.answer({ head: method === 'HEAD' })).status);
    expect((await wire.answer()).status).toBe(200);
    wire.close();
  });

  test('while the connection is idle', async () => {
    let idle: (() => void) | undefined;
    fixture.backend.respond = (socket) => {
      socket.write(EMPTY_LIST);
      idle = () => void socket.write(EVIL);
    };
    await fixture.ask(get());
    const { connections } = fixture.backend;
    idle!();
    await until('the gateway closes it', () => fixture.backend.connections < connections);
    expect((await fixture.ask(get())).status).toBe(200);
  });
});

describe('a request to a target', () => {
  const linesOf = ({ headers }: Recorded, pattern: RegExp) =>
    headers.filter(([name]) => pattern.test(name)).map(([name, value]) => `${name}: ${value}`);

  test('has each field in one line, with its bytes, and the fields of its connection', async () => {
    const lines = [
      'User-Agent: a/1',
      'X-mIxEd: 1',
      'Cookie: a=1',
      'User-Agent: b/2',
      'Cookie: b=2',
    ];
    const name = `attachment; filename="${Buffer.from('Tür-Ċ').toString('latin1')}"`;
    const request = await fixture.passed(
      fixture.request(
        'PUT /files/a',
        [...lines, 'X-mIxEd: 2', `Content-Disposition: ${name}`, 'Content-Length: 2'],
        '[]',
      ),
    );
    expect(linesOf(request, /^(?:user-agent|x-mixed|cookie|content-disposition)$/i)).toEqual([
      'user-agent: a/1, b/2',
      'x-mixed: 1, 2',
      'cookie: a=1; b=2',
      `content-disposition: ${name}`,
    ]);
    expect(linesOf(request, /^(?:host|connection)$/i)).toEqual([
      `host: ${new URL(fixture.backend.url).host}`,
      'Connection: keep-alive',
    ]);
  });

  test.each([
    ['GET', []],
    ['DELETE', ['0']],
    ['OPTIONS', ['0']],
    ['POST', ['0']],
  ])('without a body has the length of its method: %s', async (method, lengths) => {
    const headers = method === 'POST' ? ['Content-Length: 0'] : [];
    const request = await fixture.passed(fixture.request(`${method} /files/a`, headers));
    expect(valuesOf(request, 'content-length')).toEqual(lengths);
    expect(valuesOf(request, 'transfer-encoding')).toEqual([]);
  });

  test.each(['GET', 'DELETE', 'OPTIONS'])('has its body, even if it is a %s', async (method) => {
    const request = await fixture.passed(
      fixture.request(`${method} /files/a`, ['Content-Length: 2'], '[]'),
    );
    expect([request.body, valuesOf(request, 'content-length')]).toEqual(['[]', ['2']]);
  });

  test('is streamed in chunks if it is large, over a kept connection', async () => {
    const body = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(0x10000, 'x'));
    const chunks = body.map((part) => `10000\r\n${part}\r\n`).join('');
    const upload = fixture.request(
      'POST /files/a',
      ['Transfer-Encoding: chunked'],
      `${chunks}0\r\n\r\n`,
    );
    fixture.backend.dropConnections();
    const before = fixture.backend.requests.length;
    for (let i = 0; i < 3; i++) expect((await fixture.ask(upload)).status).toBe(200);
    const requests = fixture.backend.requests.slice(before);
    expect(requests.map((request) => valuesOf(request, 'connection'))).toEqual(
      Array(3).fill(['keep-alive']),
    );
    expect(requests.every((request) => unchunked(request.body) === body.join(''))).toBe(true);
    expect(fixture.backend.connections).toBe(1);
  });
});
