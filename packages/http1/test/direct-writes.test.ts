import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../../test/support/until.ts';
import { DirectWrites, directWrites } from '../src/direct-writes.ts';

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** Both ends of one connection. */
async function pair(): Promise<readonly [near: Socket, far: Socket]> {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[far]] = await Promise.all([
    once(server, 'connection') as Promise<[Socket]>,
    once(near, 'connect'),
  ]);
  opened.push({ close: () => near.destroy() }, { close: () => far.destroy() }, server);
  return [near, far];
}

async function received(socket: Socket): Promise<string> {
  let text = '';
  socket
    .setEncoding('latin1')
    .on('data', (part: string) => {
      text += part;
    })
    .resume();
  await once(socket, 'end');
  return text;
}

test('returns true for text that the system accepts at once', async () => {
  const [near, far] = await pair();
  const drained: string[] = [];
  const writes = new DirectWrites(near, () => drained.push('drained'));
  expect(writes.write('caf\xe9')).toBe(true);
  expect([writes.isPending, near.writableLength, near.bytesWritten]).toEqual([false, 0, 4]);
  near.end();
  expect(await received(far)).toBe('caf\xe9');
  expect(drained).toEqual([]);
});

test('returns false for text that a slow reader leaves, and reports the end of the wait once', async () => {
  const [near, far] = await pair();
  let drains = 0;
  const writes = new DirectWrites(near, () => drains++);
  const part = 'x'.repeat(100_000);
  let parts = 1;
  while (writes.write(part)) parts++;
  expect(writes.write('last')).toBe(false);
  expect([writes.isPending, drains]).toEqual([true, 0]);
  const text = received(far);
  await until('the reader has everything', () => drains > 0);
  expect([writes.isPending, drains]).toEqual([false, 1]);
  near.end();
  expect(await text).toBe(`${part.repeat(parts)}last`);
});

test('keeps the order of text and of the bytes of the stream', async () => {
  const [near, far] = await pair();
  const writes = new DirectWrites(near, () => {});
  const large = Buffer.alloc(10_000_000, 'a');
  near.write(large);
  expect(near.writableLength).toBeGreaterThan(0);
  expect(writes.write('b')).toBe(false);
  near.end('c');
  const text = await received(far);
  expect([text.length, text.slice(-3)]).toEqual([large.length + 2, 'abc']);
  const [other, reader] = await pair();
  const more = new DirectWrites(other, () => {});
  expect(more.write('a'.repeat(large.length))).toBe(false);
  other.end('c');
  const next = await received(reader);
  expect([next.length, next.slice(-2)]).toEqual([large.length + 1, 'ac']);
});

test('writes directly only to TCP sockets', async () => {
  const [near] = await pair();
  expect(directWrites(near, () => {})).toBeInstanceOf(DirectWrites);
  const secured = new TLSSocket(near);
  opened.push({ close: () => secured.destroy() });
  expect([directWrites(secured, () => {}), directWrites(duplexPair()[0], () => {})]).toEqual([
    null,
    null,
  ]);
});

test('destroys the socket with the error of a write', async () => {
  const [near, far] = await pair();
  const writes = new DirectWrites(near, () => {});
  far.resetAndDestroy();
  const failed = once(near, 'error');
  await until('the connection is known to be gone', () => {
    writes.write('x');
    return near.destroyed;
  });
  expect((await failed)[0]).toBeInstanceOf(Error);
  expect([writes.write('y'), writes.isPending, near.destroyed]).toEqual([true, false, true]);
});
