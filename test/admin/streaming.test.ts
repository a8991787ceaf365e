import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import type { Listener } from '../../src/admin/call.ts';
import { sendEvents } from '../../src/admin/streaming.ts';
import { until } from '../support/until.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function called(answer: (request: Request, response: Response) => void): Promise<Socket> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const locals = { still: async () => ({ name: 'local', role: 'admin' }) };
    const set = (fields: Record<string, string>) =>
      response.setHeaders(new Map(Object.entries(fields)));
    const status = () => ({ set });
    answer(request as Request, Object.assign(response, { locals, status }) as unknown as Response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  stops.push(() => caller.destroy());
  await once(caller, 'connect');
  caller.pause().write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return caller;
}

class Followed {
  readonly listeners: Listener[] = [];
  stopped = 0;

  readonly follow = (listener: Listener) => {
    this.listeners.push(listener);
    return () => void this.stopped++;
  };
}

const noBug = (event: unknown) => {
  throw new Error(`unexpected event ${JSON.stringify(event)}`);
};

test('does not subscribe for a client that left before the stream began', async () => {
  const followed = new Followed();
  let answered = false;
  const caller = await called((request, response) => {
    response.on('close', () => {
      sendEvents(request, response, followed.follow, noBug);
      answered = true;
    });
  });
  caller.destroy();
  await until('it was answered', () => answered);
  expect(followed.listeners.length - followed.stopped).toBe(0);
});

test('disconnects a client that reads nothing when its stream ends', async () => {
  const followed = new Followed();
  await called((request, response) => sendEvents(request, response, followed.follow, noBug));
  await until('it listens', () => followed.listeners.length === 1);
  const [listener] = followed.listeners;
  const much = 'x'.repeat(1_000_000);
  let refused = 0;
  await until('what is between them is full', () => {
    refused = listener!.send('now', much) ? 0 : refused + 1;
    return refused > 20;
  });
  listener!.end();
  await until('it is gone', () => followed.stopped === 1);
});
