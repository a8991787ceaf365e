import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { readShared } from './accepted.ts';
import type { ServerCall } from './server-call.ts';
import { type BrokenReply, ServerConnection, type ServerLimits, type ServerShared } from './server-connection.ts';
import type { WireError } from './wire-error.ts';
import { Closing } from './writing.ts';

export interface ServerOptions extends ServerLimits {
  /** Whether a connection that was accepted is served. Otherwise it is closed already. */
  readonly takes: (socket: Socket) => boolean;
  /** Milliseconds in which a caller has to read something of an answer that waits for it. */
  readonly stallTimeout: number;
  /** Takes each request in its turn. Never throws. */
  readonly handle: (call: ServerCall) => void;
  /** Answers input that is no request. */
  readonly refuse: (error: WireError, reply: BrokenReply) => void;
}

const CONNECTION = Symbol('connection');

/** A socket knows its connection: four listeners serve all sockets, and none is made for each. */
interface Held extends Socket {
  [CONNECTION]: ServerConnection;
}

/** Milliseconds between two looks at the deadlines of all connections. */
const SHORTEST_LOOK = 25;
const LONGEST_LOOK = 1_000;

/** Speaks HTTP/1.1 with callers. It has one timer for all connections. */
export class Server {
  /** Listens, and is closed, by its owner. */
  readonly listener: NetServer;
  readonly connections = new Set<ServerConnection>();
  readonly #shared: ServerShared;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #lookEvery: number;
  #accepted = 0;
  #leaving = false;

  constructor(options: ServerOptions) {
    const shortest = Math.min(options.headTimeout, options.requestTimeout, options.idleTimeout);
    this.#lookEvery = Math.max(SHORTEST_LOOK, Math.min(LONGEST_LOOK, shortest / 8));
    this.#shared = {
      limits: options,
      closing: new Closing(options.idleTimeout),
      now: performance.now() + this.#lookEvery,
      inFlight: 0,
      handle: options.handle,
      refuse: options.refuse,
      closed: (connection) => this.connections.delete(connection),
    };
    const settings = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true };
    this.listener = createServer(settings, (accepted) => {
      this.#accepted++;
      if (options.takes(accepted)) this.#take(readShared(accepted, onRead));
    });
    this.#timers = [
      setInterval(() => this.#look(), this.#lookEvery).unref(),
      setInterval(() => this.#lookForStalled(), options.stallTimeout).unref(),
    ];
  }

  /** Connections taken since the beginning. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Requests that have begun and are not over. */
  get inFlight(): number {
    return this.#shared.inFlight;
  }

  #take(socket: Socket): void {
    const connection = new ServerConnection(socket, this.#shared);
    if (this.#leaving) connection.leave();
    this.connections.add(connection);
    (socket as Held)[CONNECTION] = connection;
    socket.on('end', onEnd).on('drain', onDrain).on('error', onError).on('close', onClose);
  }

  /** From now on the last answer on each connection ends it, and says so. */
  leave(): void {
    this.#leaving = true;
    for (const connection of this.connections) connection.leave();
  }

  /** Ends connections that have been between two requests for a while. */
  endQuiet(): void {
    const now = performance.now();
    for (const connection of this.connections) connection.endIfQuiet(now);
  }

  destroyConnections(): void {
    for (const connection of this.connections) connection.destroy();
  }

  /** Stops the timers. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #look(): void {
    const now = performance.now();
    this.#shared.now = now + this.#lookEvery;
    for (const connection of this.connections) connection.endIfLate(now);
  }

  #lookForStalled(): void {
    for (const connection of this.connections) connection.endIfStalled();
  }
}

function onRead(socket: Socket, bytes: Buffer): boolean {
  return (socket as Held)[CONNECTION].receive(bytes);
}

function onEnd(this: Socket): void {
  (this as Held)[CONNECTION].finish();
}

function onDrain(this: Socket): void {
  (this as Held)[CONNECTION].drained();
}

/** `close` follows, and says all there is to know. */
function onError(): void {}

function onClose(this: Socket): void {
  (this as Held)[CONNECTION].close();
}
