import { afterEach, describe, expect, test } from '@jest/globals';
import { isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { type FakeBackend, fakeBackend, rawBackend } from '../support/upstream.ts';

const SHORT = 'upstream: {headersTimeout: 1s, bodyTimeout: 1s}';
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]';

let gateway: TestGateway;
let backend: FakeBackend | null = null;
afterEach(async () => {
  await gateway.stop();
  await backend?.close();
  backend = null;
});

async function behind(fake: FakeBackend, settings = ''): Promise<string> {
  backend = fake;
  gateway = await TestGateway.start({ settings, backendUrl: fake.url });
  return (await gateway.key()).secret;
}

const get = (key: string) => gateway.client.get('/pets').set('X-API-Key', key);
const post = (key: string) =>
  gateway.client.post('/pets').set('X-API-Key', key).send({ name: 'Rex', categoryId: 1 });

describe('a backend that', () => {
  test('is unreachable: 502, and the next request works once it is up', async () => {
    const fake = await rawBackend((socket) => socket.end(OK));
    await fake.close();
    gateway = await TestGateway.start({ backendUrl: fake.url });
    const { secret } = await gateway.key();
    isTheError(await get(secret), 502, 'upstream_unavailable');
    isTheError(await post(secret), 502, 'upstream_unavailable');
  });

  test('never answers: 504', async () => {
    const key = await behind(await rawBackend(() => {}), SHORT);
    isTheError(await get(key), 504, 'upstream_timeout');
  });

  test('sends garbage: 502', async () => {
    const key = await behind(await rawBackend((socket) => socket.end('SSH-2.0-nonsense\r\n\r\n')));
    isTheError(await get(key), 502, 'upstream_error');
  });

  test('closes without a response: 502, and a POST is not sent twice', async () => {
    const fake = await rawBackend((socket) => socket.destroy());
    const key = await behind(fake);
    isTheError(await post(key), 502, 'upstream_error');
    expect(fake.requests.length).toBe(1);
  });

  test('dies in the middle of its response: the response is cut off, never completed', async () => {
    const key = await behind(
      await rawBackend((socket) =>
        socket.end(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[{"id":1',
        ),
      ),
    );
    await expect(get(key)).rejects.toThrow(/aborted|hang up|terminated/);
  });

  test('stalls in the middle of its response: the response is cut off', async () => {
    const key = await behind(
      await rawBackend((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[{"\r\n'),
      ),
      SHORT,
    );
    await expect(get(key)).rejects.toThrow(/aborted|hang up|terminated/);
  });

  test('closed an idle connection: the request is sent once more, if it is idempotent', async () => {
    // Each connection answers once and closes on the second request without a byte.
    const served = new WeakSet<object>();
    const fake = await rawBackend((socket) => {
      if (served.has(socket)) return void socket.destroy();
      served.add(socket);
      socket.write(OK);
    });
    const key = await behind(fake);
    expect((await get(key)).status).toBe(200);
    expect((await get(key)).status).toBe(200);
    expect(fake.requests.length).toBe(3);
    isTheError(await post(key), 502, 'upstream_error');
    expect(fake.requests.length).toBe(4);
    const retries = await gateway.admin.get('/metrics');
    expect(retries.text).toContain('storegate_upstream_retries_total 1');
  });

  test.each(['get', 'delete'] as const)(
    'hangs on a used connection: 504, sent once (%s)',
    async (method) => {
      const fake = await rawBackend(
        (socket, _request, count) => void (count === 1 && socket.write(OK)),
      );
      const key = await behind(fake, SHORT);
      expect((await get(key)).status).toBe(200);
      isTheError(
        await gateway.client[method]('/pets/1').set('X-API-Key', key),
        504,
        'upstream_timeout',
      );
      expect(fake.requests.length).toBe(2);
      const { text } = await gateway.admin.get('/metrics');
      expect(text).toContain('storegate_upstream_retries_total 0');
    },
  );

  test('responds with its own errors: they are forwarded, with our limit headers', async () => {
    const key = await behind(
      await fakeBackend((_request, response) => {
        response.writeHead(503, {
          'X-RateLimit-Limit': '7',
          RateLimit: 'theirs',
          'Retry-After': '9',
          'X-Request-Id': 'theirs',
          Connection: 'X-Private',
          'X-Private': '1',
        });
        response.end('busy');
      }),
    );
    const response = await get(key);
    expect(response.status).toBe(503);
    expect(response.text).toBe('busy');
    expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '60', 'retry-after': '9' });
    expect(response.headers.ratelimit).toContain('minute');
    expect(response.headers['x-request-id']).not.toBe('theirs');
    expect(response.headers['x-private']).toBeUndefined();
  });
});
