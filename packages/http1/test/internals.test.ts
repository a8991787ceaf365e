import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { isEstablished, socketOf, withOnRead } from '../src/internals.ts';

const isPortable = process.env.STOREGATE_PORTABLE === '1';
const onread = { buffer: Buffer.alloc(8), callback: () => true };

let server: Server;
let near: Socket;
let far: Socket;
beforeEach(async () => {
  server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  near = connect({ ...(server.address() as object), host: '127.0.0.1' } as never);
  [far] = (await once(server, 'connection')) as [Socket];
});
afterEach(() => {
  near.destroy();
  far.destroy();
  server.close();
});

// Shows after an update of Node.js whether it still has what this needs.
test('a handle is used, and with STOREGATE_PORTABLE=1 it is not', () => {
  const used = [socketOf(server) !== null, isEstablished(near)];
  const moved = withOnRead(far, onread);
  expect([...used, moved !== null]).toEqual(Array(3).fill(!isPortable));
  moved?.destroy();
});

test('a handle that lacks a method is not used', () => {
  expect(socketOf({ _handle: { close() {} } } as never)).toBeNull();
  expect(socketOf(createServer())).toBeNull();
  expect(withOnRead({ _handle: { readStart() {} } } as never, onread)).toBeNull();
  expect(isEstablished({ _handle: {} } as never)).toBe(false);
});
