import { createServer, type Server as NetServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { readShared } from './accepted.ts';
import { Opening, type Openings, type Origin } from './opening.ts';
import type { ServerCall } from './server-call.ts';
import { type BrokenReply, ServerConnection, type ServerLimits, type ServerShared } from './server-connection.ts';
import type { HandshakeFailure, TlsServer } from './tls-server.ts';
import { Turns } from './turns.ts';
import { malformed, type WireError } from './wire-error.ts';
import { Closing } from './writing.ts';

export interface ServerOptions extends ServerLimits {
  /** Whether a connection that was accepted is served. Otherwise it is closed already. */
  readonly takes: (socket: Socket) => boolean;
  /** Milliseconds in which a caller has to read something of an answer that waits for it. */
  readonly stallTimeout: number;
  /** As `takes`, for a connection that was taken and that comes from another address, as a balancer says. */
  readonly takesFrom?: Openings['takesFrom'];
  /** What is told of connections that came to nothing before their first request, or have done a handshake. */
  readonly openings?: Pick<Openings, 'unannounced' | 'unsecured'> & { readonly secured: (socket: TLSSocket) => void };
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

/** What comes before HTTP on connections that are accepted from now on. */
export interface Entrance {
  /** Its owner stops it. */
  readonly tls: TlsServer | null;
  /** Whether a balancer at that address begins with a header of the PROXY protocol; `null`: none does. */
  readonly announces: ((address: string | undefined) => boolean) | null;
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
  readonly #options: ServerOptions;
  readonly #openings = new Map<Socket, Opening>();
  /** Ended before their handshake was done. */
  readonly #late = new WeakSet<Socket>();
  /** What becomes of a connection that was accepted and is served. */
  #enter: (accepted: Socket) => void = (accepted) => this.#take(readShared(accepted, onRead));
  #leaving = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    const shortest = Math.min(options.headTimeout, options.requestTimeout, options.idleTimeout);
    this.#lookEvery = Math.max(SHORTEST_LOOK, Math.min(LONGEST_LOOK, shortest / 8));
    this.#shared = {
      limits: options,
      closing: new Closing(options.idleTimeout),
      turns: new Turns(),
      now: performance.now() + this.#lookEvery,
      inFlight: 0,
      handle: options.handle,
      refuse: options.refuse,
      closed: (connection) => this.connections.delete(connection),
    };
    const settings = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true };
    this.listener = createServer(settings, (accepted) => {
      if (options.takes(accepted)) this.#enter(accepted);
    });
    this.#timers = [
      setInterval(() => {
        const now = performance.now();
        this.#shared.now = now + this.#lookEvery;
        // This process may have stood still: first it reads what callers have sent meanwhile.
        setImmediate(() => this.#look(now));
      }, this.#lookEvery).unref(),
      setInterval(() => this.#lookForStalled(), options.stallTimeout).unref(),
    ];
  }

  /** Requests that have begun and are not over. */
  get inFlight(): number {
    return this.#shared.inFlight;
  }

  /** Puts another entrance in force for connections that are accepted from now on. */
  use({ tls, announces }: Entrance): void {
    if (tls === null && announces === null) {
      this.#enter = (accepted) => this.#take(readShared(accepted, onRead));
      return;
    }
    const { takesFrom = () => true, openings } = this.#options;
    const parts: Openings = {
      tls,
      takesFrom,
      plain: (accepted, origin, early) => this.#takeBegun(accepted, origin, early),
      secured: (secured, origin) => {
        openings?.secured(secured);
        this.#take(secured.on('data', onData), origin);
      },
      misplaced: (accepted, origin) => {
        openings?.unsecured(accepted, 'plain');
        this.#takeBegun(accepted, origin, null).refuse(malformed('This port speaks TLS: the URL begins with https.'));
      },
      unannounced: (accepted, why) => openings?.unannounced(accepted, why),
      unsecured: (accepted, why) => {
        this.#late.add(accepted);
        openings?.unsecured(accepted, why);
      },
      closed: (accepted) => this.#openings.delete(accepted),
    };
    this.#enter = (accepted) => {
      const wantsHeader = announces?.(accepted.remoteAddress) ?? false;
      if (!wantsHeader && tls === null) this.#take(readShared(accepted, onRead));
      else {
        const deadline = this.#shared.now + this.#options.headTimeout;
        this.#openings.set(accepted, new Opening(accepted, { wantsHeader, deadline }, parts));
      }
    };
  }

  /** A handshake that began on `accepted` is done. */
  handshaken(accepted: Socket, secured: TLSSocket): void {
    const opening = this.#openings.get(accepted);
    if (opening === undefined) secured.destroy();
    else opening.secured(secured);
  }

  /** A handshake that began on `accepted` has failed; also one that was ended here, of which all is told. */
  unshaken(accepted: Socket, why: HandshakeFailure): void {
    if (!this.#late.has(accepted)) this.#options.openings?.unsecured(accepted, why);
  }

  #take(socket: Socket, origin?: Origin): ServerConnection {
    const connection = new ServerConnection(socket, this.#shared, origin);
    if (this.#leaving) connection.leave();
    this.connections.add(connection);
    (socket as Held)[CONNECTION] = connection;
    socket.on('end', onEnd).on('drain', onDrain).on('error', onError).on('close', onClose);
    return connection;
  }

  /** A connection of which something was read already. */
  #takeBegun(accepted: Socket, origin: Origin, early: Buffer | null): ServerConnection {
    const socket = readShared(accepted, onRead);
    const connection = this.#take(socket, origin);
    if (early !== null && early.length > 0) connection.receive(early);
    return connection;
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
    for (const opening of this.#openings.values()) opening.endIfQuiet(now);
  }

  destroyConnections(): void {
    for (const connection of this.connections) connection.destroy();
    for (const opening of this.#openings.values()) opening.destroy();
  }

  /** Stops the timers. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #look(now: number): void {
    for (const connection of this.connections) connection.endIfLate(now);
    for (const opening of this.#openings.values()) opening.endIfLate(now);
  }

  #lookForStalled(): void {
    for (const connection of this.connections) connection.endIfStalled();
  }
}

function onRead(socket: Socket, bytes: Buffer): boolean {
  return (socket as Held)[CONNECTION].receive(bytes);
}

function onData(this: Socket, bytes: Buffer): void {
  (this as Held)[CONNECTION].receive(bytes);
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
