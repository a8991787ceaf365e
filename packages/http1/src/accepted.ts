import { Socket } from 'node:net';

/** One buffer for the reads of all accepted sockets: a part that is kept longer than its read is copied. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** A socket with the handle of the system's socket, as Node itself passes them on between sockets. */
interface WithHandle {
  _handle: object | null;
}

/**
 * Takes over a socket that was accepted and not read yet (`pauseOnConnect`), with one that reads into a shared buffer: a
 * listener of Node's cannot be told to make such sockets, and a buffer for each read costs a tenth of a request. `receive` gets
 * bytes that are valid only during its call; it returns false to get them as the stream's own from then on, as behind a change
 * of the protocol. Where there is no handle, the accepted socket itself reads, as usual.
 */
export function readShared(accepted: Socket, receive: (socket: Socket, bytes: Buffer) => boolean): Socket {
  const { _handle: handle } = accepted as unknown as WithHandle;
  if (!handle) return accepted.on('data', (bytes) => void receive(accepted, bytes)).resume();
  const onread = {
    buffer: READ_BUFFER,
    callback(size: number, buffer: Uint8Array): boolean {
      const bytes = (buffer as Buffer).subarray(0, size);
      return receive(socket, bytes) || socket.push(Buffer.from(bytes));
    },
  };
  (accepted as unknown as WithHandle)._handle = null;
  const socket: Socket = new Socket({ handle, allowHalfOpen: true, onread } as object);
  // The listener counts the accepted one until it is closed.
  socket.once('close', () => accepted.destroy());
  return socket.resume();
}
