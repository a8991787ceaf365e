import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { ListenError, listen } from '../../../src/common/listen.ts';
import { listenInTurn, takeOver, untilReady } from '../../../src/run/workers/port.ts';
import { fakeBackend } from '../../support/upstream.ts';

const HOST = '127.0.0.1';
const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function holder(reusePort: boolean): Promise<number> {
  const server = createTcpServer();
  servers.push(server);
  server.listen({ host: HOST, port: 0, reusePort });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function worker(port: number): {
  readonly server: Server;
  listen(options?: { beside?: boolean }): Promise<string>;
} {
  const server = createServer((_, response) => response.end('worker'));
  servers.push(server);
  return {
    server,
    listen: async ({ beside = false } = {}) =>
      `${await listen(server, { host: HOST, port, reusePort: beside })}`,
  };
}

test('a worker listens beside workers of a killed primary process, and at no other port in use', async () => {
  const shared = worker(await holder(true));
  await expect(listenInTurn(shared)).resolves.toMatch(/^\d+$/);
  expect(shared.server.listening).toBe(true);
  await expect(listenInTurn(worker(await holder(false)))).rejects.toThrow(ListenError);
});

test('a worker takes over the address when it is free, and gives up if another process has it', async () => {
  const free = await holder(false);
  servers.pop()!.close();
  expect(await takeOver(worker(free))).toBe(true);
  const socket = connect(free, HOST);
  await once(socket, 'connect');
  socket.destroy();
  expect(await takeOver(worker(await holder(false)))).toBe(false);
});

test('the wait for a new primary process ends when it is ready, and not before', async () => {
  let requested = 0;
  const admin = await fakeBackend((_, response) => {
    requested++;
    response.writeHead(requested < 3 ? 503 : 200).end();
  });
  await untilReady(admin.url, 3_600_000);
  expect(requested).toBe(3);
  expect(admin.seen[0]!.url).toBe('/health/ready');
  await admin.close();
});

test('the wait for a new primary process ends if none comes', async () => {
  await untilReady('http://127.0.0.1:1', 50);
});
