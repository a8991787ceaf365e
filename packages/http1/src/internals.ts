import { type AddressInfo, type Server, Socket } from 'node:net';

/**
 * All that the project uses of Node.js beyond its documentation: the handle of a socket. It saves
 * more than 3 % of a request, or a connection that Linux would reset. If a version of Node.js lacks
 * a part, or with STOREGATE_PORTABLE=1, the callers use documented interfaces.
 * docs/decisions/http1.md has the figures.
 */
interface WithHandle {
  _handle: Partial<Handle> | null;
}

interface Handle {
  readStart(): number;
  useUserBuffer(buffer: Uint8Array): void;
  getpeername(into: object): number;
  listen(backlog: number): number;
  close(): void;
}

interface ReadOptions {
  readonly buffer: Buffer;
  callback(size: number, buffer: Uint8Array): boolean;
}

const isPortable = process.env.STOREGATE_PORTABLE === '1';

function handleOf(owner: Socket | Server): Partial<Handle> | null {
  return isPortable ? null : (owner as object as WithHandle)._handle;
}

/**
 * Node has `onread` for sockets that it connects, not for those that it accepts. Moves an accepted,
 * unread socket to a new one with `onread`, which the listener does not know. `null`: not possible.
 */
export function withOnRead(
  accepted: Socket,
  onread: ReadOptions,
): Socket | null {
  const handle = handleOf(accepted);
  if (!handle?.readStart || !handle.useUserBuffer) return null;
  (accepted as object as WithHandle)._handle = null;
  return new Socket({ handle, allowHalfOpen: true, onread } as object);
}

export interface ListeningSocket extends Pick<Handle, 'listen' | 'close'> {
  readonly address: AddressInfo;
}

/**
 * Node has no way to change the backlog of a listening socket. `null` on systems other than Linux
 * too.
 */
export function socketOf(listener: Server): ListeningSocket | null {
  const handle = handleOf(listener);
  if (process.platform !== 'linux' || !handle?.listen || !handle.close)
    return null;
  return {
    address: listener.address() as AddressInfo,
    listen: handle.listen.bind(handle),
    close: handle.close.bind(handle),
  };
}

/** `remoteAddress` shows it a turn of the event loop later. */
export function isEstablished(socket: Socket): boolean {
  return handleOf(socket)?.getpeername?.({}) === 0;
}
