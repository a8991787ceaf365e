import { createServer as createNetServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Closing } from './field-lines.ts';
import type { Place } from './place.ts';
import {
  type Arrival,
  createPreamble,
  type Preamble,
  type PreambleEvents,
} from './preamble.ts';
import { NO_ORIGIN } from './proxy-protocol.ts';
import {
  type ConnectionOptions,
  ServerConnection,
  type ServerShared,
} from './server-connection.ts';
import { readShared } from './shared-reads.ts';
import type { ServerTls } from './tls/server.ts';
import { createTlsServer, type TlsServer } from './tls-server.ts';
import { createTurnQueue } from './turn-queue.ts';
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

export function createServer(options: ServerOptions) {
  const { headersTimeout, requestTimeout, keepAliveTimeout } = options;
  const { takesFrom = () => true, openings, ticketSecret } = options;
  const { takes = (_accepted, enter) => enter({ occupant: null }) } = options;
  const shortest = Math.min(headersTimeout, requestTimeout, keepAliveTimeout);
  const lookEvery = Math.max(
    SHORTEST_LOOK,
    Math.min(LONGEST_LOOK, shortest / 8),
  );
  const connections = new Set<ServerConnection>();
  const preambles = new Map<Socket, Preamble>();
  const late = new WeakSet<Socket>();
  /** Runs while there are connections. */
  let timer: NodeJS.Timeout | undefined;
  let tls: TlsServer | null = null;
  let announces: PreambleOptions['announces'] = null;
  const shared: ServerShared = {
    options,
    closing: new Closing(keepAliveTimeout),
    turns: createTurnQueue(),
    now: 0,
    inFlight: 0,
    leaving: false,
    closed: (connection) => connections.delete(connection),
  };
  const events: PreambleEvents = {
    takesFrom,
    plain(accepted, arrival, early) {
      const connection = takePlain(accepted, arrival);
      if (early.length > 0) connection.receive(early);
    },
    secured(secured, arrival) {
      openings?.secured(secured);
      take(secured, arrival);
      secured.on('data', (bytes) => onRead(secured, bytes));
    },
    misplaced(accepted, arrival) {
      openings?.unsecured(accepted, 'plaintext');
      takePlain(accepted, arrival).refuse(
        malformed('This port uses TLS. Use a URL that begins with https://.'),
      );
    },
    unannounced: (accepted, why) => openings?.unannounced(accepted, why),
    unsecured(accepted, why) {
      late.add(accepted);
      openings?.unsecured(accepted, why);
    },
    ended: (accepted) => late.add(accepted),
    closed: (accepted) => preambles.delete(accepted),
  };
  const settings = {
    allowHalfOpen: true,
    noDelay: true,
    pauseOnConnect: true,
  };
  const listener = createNetServer(settings, (accepted) =>
    takes(accepted, (place) => {
      if (timer === undefined) startTimer();
      enter(accepted, place);
    }),
  );
  const stalledTimer = setInterval(() => {
    for (const connection of connections) connection.endIfStalled();
  }, options.responseWriteTimeout).unref();
  const open = () => [...connections, ...preambles.values()];

  return {
    listener,
    connections,
    get inFlight(): number {
      return shared.inFlight;
    },
    use(next: PreambleOptions): void {
      ({ announces } = next);
      useTls(next.tls);
    },
    leave(): void {
      shared.leaving = true;
    },
    endQuiet(): void {
      const now = performance.now();
      for (const one of open()) one.endIfQuiet(now);
    },
    destroyConnections(): void {
      for (const one of open()) one.destroy();
    },
    stop(): void {
      clearInterval(timer);
      clearInterval(stalledTimer);
      tls?.stop();
    },
  };

  function enter(accepted: Socket, place: Place): void {
    const wantsHeader = announces?.(accepted.remoteAddress) ?? false;
    if (!wantsHeader && tls === null) {
      takePlain(accepted, { place, origin: NO_ORIGIN });
      return;
    }
    const deadline = shared.now + headersTimeout;
    const parts = { wantsHeader, deadline, place, tls };
    preambles.set(accepted, createPreamble(accepted, parts, events));
  }

  function useTls(settings: ServerTls | null): void {
    if (settings === null) {
      tls?.stop();
      tls = null;
      return;
    }
    tls?.use(settings);
    tls ??= createTlsServer(settings, ticketSecret, {
      done(accepted, secured) {
        const preamble = preambles.get(accepted);
        if (preamble === undefined) secured.destroy();
        else preamble.secured(secured);
      },
      // Handshakes that this server closed are reported already.
      failed(accepted, why) {
        if (!late.has(accepted)) openings?.unsecured(accepted, why);
      },
    });
  }

  function take(socket: Socket, { place, origin }: Arrival): ServerConnection {
    const connection = new ServerConnection(socket, shared, origin);
    place.occupant = connection;
    connections.add(connection);
    (socket as Held)[CONNECTION] = connection;
    socket
      .on('end', onEnd)
      .on('drain', onDrain)
      .on('error', onError)
      .on('close', onClose);
    return connection;
  }

  function takePlain(accepted: Socket, arrival: Arrival): ServerConnection {
    return take(readShared(accepted, onRead), arrival);
  }

  function startTimer(): void {
    shared.now = performance.now() + lookEvery;
    timer = setInterval(() => {
      const now = performance.now();
      shared.now = now + lookEvery;
      // The process may have been blocked: first reads what clients have sent meanwhile.
      setImmediate(look, now);
    }, lookEvery).unref();
  }

  function look(now: number): void {
    for (const one of open()) one.endIfLate(now);
    if (connections.size + preambles.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }
}

export type Server = ReturnType<typeof createServer>;

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
