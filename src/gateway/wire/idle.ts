import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The sockets that are between two requests, or have had none. Node's parser knows of a head that has only begun, and tells
 * it in one way alone: by which sockets it destroys when asked to close those that are idle.
 */
export function betweenRequests(server: Server, sockets: Iterable<Socket>): ReadonlySet<Socket> {
  const all = [...sockets];
  // Node counts a socket that never sent a byte among the busy ones.
  const idle = new Set(all.filter(({ bytesRead }) => bytesRead === 0));
  for (const socket of all) {
    socket.destroy = () => {
      idle.add(socket);
      return socket;
    };
  }
  server.closeIdleConnections();
  for (const socket of all) Reflect.deleteProperty(socket, 'destroy');
  return idle;
}
