import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { listen as bind } from '../../common/listen.ts';
import type { Config } from '../../config/config.ts';
import { Connection, type ConnectionOptions } from './connection.ts';

/** The public listener: Node's server with the door's limits, feeding the pipeline. */
export interface Listener {
  /** Resolves with the bound port. Rejects with ListenError when it cannot bind. */
  listen(): Promise<number>;
  /** Stops taking requests, lets those in flight finish, cuts off the rest; resolves with the number cut off. */
  drain(): Promise<number>;
  readonly inFlight: number;
}

/** Answers requests. Neither method throws or rejects. */
export interface Handler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** A request to switch protocols; `head` holds the bytes read after it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

export interface ListenerOptions {
  readonly config: Pick<Config, 'listen' | 'door'>;
  /** Whether any mount takes WebSockets at this moment. */
  readonly takesWebSockets: () => boolean;
  readonly pipeline: Handler;
  readonly answerUnparsed: ConnectionOptions['answerUnparsed'];
}

export function createListener({
  config: { listen, door },
  takesWebSockets,
  pipeline,
  answerUnparsed,
}: ListenerOptions): Listener {
  const connections = new Map<Duplex, Connection>();
  let inFlight = 0;
  let draining = false;
  let stalls: NodeJS.Timeout | undefined;

  const server = createServer({
    maxHeaderSize: door.maxHeaderBytes,
    headersTimeout: door.headersTimeout,
    requestTimeout: door.requestTimeout,
    keepAliveTimeout: door.keepAliveTimeout,
    connectionsCheckingInterval: 1_000,
    // The door refuses a bad Host itself, with the Error object.
    requireHostHeader: false,
    shouldUpgradeCallback: (request) => isWebSocket(request) && takesWebSockets(),
  });
  // Node would silently drop headers beyond its limit; the door counts them and refuses.
  server.maxHeadersCount = 0;
  server.maxConnections = door.maxConnections;

  server.on('connection', (socket) => {
    connections.set(socket, new Connection({ socket, begin, ended, answerUnparsed }));
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', take);
  server.on('checkContinue', take);
  server.on('checkExpectation', take);
  server.on('upgrade', upgrade);
  server.on('connect', upgrade);
  server.on('clientError', (error, socket) => connections.get(socket)?.fail(error));

  function take({ socket }: IncomingMessage, response: ServerResponse): void {
    connections.get(socket)?.take(response);
  }

  function begin(response: ServerResponse): void {
    inFlight++;
    if (draining) response.shouldKeepAlive = false;
    pipeline.handle(response.req, response);
  }

  function ended(): void {
    inFlight--;
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (connections.get(socket)?.mayUpgrade()) void pipeline.upgrade(request, socket, head);
  }

  function endStalled(): void {
    for (const connection of connections.values()) connection.endIfStalled();
  }

  return {
    get inFlight() {
      return inFlight;
    },
    async listen() {
      const port = await bind(server, listen);
      stalls = setInterval(endStalled, door.stallTimeout).unref();
      return port;
    },
    async drain() {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      let cutOff = 0;
      const deadline = setTimeout(() => {
        cutOff = inFlight;
        // Not closeAllConnections(), which leaves connections that changed their protocol open.
        for (const socket of connections.keys()) socket.destroy();
      }, door.drainTimeout);
      await closed;
      clearTimeout(deadline);
      clearInterval(stalls);
      return cutOff;
    },
  };
}

function isWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}
