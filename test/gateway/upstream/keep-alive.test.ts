import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { blockEventLoop } from '../../support/block-event-loop.ts';
import { TestGateway } from '../../support/gateway.ts';
import { type FakeBackend, fakeBackend } from '../../support/upstream.ts';

/** Milliseconds. */
const BACKEND_IDLE = 300;
const PAUSE = 400;

/** Closes a connection on which a request comes too late, as if both had met on the way. */
let backend: FakeBackend;
beforeAll(async () => {
  const lastUse = new WeakMap<Socket, number>();
  backend = await fakeBackend((request, response) => {
    const { socket } = request;
    const idle = performance.now() - (lastUse.get(socket) ?? performance.now());
    if (idle > BACKEND_IDLE) {
      socket.destroy();
      return;
    }
    response.once('finish', () => lastUse.set(socket, performance.now()));
    response.end('done');
  });
});
afterAll(() => backend.close());

async function secondPost(settings: string): Promise<number> {
  const gateway = await TestGateway.start({
    backendUrl: backend.url,
    settings,
    env: { STOREGATE_CONTRACT: 'none' },
  });
  try {
    const { secret } = await gateway.key();
    const post = async () => {
      const headers = { 'X-API-Key': secret };
      const response = await fetch(`${gateway.url}/orders`, {
        method: 'POST',
        headers,
        body: '{}',
      });
      await response.text();
      return response.status;
    };
    expect(await post()).toBe(200);
    // No timer runs meanwhile, so only a check at the next request can see the age.
    blockEventLoop(PAUSE);
    return await post();
  } finally {
    await gateway.stop();
  }
}

test.each([
  ['a POST after a pause meets a closed connection', '{}', 502],
  ['a POST after a pause gets a new connection', 'upstream: { keepAliveTimeout: 200ms }', 200],
])('%s with %s', async (_what, settings, status) => {
  expect(await secondPost(settings)).toBe(status);
});
