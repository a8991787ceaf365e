import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { Fixture, isAnError } from './fixture.ts';
import { valuesOf } from './recording-backend.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start({
    settings: 'http: {authFailureLimit: {failures: 1000, window: 1m}}',
  });
});
afterAll(() => fixture.stop());

describe('hop-by-hop headers are removed', () => {
  test('in both directions, with every header that Connection names', async () => {
    fixture.backend.respond = (socket) =>
      void socket.write(
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive, X-Theirs\r\nKeep-Alive: timeout=5\r\n' +
          'Proxy-Authenticate: x\r\nTrailer: X-T\r\nUpgrade: h2c\r\nX-Theirs: 1\r\nX-Kept: 2\r\n\r\n[]',
      );
    const hops = [
      'Keep-Alive: 1',
      'TE: trailers',
      'Trailer: X-T',
      'Proxy-Authorization: x',
      'Proxy-Connection: x',
    ];
    const headers = ['Connection: keep-alive, X-Mine', 'X-Mine: 1', 'X-Kept: 2', ...hops];
    const response = await fixture.ask(fixture.request('GET /pets', headers));
    expect(response).toMatchObject({ status: 200, headers: { 'x-kept': '2' } });
    for (const name of ['x-theirs', 'proxy-authenticate', 'trailer', 'upgrade']) {
      expect(response.headers[name]).toBeUndefined();
    }
    const seen = fixture.backend.requests.at(-1)!;
    for (const name of [
      'x-mine',
      'keep-alive',
      'te',
      'trailer',
      'proxy-authorization',
      'proxy-connection',
    ]) {
      expect(valuesOf(seen, name)).toEqual([]);
    }
    expect(valuesOf(seen, 'x-kept')).toEqual(['2']);
    fixture.backend.respond = (socket) =>
      void socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]',
      );
  });

  test.each(['X-API-Key', 'X-Storegate-Account', 'X-Forwarded-For'])(
    '`Connection: %s` removes nothing that is checked or added',
    async (name) => {
      const request = await fixture.passed(
        fixture.request('GET /pets', [`Connection: keep-alive, ${name}`]),
      );
      expect(valuesOf(request, 'x-storegate-account')).toEqual(['acme']);
      expect(valuesOf(request, 'x-storegate-key-id')).toHaveLength(1);
      expect(valuesOf(request, 'x-forwarded-for')).toEqual(['127.0.0.1']);
      expect(valuesOf(request, 'host')).toHaveLength(1);
      expect(valuesOf(request, 'x-api-key')).toEqual([]);
    },
  );
});

describe('identity and address of the client come from the gateway only', () => {
  test.each([
    'X-Storegate-Account: other-client',
    'X_Storegate_Account: other-client',
    'X-Real-IP: 6.6.6.6',
    'Remote-User: admin',
  ])('%s', async (header) => {
    const [name = '', value = ''] = header.split(': ');
    const request = await fixture.passed(fixture.request('GET /pets', [header]));
    const same = request.headers.filter(
      ([other]) =>
        other.toLowerCase().replaceAll('_', '-') === name.toLowerCase().replaceAll('_', '-'),
    );
    expect(same.length).toBeLessThanOrEqual(1);
    expect(JSON.stringify(request.headers)).not.toContain(`"${value}"`);
    expect(valuesOf(request, 'x-storegate-account')).toEqual(['acme']);
    expect(valuesOf(request, 'x-forwarded-for')).toEqual(['127.0.0.1']);
  });

  test('further names are configurable; the headers that the gateway sets are always removed', async () => {
    const other = await Fixture.start({
      settings: 'http: {stripHeaders: [x-tenant, "x-internal-*"]}',
    });
    try {
      const lines = [
        'X-Tenant: a',
        'X-Internal-Role: b',
        'X_Internal_Role: c',
        'Remote-User: d',
        'X-Forwarded-For: e',
      ];
      const { headers } = await other.passed(other.request('GET /pets', lines));
      const names = headers.map(([name]) => name.toLowerCase().replaceAll('_', '-'));
      expect(names.filter((name) => /^x-(tenant|internal)/.test(name))).toEqual([]);
      expect(names).toContain('remote-user');
      expect(headers).toContainEqual(['X-Forwarded-For', '127.0.0.1']);
    } finally {
      await other.stop();
    }
  });

  test('the key does not reach the backend, in whatever header it came', async () => {
    const bearer = `Authorization: Bearer ${fixture.secret}`;
    for (const headers of [[], [bearer]]) {
      expect(
        JSON.stringify(await fixture.passed(fixture.request('GET /pets', headers))),
      ).not.toMatch(/authorization|sg_test_/i);
    }
  });
});

describe('exactly one key', () => {
  const withKeys = (...lines: string[]) =>
    `GET /pets HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
  const refused: [what: string, lines: (key: string) => string[]][] = [
    ['repeated', (key) => [`X-API-Key: ${key}`, `X-API-Key: ${key}`]],
    ['joined by a comma', (key) => [`X-API-Key: ${key},${key}`]],
    [
      'with one letter changed',
      (key) => [`X-API-Key: ${key.slice(0, 20)}${key[20] === 'a' ? 'b' : 'a'}${key.slice(21)}`],
    ],
    ['as Basic', (key) => [`Authorization: Basic ${key}`]],
    ['as Bearer twice', (key) => [`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`]],
  ];

  test.each(refused)('%s: 401', async (_what, lines) => {
    const before = fixture.backend.requests.length;
    const response = await fixture.ask(withKeys(...lines(fixture.secret)));
    expect(response.status).toBe(401);
    isAnError(response);
    expect(response.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(response.body).not.toContain(fixture.secret);
    await fixture.isUnharmed(before);
  });

  test('unknown and malformed keys get equal responses', async () => {
    const responses = await Promise.all(
      [makeSecret('test'), makeSecret('live'), 'sg_test_x', 'nonsense'].map((key) =>
        fixture.ask(withKeys(`X-API-Key: ${key}`)),
      ),
    );
    const compared = responses.map(({ status, body, headers }) => ({
      status,
      body,
      names: Object.keys(headers),
    }));
    for (const one of compared) expect(one).toEqual(compared[0]);
  });
});
