import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { expect, test } from '@jest/globals';
import { acceptAll, acceptWaiting } from '../src/accept-all.ts';
import { socketOf } from '../src/internals.ts';

/** What a client meets that connects in the last moment before the listener closes. */
async function lastClient(prepare: (listener: Server) => Promise<void>): Promise<string> {
  const listener = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { address } = socketOf(listener)!;
  await prepare(listener);
  const client = connect(address.port, address.address);
  client.write('GET / HTTP/1.1\r\n\r\n');
  // Node connects after this, in the same turn of the event loop.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  listener.close();
  const [{ code }] = (await once(client.resume(), 'error')) as [NodeJS.ErrnoException];
  return code!;
}

// Shows after an update of Node or Linux whether they still do what acceptAll needs, and whether it is
// still needed.
test.each([
  ['refuses the last client if it took the room of the backlog', 'ECONNREFUSED', acceptsAll],
  ['resets the last client if it only waited', 'ECONNRESET', acceptWaiting],
])('a listener that closes %s', async (_what, code, prepare) => {
  expect(await lastClient(prepare)).toBe(code);
});

function acceptsAll(listener: Server): Promise<void> {
  return acceptAll(socketOf(listener)!);
}
