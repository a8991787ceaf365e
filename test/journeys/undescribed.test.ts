import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { carriesTheHeadersOfEveryAnswer, isTheError } from '../support/expect-headers.ts';
import { TestGateway } from '../support/gateway.ts';
import { HANDSHAKE, SWITCHED } from '../support/websocket.ts';

let target: Server;
let gateway: TestGateway;
let secret: string;
const seen: IncomingMessage[] = [];

beforeAll(async () => {
  target = createServer((request, response) => {
    seen.push(request);
    response.writeHead(200, {
      'X-RateLimit-Limit': '1',
      'X-Theirs': 'yes',
      'Content-Type': 'application/octet-stream',
    });
    request.pipe(response);
  });
  target.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    seen.push(request);
    socket.write(SWITCHED);
    socket.pipe(socket);
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  gateway = await TestGateway.start({
    settings: `apis:\n  - {name: files, path: /files, contract: none, stripPath: false, target: "${url}"}\n  - {name: live, path: /live, contract: none, stripPath: false, target: "${url}", websocket: true}`,
  });
  ({ secret } = await gateway.key());
});
afterAll(async () => {
  await gateway.stop();
  target.close();
  target.closeAllConnections();
});

describe('an API without a contract', () => {
  test('forwards method, path, query and body unchanged, and the response with our limit headers', async () => {
    const response = await fetch(`${gateway.url}/files/a/b?c=%20d`, {
      method: 'PUT',
      headers: { 'X-API-Key': secret, 'Content-Type': 'x/y' },
      body: 'bytes',
    });
    expect(await response.text()).toBe('bytes');
    expect(response.headers.get('x-theirs')).toBe('yes');
    expect(response.headers.get('x-ratelimit-limit')).toBe('60');
    expect(response.headers.get('cache-control')).toBe('private');
    expect(response.headers.get('vary')).toBe('X-API-Key, Authorization');
    carriesTheHeadersOfEveryAnswer({ headers: Object.fromEntries(response.headers) });
    expect(seen.at(-1)).toMatchObject({ method: 'PUT', url: '/files/a/b?c=%20d' });
  });

  test('does not match paths that only begin alike', async () => {
    isTheError(await gateway.client.get('/filesystem').set('X-API-Key', secret), 404, 'not_found');
  });
});

describe('a WebSocket', () => {
  function upgrade(path: string, headers: Record<string, string>) {
    const { hostname, port } = new URL(gateway.url);
    const request = httpRequest({
      hostname,
      port,
      path,
      headers: {
        ...HANDSHAKE,
        ...headers,
      },
    });
    request.end();
    return request;
  }

  test('passes through an API without a contract that enables it, in both directions', async () => {
    const request = upgrade('/live/feed', { 'X-API-Key': secret });
    const [response, socket] = (await once(request, 'upgrade')) as [IncomingMessage, Socket];
    expect(response.statusCode).toBe(101);
    socket.write('hello');
    const [echo] = (await once(socket, 'data')) as [Buffer];
    expect(echo.toString()).toBe('hello');
    expect(seen.at(-1)!.headers['x-storegate-account']).toBe('acme');
    expect(seen.at(-1)!.headers['x-api-key']).toBeUndefined();
    socket.destroy();
  });
});
