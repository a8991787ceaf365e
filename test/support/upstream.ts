import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { freePort } from './free-port.ts';

export interface FakeBackend {
  readonly url: string;
  /** Oldest first. */
  readonly seen: readonly IncomingMessage[];
  close(): Promise<void>;
}

export function fakeBackend(listener: RequestListener): Promise<FakeBackend> {
  return backendOf(listener, () => {});
}

/** RFC 6455. */
const WEBSOCKET = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Returns the bytes of each upgraded connection. */
export function upgradingBackend(listener: RequestListener): Promise<FakeBackend> {
  return backendOf(listener, (server) => {
    server.on('upgrade', ({ headers }, socket) => {
      socket.on('error', () => socket.destroy());
      // HAProxy checks it.
      const accept = createHash('sha1')
        .update(`${headers['sec-websocket-key']}${WEBSOCKET}`)
        .digest('base64');
      const lines = [
        'Connection: Upgrade',
        'Upgrade: websocket',
        `Sec-WebSocket-Accept: ${accept}`,
      ];
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      socket.pipe(socket);
    });
  });
}

async function backendOf(
  listener: RequestListener,
  prepare: (server: Server) => void,
): Promise<FakeBackend> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    listener(request, response);
  });
  prepare(server);
  return {
    url: await listening(server),
    seen,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Returns its URL, where no other server listens once it is closed. */
async function listening(server: Server): Promise<string> {
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${port}`;
}
