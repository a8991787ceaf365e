import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { acceptAll, type ListeningSocket, socketOf } from '@storegate/http1';

/** Node's channel for every listening server, including the unnamed one of node:cluster. */
const LISTENING = 'tracing:net.server.listen:asyncEnd';

/** node:cluster hands its connections to workers. Create before the workers listen. */
export function createSharedSocket() {
  /** Includes the admin listener. */
  const sockets = new Map<number, ListeningSocket>();
  let closed: Promise<void> | null = null;
  const note = (message: unknown) => {
    const { server } = message as { readonly server: Server };
    const socket = socketOf(server);
    if (socket !== null) sockets.set(socket.address.port, socket);
  };
  subscribe(LISTENING, note);

  return {
    /** Accepted connections still reach workers. */
    close(port: number, isInherited: boolean): Promise<void> {
      closed ??= end(port, isInherited);
      return closed;
    },
  };

  async function end(port: number, isInherited: boolean): Promise<void> {
    unsubscribe(LISTENING, note);
    const socket = sockets.get(port);
    if (!socket) return;
    if (!isInherited) await acceptAll(socket);
    socket.close();
  }
}
