import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type BlackHole, startBlackHole } from '../support/black-hole.ts';
import { until } from '../support/until.ts';
import { HANDSHAKE_LINES, SWITCHED } from '../support/websocket.ts';
import { Fixture } from './fixture.ts';
import type { Recorded } from './recording-backend.ts';
import { EMPTY_LIST } from './recording-backend.ts';

let fixture: Fixture;
let hole: BlackHole;
beforeAll(async () => {
  hole = await startBlackHole();
  fixture = await Fixture.start({
    settings:
      'http: {maxBodyBytes: 64KiB, drainTimeout: 200ms}\nupstream: {connectTimeout: 1s, headersTimeout: 1s, bodyTimeout: 300ms}',
    apis: (url) =>
      `apis: [{name: files, path: /files, contract: none, stripPath: false, target: "${url}"}, {name: live, path: /live, contract: none, stripPath: false, target: "${url}", websocket: true}, {name: hole, path: /hole, contract: none, stripPath: false, target: "${hole.url}", websocket: true}]`,
  });
});
afterAll(async () => {
  await fixture.stop();
  await hole.close();
});
beforeEach(() => {
  fixture.backend.respond = (socket) => void socket.write(EMPTY_LIST);
});

const CHUNKED = 'Transfer-Encoding: chunked';
const put = (headers: readonly string[], body: string) =>
  fixture.request('PUT /files/a', headers, body);

describe('an API without a contract', () => {
  test('refuses a broken body, and the target receives no end of it', async () => {
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    wire.send(`${put([CHUNKED], '2\r\n[]\r\nzz\r\n')}${fixture.probe}`);
    const response = await wire.answer();
    expect(response).toMatchObject({ status: 400, code: 'malformed_request' });
    expect(await wire.ended()).toBe('');
    await fixture.isUnharmed(before);
  });
});

describe('an upgrade', () => {
  const upgrade = (line: string, headers: readonly string[] = []) =>
    fixture.request(line, [...HANDSHAKE_LINES, ...headers]);

  test.each([
    ['by POST', 'POST /live/a', [], 501],
    ['with a body', 'GET /live/a', ['Content-Length: 5'], 501],
    ['with a chunked body', 'GET /live/a', [CHUNKED], 501],
    ['to a path with dot segments', 'GET /live/../pets', [], 400],
    ['with two keys', 'GET /live/a', ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='], 400],
    ['whose key Connection removes', 'GET /live/a', ['Connection: Sec-WebSocket-Key'], 400],
  ])('%s is refused and the connection ends', async (_what, line, headers, status) => {
    await fixture.refusesAndCloses(upgrade(line, headers), [status]);
  });

  test.each(['/live/a', '/files/a', '/pets'])('in HTTP/1.0 is ignored: GET %s', async (path) => {
    const bytes = upgrade(`GET ${path}`)
      .replace('HTTP/1.1', 'HTTP/1.0')
      .replace('Connection: Upgrade', 'Connection: keep-alive, Upgrade');
    const wire = await fixture.connect();
    expect(await wire.send(bytes).answer()).toMatchObject({
      status: 200,
      headers: { connection: 'keep-alive' },
    });
    wire.close();
    const [{ headers }] = fixture.backend.requests.slice(-1) as [Recorded];
    expect(headers.filter(([name]) => name.toLowerCase() === 'upgrade')).toEqual([]);
  });

  test('that the target refuses leaves no tunnel behind', async () => {
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    wire.send(upgrade('GET /live/a'));
    expect((await wire.answer()).status).toBe(200);
    wire.send('GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await wire.ended()).toBe('');
    await until('the attempt arrived', () => fixture.backend.requests.length > before);
    await fixture.isUnharmed(before + 1);
  });

  test('behind a response in progress is handled in its turn', async () => {
    const before = fixture.backend.requests.length;
    fixture.backend.respond = (socket, { line }) =>
      void socket.write(line.includes('/live') ? SWITCHED : EMPTY_LIST);
    const wire = await fixture.connect();
    wire.send(fixture.probe + upgrade('GET /live/a'));
    expect(await wire.answer()).toMatchObject({
      status: 200,
      headers: { connection: 'keep-alive' },
    });
    expect(await wire.answer()).toMatchObject({ status: 101 });
    wire.close();
    expect(fixture.backend.requests.slice(before).map(({ line }) => line)).toEqual([
      'GET /categories HTTP/1.1',
      'GET /live/a HTTP/1.1',
    ]);
  });

  test('that is open does not prevent the gateway from stopping', async () => {
    fixture.backend.respond = (socket) => void socket.write(SWITCHED);
    const wire = await fixture.connect();
    wire.send(upgrade('GET /live/a'));
    expect((await wire.answer()).status).toBe(101);
    await fixture.gateway.close();
    await wire.ended();
    await fixture.gateway.open();
  });
});
