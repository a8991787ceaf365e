import { createServer, type Server as NetServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Closing } from './field-lines.ts';
import type { Place } from './place.ts';
import { type Arrival, Preamble, type PreambleEvents } from './preamble.ts';
import { NO_ORIGIN } from './proxy-protocol.ts';
import {
  type ConnectionOptions,
  ServerConnection,
  type ServerShared,
} from './server-connection.ts';
import { readShared } from './shared-reads.ts';
import type { ServerTls } from './tls/server.ts';
import { TlsServer } from './tls-server.ts';
import { TurnQueue } from './turn-queue.ts';
import { malformed } from './wire-error.ts';

export interface ServerOptions extends ConnectionOptions {
  /** Calls `enter`, at once or later, or closes the socket. Default: takes every connection. */
  readonly takes?: (socket: Socket, enter: (place: Place) => void) => void;
  /** Milliseconds in which a client must read part of a pending response. */
  readonly responseWriteTimeout: number;
  /** The same in all processes of a gateway. */
  readonly ticketSecret: Uint8Array;
  readonly takesFrom?: PreambleEvents['takesFrom'];
  readonly openings?: Pick<PreambleEvents, 'unannounced' | 'unsecured'> & {
    readonly secured: (socket: TLSSocket) => void;
  };
}

const CONNECTION = Symbol('connection');

interface Held extends Socket {
  [CONNECTION]: ServerConnection;
}

export interface PreambleOptions {
  readonly tls: ServerTls | null;
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
  #enter: (accepted: Socket, place: Place) => void = (accepted, place) =>
    this.#takePlain(accepted, plainly(place));
  #tls: TlsServer | null = null;

  constructor(options: ServerOptions) {
    this.#options = options;
    const shortest = Math.min(
      options.headersTimeout,
      options.requestTimeout,
      options.keepAliveTimeout,
    );
    this.#lookEvery = Math.max(
      SHORTEST_LOOK,
      Math.min(LONGEST_LOOK, shortest / 8),
    );
    this.#shared = {
      options,
      closing: new Closing(options.keepAliveTimeout),
      turns: new TurnQueue(),
      now: 0,
      inFlight: 0,
      leaving: false,
      closed: (connection) => this.connections.delete(connection),
    };
    const settings = {
      allowHalfOpen: true,
      noDelay: true,
      pauseOnConnect: true,
    };
    const { takes = (_accepted, enter) => enter({ occupant: null }) } = options;
    this.listener = createServer(settings, (accepted) => {
      takes(accepted, (place) => {
        if (this.#timer === undefined) this.#startTimer();
        this.#enter(accepted, place);
      });
    });
    this.#stalledTimer = setInterval(() => {
      for (const connection of this.connections) connection.endIfStalled();
    }, options.responseWriteTimeout).unref();
  }

  get inFlight(): number {
    return this.#shared.inFlight;
  }

  use({ tls: settings, announces }: PreambleOptions): void {
    this.#useTls(settings);
    const tls = this.#tls;
    const { takesFrom = () => true, openings } = this.#options;
    const parts: PreambleEvents = {
      tls,
      takesFrom,
      plain: (accepted, arrival, early) => {
        const connection = this.#takePlain(accepted, arrival);
        if (early.length > 0) connection.receive(early);
      },
      secured: (secured, arrival) => {
        openings?.secured(secured);
        this.#take(secured, arrival);
        secured.on('data', (bytes) => onRead(secured, bytes));
      },
      misplaced: (accepted, arrival) => {
        openings?.unsecured(accepted, 'plaintext');
        this.#takePlain(accepted, arrival).refuse(
          malformed('This port uses TLS. Use a URL that begins with https://.'),
        );
      },
      unannounced: (accepted, why) => openings?.unannounced(accepted, why),
      unsecured: (accepted, why) => {
        this.#late.add(accepted);
        openings?.unsecured(accepted, why);
      },
      ended: (accepted) => this.#late.add(accepted),
      closed: (accepted) => this.#openings.delete(accepted),
    };
    this.#enter = (accepted, place) => {
      const wantsHeader = announces?.(accepted.remoteAddress) ?? false;
      if (!wantsHeader && tls === null)
        this.#takePlain(accepted, plainly(place));
      else {
        const deadline = this.#shared.now + this.#options.headersTimeout;
        this.#openings.set(
          accepted,
          new Preamble(accepted, { wantsHeader, deadline, place }, parts),
        );
      }
    };
  }

  #useTls(settings: ServerTls | null): void {
    if (settings === null) {
      this.#tls?.stop();
      this.#tls = null;
      return;
    }
    this.#tls?.use(settings);
    this.#tls ??= new TlsServer(settings, this.#options.ticketSecret, {
      done: (accepted, secured) => {
        const opening = this.#openings.get(accepted);
        if (opening === undefined) secured.destroy();
        else opening.secured(secured);
      },
      // Handshakes that this server closed are reported already.
      failed: (accepted, why) => {
        if (!this.#late.has(accepted))
          this.#options.openings?.unsecured(accepted, why);
      },
    });
  }

  #take(socket: Socket, { place, origin }: Arrival): ServerConnection {
    const connection = new ServerConnection(socket, this.#shared, origin);
    place.occupant = connection;
    this.connections.add(connection);
    (socket as Held)[CONNECTION] = connection;
    socket
      .on('end', onEnd)
      .on('drain', onDrain)
      .on('error', onError)
      .on('close', onClose);
    return connection;
  }

  #takePlain(accepted: Socket, arrival: Arrival): ServerConnection {
    return this.#take(readShared(accepted, onRead), arrival);
  }

  leave(): void {
    this.#shared.leaving = true;
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
    this.#tls?.stop();
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
}

function plainly(place: Place): Arrival {
  return { place, origin: NO_ORIGIN };
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

/** `close` follows with all details. */
function onError(): void {}

function onClose(this: Socket): void {
  (this as Held)[CONNECTION].close();
}
