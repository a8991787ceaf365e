import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { acceptAll, type ListeningSocket, socketOf } from '@storegate/http1';

/** Node's channel for every listening server, including the unnamed one of node:cluster. */
const LISTENING = 'tracing:net.server.listen:asyncEnd';

/** node:cluster hands its connections to workers. */
export class SharedSocket {
  /** Includes the admin listener. */
  readonly #sockets = new Map<number, ListeningSocket>();
  #closed: Promise<void> | null = null;
  readonly #note = (message: unknown) => {
    const { server } = message as { readonly server: Server };
    const socket = socketOf(server);
    if (socket !== null) this.#sockets.set(socket.address.port, socket);
  };

  /** Create before the workers listen. */
  constructor() {
    subscribe(LISTENING, this.#note);
  }

  /** Accepted connections still reach workers. */
  close(port: number, isInherited: boolean): Promise<void> {
    this.#closed ??= this.#close(port, isInherited);
    return this.#closed;
  }

  async #close(port: number, isInherited: boolean): Promise<void> {
    unsubscribe(LISTENING, this.#note);
    const socket = this.#sockets.get(port);
    if (!socket) return;
    if (!isInherited) await acceptAll(socket);
    socket.close();
  }
}
