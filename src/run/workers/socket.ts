import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { acceptAll, type ListeningHandle, socketOf } from '@storegate/http1';

/** Where Node reports each server that has begun to listen, also the one of node:cluster that no other name leads to. */
const LISTENING = 'tracing:net.server.listen:asyncEnd';

/** The socket of the primary process from which node:cluster hands connections to workers. */
export class SharedSocket {
  /** By port. The admin listener is among them. */
  readonly #sockets = new Map<number, ListeningHandle | null>();
  #closed: Promise<void> | null = null;
  readonly #note = (message: unknown) => {
    const { server } = message as { readonly server: Server };
    const { port } = server.address() as { readonly port: number };
    this.#sockets.set(port, socketOf(server));
  };

  /** Must begin before the workers listen. */
  constructor() {
    subscribe(LISTENING, this.#note);
  }

  /** Closes it without a reset of a connection. Connections that it has accepted still reach workers. */
  close(port: number): Promise<void> {
    this.#closed ??= this.#close(port);
    return this.#closed;
  }

  async #close(port: number): Promise<void> {
    unsubscribe(LISTENING, this.#note);
    const socket = this.#sockets.get(port);
    if (!socket) return;
    await acceptAll(socket);
    socket.close();
  }
}
