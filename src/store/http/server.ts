import { createServer as createHttpServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { StoreError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { StoreLog } from '../log.ts';
import { exchange } from './exchange.ts';
import { createRouter } from './router.ts';
import type { Route } from './routes.ts';

/** Milliseconds. Idle connections outlive those of the gateway's pool, so that it never writes to a closing one. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 };

/** The time that callers have to finish once the store is closing, in milliseconds. */
const drainTimeout = 10_000;

export interface StoreServer {
  /** @throws Error with one sentence if the address is not available. */
  listen(host: string, port: number): Promise<{ port: number; url: string }>;
  /** Takes no new connections, waits for every request in flight, and cuts off callers that take too long. */
  drain(): Promise<void>;
}

export function createServer(routes: readonly Route[], log: StoreLog): StoreServer {
  const route = createRouter(routes);
  const inFlight = new Set<Promise<void>>();
  const isClosing = () => !server.listening;
  const server = createHttpServer(timeouts, (request, response) => {
    const exchanged = exchange(request, response, { route, log, isClosing });
    inFlight.add(exchanged);
    void exchanged.finally(() => inFlight.delete(exchanged));
    request.once('close', () => {
      // The store answered before the body had arrived and before it was closing, so nothing else ends this connection.
      if (isClosing() && response.writableFinished) request.socket.destroySoon();
    });
  });
  server.on('clientError', refuseMalformed);

  return {
    listen: (host, port) => listen(server, host, port),
    async drain() {
      await stop(server);
      await Promise.all(inFlight);
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<{ port: number; url: string }> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) =>
      reject(new Error(`The store cannot listen on ${host}:${port}: ${cause.message}.`, { cause }));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const { port, address, family } = server.address() as AddressInfo;
      resolve({ port, url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}` });
    });
  });
}

function stop(server: Server): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const cutOff = setTimeout(() => server.closeAllConnections(), drainTimeout);
    server.close(() => {
      clearTimeout(cutOff);
      resolve();
    });
  });
}

/** Bytes that are not HTTP, or an incomplete head, never become a request; they get an Error object all the same. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const { status, body } =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new StoreError('request_timeout', 'The request did not arrive in time.')
      : new StoreError('malformed_request', 'This is not an HTTP request the store can read.');
  const json = toJson(body);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
}
