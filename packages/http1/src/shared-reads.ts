import type { Socket } from 'node:net';
import { withOnRead } from './internals.ts';

/** Shared by all accepted sockets; a part that outlives its read is copied. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Moves an accepted, unread socket (`pauseOnConnect`) to a shared read buffer if Node.js can.
 * `receive` gets bytes that are valid only during its call; if it returns false, the stream emits
 * its own bytes from then on.
 */
export function readShared(
  accepted: Socket,
  receive: (socket: Socket, bytes: Buffer) => boolean,
  move: typeof withOnRead = withOnRead,
): Socket {
  const socket = move(accepted, {
    buffer: READ_BUFFER,
    callback(size, buffer): boolean {
      const bytes = (buffer as Buffer).subarray(0, size);
      return receive(socket!, bytes) || socket!.push(Buffer.from(bytes));
    },
  });
  if (socket === null)
    return accepted
      .on('data', (bytes) => void receive(accepted, bytes))
      .resume();
  // The listener counts the accepted socket until it is closed.
  socket.once('close', () => accepted.destroy());
  return socket.resume();
}
