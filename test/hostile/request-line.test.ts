import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fixture, isAnError, PET } from './fixture.ts';
import { valuesOf } from './recording-backend.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start();
});
afterAll(() => fixture.stop());

describe('a path that two readers could read differently is refused', () => {
  test.each([
    '/pets/../categories',
    '/pets/%2e%2e/categories',
    '//pets',
    '/pets%0d%0aX-A:b',
    'api.example:80',
  ])('%j', async (target) => {
    const before = fixture.backend.requests.length;
    const response = await fixture.ask(fixture.request(`GET ${target}`));
    expect(response).toMatchObject({ status: 400, code: 'malformed_request' });
    isAnError(response);
    await fixture.isUnharmed(before);
  });
});

describe('a path in another spelling', () => {
  test.each(['/%70ets', '/p%65%74s?', '/pets/%31', '/pets?limit=%31'])(
    '%s is checked in its canonical form, and forwarded as it came',
    async (sent) => {
      expect((await fixture.passed(fixture.request(`GET ${sent}`))).line).toBe(
        `GET ${sent} HTTP/1.1`,
      );
    },
  );

  test.each(['/Pets', '/metrics', '/admin'])('%s is not found', async (target) => {
    const before = fixture.backend.requests.length;
    expect(await fixture.ask(fixture.request(`GET ${target}`))).toMatchObject({
      status: 404,
      code: 'not_found',
    });
    await fixture.isUnharmed(before);
  });

  test.each(['http://evil.example/pets', 'http://user@api.example/pets'])(
    'in absolute form is refused if it names another host than Host, or a user: %s',
    async (target) => {
      await fixture.refusesAndCloses(fixture.request(`GET ${target}`), [400]);
    },
  );

  test.each(['http://api.example/pets', 'HTTPS://API.example/pets'])(
    'in absolute form never chooses the upstream: %s',
    async (target) => {
      const request = await fixture.passed(fixture.request(`GET ${target}`));
      expect(request.line).toBe('GET /pets HTTP/1.1');
      expect(valuesOf(request, 'host')).toEqual([new URL(fixture.backend.url).host]);
    },
  );
});

describe('a method', () => {
  test.each([
    ['TRACE /pets', 405],
    ['CONNECT api.example:80', 405],
    ['BREW /pets', 501],
    ['G\0ET /pets', 400],
  ])('%j is refused, and the connection ends', async (line, status) => {
    await fixture.refusesAndCloses(fixture.request(line), [status]);
  });

  test('that no path may have is refused with those that the gateway forwards', async () => {
    const { headers } = await fixture.ask(fixture.request('TRACE /pets'));
    expect(headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  });

  test.each(['PROPFIND', 'PATCH', 'OPTIONS'])(
    'that the path does not have is 405: %s',
    async (method) => {
      const response = await fixture.ask(fixture.request(`${method} /pets`));
      expect(response).toMatchObject({ status: 405, code: 'method_not_allowed' });
      expect(response.headers.allow).toContain('GET');
    },
  );

  test('behind a method, CONNECT and upgrades end the connection without disturbing the response before', async () => {
    for (const second of [
      fixture.request('CONNECT api.example:80'),
      fixture.request('GET /pets', ['Connection: Upgrade', 'Upgrade: websocket']),
      fixture.request('TRACE /pets'),
    ]) {
      const wire = await fixture.connect();
      wire.send(fixture.probe + second + fixture.probe);
      expect(await wire.answer()).toMatchObject({ status: 200, body: '[]' });
      await wire.ended();
    }
    expect((await fixture.ask(fixture.probe)).status).toBe(200);
    expect(fixture.gateway.log.filter(({ msg }) => msg === 'bug')).toEqual([]);
  });

  test.each(['X-HTTP-Method-Override: DELETE', 'X-Original-URL: /categories'])(
    'and path are those of the request line: %s has no effect and is removed',
    async (header) => {
      const request = await fixture.passed(fixture.request('GET /pets', [header]));
      expect(request.line).toBe('GET /pets HTTP/1.1');
      expect(valuesOf(request, header.split(':')[0]!.toLowerCase())).toEqual([]);
    },
  );

  test('HEAD is checked as GET', async () => {
    expect((await fixture.passed(fixture.request('HEAD /pets?limit=3'))).line).toBe(
      'HEAD /pets?limit=3 HTTP/1.1',
    );
    expect((await fixture.ask(fixture.request('HEAD /pets?limit=x'))).status).toBe(400);
    expect((await fixture.ask(fixture.request('HEAD /nowhere'))).status).toBe(404);
  });
});

describe('Expect', () => {
  const post = (...headers: string[]) =>
    fixture.post([`Content-Length: ${PET.length}`, ...headers], '');

  test.each([
    ['without a key', () => post('Expect: 100-continue').replace(/X-API-Key: .*\r\n/, ''), 401],
    ['with a wrong key', () => post('Expect: 100-continue').replace(fixture.secret, 'wrong'), 401],
    [
      'for too large a body',
      () => post('Expect: 100-continue').replace('Length: 29', 'Length: 9999999'),
      413,
    ],
    [
      'for a path that is not there',
      () => post('Expect: 100-continue').replace('/pets', '/nowhere'),
      404,
    ],
    [
      'for a body of the wrong kind',
      () => post('Expect: 100-continue').replace('/json', '/xml'),
      415,
    ],
  ])('%s gets no 100, and the connection ends', async (_what, bytes, status) => {
    const wire = await fixture.connect();
    expect((await wire.send(bytes()).answer()).status).toBe(status);
    expect(await wire.ended()).toBe('');
  });

  test('of more than 100-continue is 417', async () => {
    const headers = [`Content-Length: ${PET.length}`, 'Expect: 100-continue, more'];
    await fixture.refusesAndCloses(fixture.post(headers, PET), [417]);
  });

  test('has no effect in HTTP/1.0', async () => {
    const bytes = fixture.post([`Content-Length: ${PET.length}`, 'Expect: 100-continue'], PET);
    expect((await fixture.ask(bytes.replace('HTTP/1.1', 'HTTP/1.0'))).status).toBe(200);
  });
});

describe('Upgrade outside of APIs with WebSockets', () => {
  test.each([['websocket'], ['TLS/1.0'], ['h2c, websocket']])(
    '%s is removed, and nothing behind the request is read',
    async (protocol) => {
      const before = fixture.backend.requests.length;
      const wire = await fixture.connect();
      const headers = ['Connection: Upgrade', `Upgrade: ${protocol}`];
      wire.send(fixture.request('GET /pets', headers) + fixture.probe);
      expect((await wire.answer()).status).toBe(200);
      expect(await wire.ended()).toBe('');
      const [request, ...others] = fixture.backend.requests.slice(before);
      expect(others).toEqual([]);
      expect(valuesOf(request!, 'upgrade')).toEqual([]);
    },
  );

  test('h2c is removed, and the connection is kept for clients that offer it always', async () => {
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    const offer = [
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
    ];
    for (let i = 0; i < 2; i++)
      expect((await wire.send(fixture.request('GET /pets', offer)).answer()).status).toBe(200);
    wire.close();
    for (const request of fixture.backend.requests.slice(before))
      for (const name of ['upgrade', 'http2-settings']) expect(valuesOf(request, name)).toEqual([]);
  });

  test('with a body is an ordinary request', async () => {
    const headers = ['Connection: Upgrade', 'Upgrade: h2c', `Content-Length: ${PET.length}`];
    expect((await fixture.passed(fixture.post(headers, PET))).body).toBe(PET);
  });
});
