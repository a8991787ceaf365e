import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Writes text to a connected TCP socket past the queue of its stream, which only costs time while
 * the system takes all bytes at once.
 */
export class DirectWrites {
  readonly #socket: Socket;
  readonly #drained: () => void;
  readonly #written: (error?: Error | null) => void;
  #pending = 0;
  #isFull = false;

  /**
   * `drained` is called when all pending text is written. After an error it is not called: the
   * socket is destroyed.
   */
  constructor(socket: Socket, drained: () => void) {
    this.#socket = socket;
    this.#drained = drained;
    this.#written = (error) => this.#end(error);
  }

  get isPending(): boolean {
    return this.#pending > 0;
  }

  /** One character per byte. Returns false if the system has not taken all bytes. */
  write(text: string): boolean {
    const socket = this.#socket;
    // Earlier bytes are in the stream, whose own `drain` event then follows. Writes that reach the
    // system stay in order.
    if (socket.writableLength > 0) return socket.write(text, 'latin1');
    this.#pending++;
    socket._write(text, 'latin1', this.#written);
    if (this.#pending === 0) return true;
    this.#isFull = true;
    return false;
  }

  #end(error: Error | null | undefined): void {
    this.#pending--;
    if (error) this.#socket.destroy(error);
    else if (this.#pending === 0 && this.#isFull) {
      this.#isFull = false;
      this.#drained();
    }
  }
}

/** `null` for TLS and for streams that are not sockets: they take one write after the other. */
export function directWrites(
  socket: Duplex,
  drained: () => void,
): DirectWrites | null {
  return socket instanceof Socket && !('encrypted' in socket)
    ? new DirectWrites(socket, drained)
    : null;
}
