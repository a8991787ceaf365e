import { Socket } from 'node:net';

/** Shared by all accepted sockets; a part that outlives its read is copied. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

interface WithHandle {
  _handle: object | null;
}

/**
 * Moves an accepted, unread socket (`pauseOnConnect`) to a shared read buffer. `receive` gets bytes
 * that are valid only during its call; if it returns false, the stream emits its own bytes from
 * then on.
 */
export function readShared(
  accepted: Socket,
  receive: (socket: Socket, bytes: Buffer) => boolean,
): Socket {
  const { _handle: handle } = accepted as unknown as WithHandle;
  if (!handle)
    return accepted
      .on('data', (bytes) => void receive(accepted, bytes))
      .resume();
  const onread = {
    buffer: READ_BUFFER,
    callback(size: number, buffer: Uint8Array): boolean {
      const bytes = (buffer as Buffer).subarray(0, size);
      return receive(socket, bytes) || socket.push(Buffer.from(bytes));
    },
  };
  (accepted as unknown as WithHandle)._handle = null;
  const socket: Socket = new Socket({
    handle,
    allowHalfOpen: true,
    onread,
  } as object);
  // The listener counts the accepted socket until it is closed.
  socket.once('close', () => accepted.destroy());
  return socket.resume();
}
