import { createServer, type Server as NetServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Closing } from './field-lines.ts';
import { type Origin, Preamble, type PreambleEvents } from './preamble.ts';
import type { ServerCall } from './server-call.ts';
import { type BrokenReply, ServerConnection, type ServerLimits, type ServerShared } from './server-connection.ts';
import { readShared } from './shared-reads.ts';
import type { HandshakeFailure, TlsServer } from './tls-server.ts';
import { TurnQueue } from './turn-queue.ts';
import { malformed, type WireError } from './wire-error.ts';

export interface ServerOptions extends ServerLimits {
  /** If not, the connection is already closed. */
  readonly takes: (socket: Socket) => boolean;
  /** Milliseconds in which a client must read part of a pending response. */
  readonly stallTimeout: number;
  readonly takesFrom?: PreambleEvents['takesFrom'];
  readonly openings?: Pick<PreambleEvents, 'unannounced' | 'unsecured'> & {
    readonly secured: (socket: TLSSocket) => void;
  };
  /** Never throws. */
  readonly handle: (call: ServerCall) => void;
  readonly refuse: (error: WireError, reply: BrokenReply) => void;
}

const CONNECTION = Symbol('connection');

interface Held extends Socket {
  [CONNECTION]: ServerConnection;
}

export interface PreambleOptions {
  /** Closed by its owner. */
  readonly tls: TlsServer | null;
  /** `null` if no balancer sends a PROXY protocol header. */
  readonly announces: ((address: string | undefined) => boolean) | null;
}

/** Milliseconds. */
const SHORTEST_LOOK = 25;
const LONGEST_LOOK = 1_000;

export class Server {
  readonly listener: NetServer;
  readonly connections = new Set<ServerConnection>();
  readonly #shared: ServerShared;
  /** Runs while there are connections. */
  #timer: NodeJS.Timeout | undefined;
  readonly #stalledTimer: NodeJS.Timeout;
  readonly #lookEvery: number;
  readonly #options: ServerOptions;
  readonly #openings = new Map<Socket, Preamble>();
  readonly #late = new WeakSet<Socket>();
  #enter: (accepted: Socket) => void = (accepted) => this.#take(readShared(accepted, onRead));
  #leaving = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    const shortest = Math.min(options.headTimeout, options.requestTimeout, options.idleTimeout);
    this.#lookEvery = Math.max(SHORTEST_LOOK, Math.min(LONGEST_LOOK, shortest / 8));
    this.#shared = {
      limits: options,
      closing: new Closing(options.idleTimeout),
      turns: new TurnQueue(),
      now: 0,
      inFlight: 0,
      handle: options.handle,
      refuse: options.refuse,
      closed: (connection) => this.connections.delete(connection),
    };
    const settings = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true };
    this.listener = createServer(settings, (accepted) => {
      if (!options.takes(accepted)) return;
      if (this.#timer === undefined) this.#startTimer();
      this.#enter(accepted);
    });
    this.#stalledTimer = setInterval(() => this.#lookForStalled(), options.stallTimeout).unref();
  }

  get inFlight(): number {
    return this.#shared.inFlight;
  }

  use({ tls, announces }: PreambleOptions): void {
    if (tls === null && announces === null) {
      this.#enter = (accepted) => this.#take(readShared(accepted, onRead));
      return;
    }
    const { takesFrom = () => true, openings } = this.#options;
    const parts: PreambleEvents = {
      tls,
      takesFrom,
      plain: (accepted, origin, early) => this.#takeBegun(accepted, origin, early),
      secured: (secured, origin) => {
        openings?.secured(secured);
        this.#take(secured.on('data', onData), origin);
      },
      misplaced: (accepted, origin) => {
        openings?.unsecured(accepted, 'plaintext');
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
        this.#openings.set(accepted, new Preamble(accepted, { wantsHeader, deadline }, parts));
      }
    };
  }

  handshaken(accepted: Socket, secured: TLSSocket): void {
    const opening = this.#openings.get(accepted);
    if (opening === undefined) secured.destroy();
    else opening.secured(secured);
  }

  /** This server has already reported handshakes that it closed. */
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

  #takeBegun(accepted: Socket, origin: Origin, early: Buffer | null): ServerConnection {
    const socket = readShared(accepted, onRead);
    const connection = this.#take(socket, origin);
    if (early !== null && early.length > 0) connection.receive(early);
    return connection;
  }

  leave(): void {
    this.#leaving = true;
    for (const connection of this.connections) connection.leave();
  }

  endQuiet(): void {
    const now = performance.now();
    for (const connection of this.connections) connection.endIfQuiet(now);
    for (const opening of this.#openings.values()) opening.endIfQuiet(now);
  }

  destroyConnections(): void {
    for (const connection of this.connections) connection.destroy();
    for (const opening of this.#openings.values()) opening.destroy();
  }

  stop(): void {
    clearInterval(this.#timer);
    clearInterval(this.#stalledTimer);
  }

  #startTimer(): void {
    this.#shared.now = performance.now() + this.#lookEvery;
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#shared.now = now + this.#lookEvery;
      // The process may have been blocked: first reads what clients have sent meanwhile.
      setImmediate(() => this.#look(now));
    }, this.#lookEvery).unref();
  }

  #look(now: number): void {
    for (const connection of this.connections) connection.endIfLate(now);
    for (const opening of this.#openings.values()) opening.endIfLate(now);
    if (this.connections.size + this.#openings.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
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

/** `close` follows with all details. */
function onError(): void {}

function onClose(this: Socket): void {
  (this as Held)[CONNECTION].close();
}
