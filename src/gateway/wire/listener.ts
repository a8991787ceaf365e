import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { listen as bind } from '../../common/listen.ts';
import type { Config } from '../../config/config.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { betweenRequests } from './idle.ts';

/** The public listener: Node's server with the door's limits, feeding the pipeline. */
export interface Listener {
  /** Resolves with the bound port; called again, it keeps the port. Rejects with ListenError when it cannot bind. */
  listen(options?: ListenOptions): Promise<number>;
  /**
   * Ends without losing a request: for `door.drainDelay` it answers everything and says that the connection ends, then it
   * stops accepting, lets connections end when they have nothing under way, and cuts off the rest after
   * `door.drainTimeout`. Resolves with the number of requests cut off.
   */
  drain(options?: DrainOptions): Promise<number>;
  readonly inFlight: number;
}

export interface ListenOptions {
  /** By itself, in a worker too, and beside other processes that do the same: the system spreads connections over them. */
  readonly beside?: boolean;
}

export interface DrainOptions {
  /** False: others accept at the same address, so this one stops at once and not after the delay. */
  readonly accepting?: boolean;
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
  readonly limits: ConnectionLimits;
  readonly answerUnparsed: ConnectionOptions['answerUnparsed'];
}

/** Milliseconds between two looks for connections that may end. */
const SWEEP = 25;
/** Turns of the event loop in which connections that wait to be accepted may be taken; far more than the system keeps. */
const MOST_TURNS = 2_000;

export function createListener({
  config: { listen, door },
  takesWebSockets,
  pipeline,
  limits,
  answerUnparsed,
}: ListenerOptions): Listener {
  const connections = new Map<Socket, Connection>();
  let { port } = listen;
  let isBeside = false;
  let accepted = 0;
  let inFlight = 0;
  let leaving = false;
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

  server.on('connection', (socket) => {
    accepted++;
    if (!limits.take(socket)) return;
    const connection = new Connection({ socket, begin, ended, answerUnparsed });
    if (leaving) connection.leave();
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', take);
  server.on('checkContinue', take);
  server.on('checkExpectation', take);
  server.on('upgrade', upgrade);
  server.on('connect', upgrade);
  server.on('clientError', (error, socket) => connections.get(socket as Socket)?.fail(error));

  function take({ socket }: IncomingMessage, response: ServerResponse): void {
    connections.get(socket)?.take(response);
  }

  function begin(response: ServerResponse): void {
    inFlight++;
    pipeline.handle(response.req, response);
  }

  function ended(): void {
    inFlight--;
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (connections.get(socket as Socket)?.mayUpgrade()) void pipeline.upgrade(request, socket, head);
  }

  function endStalled(): void {
    for (const connection of connections.values()) connection.endIfStalled();
  }

  return {
    get inFlight() {
      return inFlight;
    },
    async listen({ beside = false } = {}) {
      if (server.listening && isBeside && beside) return port;
      if (server.listening) void stopAccepting();
      isBeside = beside;
      port = await bind(server, { host: listen.host, port, reusePort: beside });
      stalls ??= setInterval(endStalled, door.stallTimeout).unref();
      return port;
    },
    async drain({ accepting = true } = {}) {
      leaving = true;
      for (const connection of connections.values()) connection.leave();
      if (accepting) await pause(door.drainDelay);
      await acceptAll();
      const closed = stopAccepting();
      if (!accepting) await pause(door.drainDelay);
      const cutOff = await endConnections(closed);
      clearInterval(stalls);
      // Node's own timers too.
      server.close();
      return cutOff;
    },
  };

  /** Accepts what waits in the system's queue, one connection a turn: closing the listening socket would reset them. */
  async function acceptAll(): Promise<void> {
    let before = -1;
    for (let turns = 0; accepted !== before && turns < MOST_TURNS; turns++) {
      before = accepted;
      // The rest of this turn, and a whole one.
      await nextTurn();
      await nextTurn();
    }
  }

  /** Resolves when all connections have ended. Not http's own `close`, which would destroy those between two requests. */
  function stopAccepting(): Promise<void> {
    return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  }

  async function endConnections(closed: Promise<void>): Promise<number> {
    let cutOff = 0;
    // A timer may come before the reads of its turn: an immediate comes behind them.
    const sweeps = setInterval(() => setImmediate(endQuiet), SWEEP);
    endQuiet();
    const deadline = setTimeout(() => {
      cutOff = inFlight;
      // Not closeAllConnections(), which leaves connections that changed their protocol open.
      for (const socket of connections.keys()) socket.destroy();
    }, door.drainTimeout);
    await closed;
    clearInterval(sweeps);
    clearTimeout(deadline);
    return cutOff;
  }

  function endQuiet(): void {
    const idle = betweenRequests(server, connections.keys());
    const now = performance.now();
    for (const [socket, connection] of connections) connection.endIfQuiet(idle.has(socket), now);
  }
}

function isWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}
