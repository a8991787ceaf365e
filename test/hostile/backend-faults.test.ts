import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { FAULTY_RESPONSES, TRUNCATED_RESPONSES } from './faulty-responses.ts';
import { Fixture, isAnError, PET } from './fixture.ts';
import { EMPTY_LIST, RecordingBackend } from './recording-backend.ts';

let patient: Fixture;
let hasty: Fixture;
let fixture: Fixture;
beforeAll(async () => {
  const start = (deadlines = '') =>
    Fixture.start({
      settings: `upstream: {connections: 2, ejection: {enabled: false}${deadlines}}`,
    });
  patient = await start();
  hasty = await start(', headersTimeout: 1s, bodyTimeout: 300ms');
});
afterAll(async () => {
  await patient.stop();
  await hasty.stop();
});
beforeEach(() => {
  fixture = patient;
  for (const { backend } of [patient, hasty])
    backend.respond = (socket) => void socket.write(EMPTY_LIST);
});

const get = () => fixture.request('GET /pets');
const post = () => fixture.post([`Content-Length: ${PET.length}`], PET);

/** Answers once with these bytes, and correctly afterwards. */
function answerOnce(bytes: string, end = true): void {
  fixture.backend.respond = (socket) => {
    fixture.backend.respond = (next) => void next.write(EMPTY_LIST);
    socket.write(Buffer.from(bytes, 'latin1'));
    if (end) socket.end();
  };
}

describe('a response that cannot be forwarded becomes 502', () => {
  test.each(FAULTY_RESPONSES)('%s', async (_what, bytes) => {
    answerOnce(bytes);
    const response = await fixture.ask(post());
    expect(response).toMatchObject({ status: 502, code: 'upstream_error' });
    isAnError(response);
    expect((await fixture.ask(get())).status).toBe(200);
  });
});

describe('an unusual but valid response', () => {
  test('with a body behind 204, which is not taken for the response to the next request', async () => {
    answerOnce(
      `HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n${EMPTY_LIST.replace('200 OK', '201 Evil')}`,
      false,
    );
    const wire = await fixture.connect();
    wire.send(get() + get());
    const first = await wire.answer();
    expect(first).toMatchObject({ status: 204 });
    expect(first.headers['content-length']).toBeUndefined();
    expect(await wire.answer()).toMatchObject({ status: 200, body: '[]' });
    wire.close();
  });

  test('with a body behind a response to HEAD, which is not either', async () => {
    answerOnce(`${EMPTY_LIST}${EMPTY_LIST.replace('200 OK', '201 Evil')}`, false);
    const wire = await fixture.connect();
    wire.send(fixture.request('HEAD /pets') + get());
    expect(await wire.answer({ head: true })).toMatchObject({ status: 200 });
    expect((await wire.answer()).status).not.toBe(201);
    wire.close();
  });

  test('with our own headers, which are replaced, and repeated ones, which are kept', async () => {
    answerOnce(
      'HTTP/1.1 200 OK\r\nX-RateLimit-Limit: 7\r\nX-RateLimit-Left: 7\r\nRateLimit: "x";r=1\r\nX-Request-Id: theirs\r\n' +
        'Access-Control-Allow-Origin: evil\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-L: \xe9\r\nContent-Length: 2\r\n\r\n[]',
    );
    const { headers } = await fixture.ask(get());
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '1000000',
      'set-cookie': 'a=1, b=2',
      'x-l': '\xe9',
    });
    expect(headers['x-ratelimit-left']).toBeUndefined();
    expect(headers.ratelimit).not.toContain('"x"');
    expect(headers['x-request-id']).not.toBe('theirs');
    expect(headers['access-control-allow-origin']).not.toBe('evil');
  });
});

describe('a truncated response is cut off, never completed', () => {
  beforeEach(() => {
    fixture = hasty;
  });

  test.each(TRUNCATED_RESPONSES)(
    '%s, if the backend closes and if it stalls',
    async (_what, head) => {
      for (const end of [true, false]) {
        answerOnce(head, end);
        const wire = await fixture.connect();
        await expect(wire.send(get()).answer()).rejects.toThrow('before the answer was whole');
        expect(await wire.ended()).not.toMatch(/0\r\n\r\n$/);
      }
    },
  );

  test('by a reset for HTTP/1.0, where a close means the end', async () => {
    answerOnce('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n', false);
    const wire = await fixture.connect();
    const errors: string[] = [];
    wire.socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code ?? ''));
    wire.send(get().replace('HTTP/1.1', 'HTTP/1.0'));
    await wire.ended();
    expect(errors).toEqual(['ECONNRESET']);
  });
});

describe('a request is retried', () => {
  function dieOnReuse(then: string): void {
    const served = new WeakSet<object>();
    fixture.backend.respond = (socket) => {
      if (!served.has(socket)) {
        served.add(socket);
        socket.write(EMPTY_LIST);
      } else if (then === '') socket.destroy();
      else socket.end(then);
    };
  }

  async function reuse(request: string): Promise<{ status: number; sent: number }> {
    fixture.backend.dropConnections();
    await fixture.ask(get());
    const before = fixture.backend.requests.length;
    const { status } = await fixture.ask(request);
    return { status, sent: fixture.backend.requests.length - before };
  }

  test('once, if it is idempotent, when a used connection closed without a response', async () => {
    dieOnReuse('');
    expect(await reuse(get())).toEqual({ status: 200, sent: 2 });
  });

  test('never, after a byte of a response', async () => {
    dieOnReuse('HTTP/1.1 2');
    expect(await reuse(get())).toEqual({ status: 502, sent: 1 });
  });

  test('never, if it is a POST', async () => {
    dieOnReuse('');
    expect(await reuse(post())).toEqual({ status: 502, sent: 1 });
  });

  test.each([
    ['once, if it may be, on a new connection', get, 2],
    ['never, if it is a POST, on a new connection', post, 1],
  ])('%s', async (_what, request, sent) => {
    fixture.backend.dropConnections();
    fixture.backend.respond = (socket) => void socket.destroy();
    const before = fixture.backend.requests.length;
    expect((await fixture.ask(request())).status).toBe(502);
    expect(fixture.backend.requests.length - before).toBe(sent);
  });
});

describe('a backend that hangs', () => {
  beforeEach(() => {
    fixture = hasty;
  });

  test('has a limited queue: further requests are 503 at once', async () => {
    fixture.backend.respond = () => {};
    const responses = await Promise.all(Array.from({ length: 60 }, () => fixture.ask(get())));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.every((status) => status === 503 || status === 504)).toBe(true);
    const busy = responses.find(({ status }) => status === 503)!;
    expect(busy).toMatchObject({ code: 'upstream_busy', headers: { 'retry-after': '1' } });
    isAnError(busy);
    fixture.backend.respond = (socket) => void socket.write(EMPTY_LIST);
    expect((await fixture.ask(get())).status).toBe(200);
  });
});

test('a client that leaves cancels its request at the backend', async () => {
  const closed: string[] = [];
  fixture.backend.respond = (socket) => void socket.once('close', () => closed.push('closed'));
  const before = fixture.backend.requests.length;
  const wire = await fixture.connect();
  wire.send(get());
  await until('the backend has the request', () => fixture.backend.requests.length > before);
  wire.close();
  await until('the backend sees the end of it', () => closed.length === 1);
  const remaining = (line: Record<string, unknown>) =>
    line.msg === 'request' && line.code === 'client_closed_request';
  await until('its end is logged', () => fixture.gateway.log.some(remaining));
  expect(fixture.gateway.log.filter(remaining)).toMatchObject([{ status: 499, complete: false }]);
});

test('an unreachable backend is 502, distinguished from a failing one', async () => {
  const gone = await RecordingBackend.start();
  const { url } = gone;
  await gone.close();
  const alone = await Fixture.start({ settings: `upstream: {url: "${url}"}` });
  await alone.backend.close();
  expect(await alone.ask(alone.request('GET /pets'))).toMatchObject({
    status: 502,
    code: 'upstream_unavailable',
  });
  await alone.gateway.stop();
});
