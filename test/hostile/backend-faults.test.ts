import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { FAULTY_RESPONSES, TRUNCATED_RESPONSES } from './faulty-responses.ts';
import { Fixture, isAnError, PET } from './fixture.ts';
import { EMPTY_LIST } from './recording-backend.ts';

let patient: Fixture;
let hasty: Fixture;
let fixture: Fixture;
beforeAll(async () => {
  const start = (deadlines = '') =>
    Fixture.start({
      settings: `upstream: {connections: 2, ejection: {enabled: false}${deadlines}}`,
      apis: (url) =>
        `apis: [{name: files, path: /files, contract: none, stripPath: false, target: "${url}"}]`,
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

const get = (path = '/pets') => fixture.request(`GET ${path}`);
const post = (path = '/pets') => sending(`POST ${path}`, PET);
const sending = (line: string, body: string) =>
  fixture.request(line, ['Content-Type: application/json', `Content-Length: ${body.length}`], body);
const PLACES = [
  ['an operation', '/pets'],
  ['a API with a target', '/files/a'],
] as const;

/** Answers once with these bytes, and correctly afterwards. */
function answerOnce(bytes: string, end = true): void {
  fixture.backend.respond = (socket) => {
    fixture.backend.respond = (next) => void next.write(EMPTY_LIST);
    socket.write(Buffer.from(bytes, 'latin1'));
    if (end) socket.end();
  };
}

describe.each(PLACES)('from the backend of %s', (_where, path) => {
  test.each(FAULTY_RESPONSES)(
    'a response that cannot be forwarded becomes 502: %s',
    async (_what, bytes) => {
      answerOnce(bytes);
      const response = await fixture.ask(post(path));
      expect(response).toMatchObject({ status: 502, code: 'upstream_error' });
      isAnError(response);
      expect((await fixture.ask(get(path))).status).toBe(200);
    },
  );

  test.each(TRUNCATED_RESPONSES)(
    'a truncated response is cut off, if the backend closes and if it stalls: %s',
    async (_what, head) => {
      fixture = hasty;
      for (const end of [true, false]) {
        answerOnce(head, end);
        const wire = await fixture.connect();
        await expect(wire.send(get(path)).answer()).rejects.toThrow('before the answer was whole');
        expect(await wire.ended()).not.toMatch(/0\r\n\r\n$/);
      }
    },
  );
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
    await fixture.ask(get(request.includes(' /files/') ? '/files/a' : '/pets'));
    const before = fixture.backend.requests.length;
    const { status } = await fixture.ask(request);
    return { status, sent: fixture.backend.requests.length - before };
  }

  test.each([
    ['PUT /files/a', '[]', '', 200, 2],
    ['PATCH /files/a', '[]', '', 502, 1],
    ['GET /pets', '', 'HTTP/1.1 2', 502, 1],
    ['GET /files/a', '', 'HTTP/1.1 2', 502, 1],
  ])(
    'if a used connection closes: %s with the body "%s" after "%s": %i',
    async (line, body, then, status, sent) => {
      dieOnReuse(then);
      expect(await reuse(body === '' ? fixture.request(line) : sending(line, body))).toEqual({
        status,
        sent,
      });
    },
  );

  test.each([
    ['once, if it may be, on a new connection', () => get(), 2],
    ['never, if it is a POST, on a new connection', () => post(), 1],
    ['never, to a target on a new connection', () => get('/files/a'), 1],
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
