import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { expect, test } from '@jest/globals';
import { until } from '../../../test/support/until.ts';
import { readShared } from '../src/shared-reads.ts';

test('sockets read into one buffer, which the next read uses again', async () => {
  const reads: Buffer[] = [];
  const texts: string[] = [];
  const receive = (_socket: Socket, bytes: Buffer) => {
    reads.push(bytes);
    texts.push(bytes.toString());
    return true;
  };
  const server = createServer({ pauseOnConnect: true }, (accepted) => {
    const socket = readShared(accepted, receive);
    socket.on('end', () => socket.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [one, two] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  one.write('first');
  await until('the first has come', () => texts.length === 1);
  two.write('other');
  await until('the second has come', () => texts.length === 2);
  expect(texts).toEqual(['first', 'other']);
  expect(reads[0]!.buffer).toBe(reads[1]!.buffer);
  expect(reads[0]!.toString()).toBe('other');
  one.destroy();
  two.destroy();
  // The listener counts each of them once, so it closes.
  await new Promise((closed) => server.close(closed));
});

test.each([
  ['a shared buffer', undefined],
  ['its own stream', () => null],
])('what comes once it is given up is the stream of the socket: %s', async (_what, move) => {
  let given: Socket | null = null;
  const server = createServer({ pauseOnConnect: true }, (accepted) => {
    given = readShared(accepted, () => false, move);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await until('it is accepted', () => given !== null);
  const socket = given! as Socket;
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const size = 1_000_000;
  caller.end(Buffer.alloc(size, 'x'));
  await once(socket, 'end');
  expect(Buffer.concat(chunks).equals(Buffer.alloc(size, 'x'))).toBe(true);
  socket.end();
  await new Promise((closed) => server.close(closed));
});

test('a socket that Node.js cannot move reads by itself', async () => {
  const [near, far] = duplexPair();
  const texts: string[] = [];
  const receive = (_socket: Socket, bytes: Buffer) => {
    texts.push(bytes.toString());
    return true;
  };
  expect(readShared(near as Socket, receive)).toBe(near);
  far.write('bytes');
  await until('they have come', () => texts.length === 1);
  expect(texts).toEqual(['bytes']);
});
