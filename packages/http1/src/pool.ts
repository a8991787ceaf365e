import { connect, isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  ClientConnection,
  type ClientShared,
  type ClientTimeouts,
  type OpenSocket,
} from './client-connection.ts';
import { FairQueue, type QueueOwner, type Turn } from './fair-queue.ts';
import type { ClientTls } from './tls/client.ts';
import { tlsTo } from './tls-client.ts';

/** A request waits for a connection as long as for a response. */
export interface PoolLimits extends ClientTimeouts {
  readonly connections: number;
  readonly mostWaiting: number;
  /** Bytes per second, demanded while other requests wait for a connection. */
  readonly minResponseRate?: number;
}

export interface PoolOptions extends PoolLimits {
  readonly host: string;
  readonly basePath?: string;
  readonly open: OpenSocket;
}

export class PoolBusy extends Error {
  override name = 'PoolBusy';
  readonly isLate: boolean;

  constructor(isLate = false) {
    super();
    this.isLate = isLate;
  }
}

/** Milliseconds. */
const SHORTEST_LOOK = 10;
const LONGEST_LOOK = 250;
const RATE_SPAN = 2_000;

const ALL = Number.POSITIVE_INFINITY;

export interface Waiter {
  /** No further call follows. */
  waits(leave: () => void): void;
}

interface Waiting {
  take(connection: ClientConnection): void;
  refuse(reason?: Error): void;
}

interface Pace {
  bytes: number;
  /** When they were counted. */
  at: number;
  /** Bytes per second before that. */
  rate: number;
}

interface Lease {
  readonly turn: Turn<Waiting>;
  readonly since: number;
}

const NO_OWNER: QueueOwner = { group: '', weight: 1, member: '' };

export class Pool {
  #limits: PoolLimits;
  readonly #shared: ClientShared;
  readonly #all = new Set<ClientConnection>();
  /** They close after their request, and their place is not refilled. */
  readonly #left = new Set<ClientConnection>();
  readonly #idle: ClientConnection[] = [];
  readonly #waiting: FairQueue<Waiting>;
  readonly #leases = new Map<ClientConnection, Lease>();
  /** Of bodies that clients read or send slowly. */
  readonly #paces = new Map<ClientConnection, Pace>();
  #look: number;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isRetired = false;
  /** Late connections are being failed; their places stay empty. */
  #isLooking = false;

  constructor(options: PoolOptions) {
    const { host, basePath = '', open } = options;
    this.#limits = options;
    this.#waiting = new FairQueue(options.mostWaiting);
    this.#look = lookFor(options);
    this.#shared = {
      now: performance.now() + this.#look,
      open,
      host,
      basePath,
      timeouts: options,
      free: (connection) => {
        this.#endTurn(connection, true);
        this.#free(connection);
      },
      closed: (connection) => this.#closed(connection),
    };
  }

  /** Surplus connections close after their request. */
  use(limits: PoolLimits): void {
    this.#limits = limits;
    this.#shared.timeouts = limits;
    this.#waiting.most = limits.mostWaiting;
    this.#look = lookFor(limits);
    if (this.#timer !== undefined) this.#startTimer();
    this.#openForWaiting();
  }

  /** In-use connections close after their request. */
  keepOnly(addresses: ReadonlySet<string>): void {
    for (const connection of this.#all) {
      const { address } = connection;
      if (address !== undefined && !addresses.has(address)) connection.retire();
    }
  }

  /** The server failed: rejects waiting requests, and reuses no existing connection. */
  renew(reason: Error): void {
    const before = [...this.#all];
    this.#all.clear();
    this.#idle.length = 0;
    for (const connection of before) this.#left.add(connection);
    this.#refuseUntil(ALL, reason);
    for (const connection of before) connection.retire();
  }

  retire(): void {
    this.#isRetired = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  get status() {
    const { connections } = this.#limits;
    return {
      open: this.#all.size + this.#left.size,
      idle: this.#idle.length,
      waiting: this.#waiting.size,
      most: connections,
    };
  }

  get load(): number {
    return this.#all.size - this.#idle.length + this.#waiting.size;
  }

  /** Groups share connection time by weight. Rejects or throws PoolBusy. */
  take(
    owner: QueueOwner = NO_OWNER,
    waiter?: Waiter,
  ): ClientConnection | Promise<ClientConnection> {
    if (this.#isClosed) throw new PoolBusy();
    const idle = this.#takeIdle();
    if (idle !== undefined) return idle;
    if (this.#all.size < this.#limits.connections && this.#waiting.size === 0)
      return this.#open();
    return new Promise((resolve, reject) => {
      const waiting = {
        take: resolve,
        refuse: (reason = new PoolBusy()) => reject(reason),
      };
      waiter?.waits(() => this.#waiting.leave(waiting, owner));
      this.#waiting
        .add(waiting, owner, this.#shared.now + this.#limits.headersTimeout)
        ?.refuse();
    });
  }

  #takeIdle(): ClientConnection | undefined {
    if (this.#idle.length === 0) return undefined;
    const now = performance.now();
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined || !idle.isStale(now)) return idle;
      idle.destroy();
    }
  }

  release(connection: ClientConnection): void {
    this.#endTurn(connection, false);
    this.#free(connection);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const connection of [...this.#all, ...this.#left])
      connection.destroy();
    this.#refuseUntil(ALL, new PoolBusy());
  }

  /** Those whose deadline is not after `end`. */
  #refuseUntil(end: number, reason: Error): void {
    for (
      let one = this.#waiting.takeLate(end);
      one !== null;
      one = this.#waiting.takeLate(end)
    )
      one.refuse(reason);
  }

  #startTimer(): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#shared.now = now + this.#look;
      // The process may have been blocked: first reads responses that have arrived meanwhile.
      setImmediate(() => this.#lookAtDeadlines(now));
    }, this.#look).unref();
  }

  #open(): ClientConnection {
    if (this.#all.size === 0) {
      this.#shared.now = performance.now() + this.#look;
      if (this.#timer === undefined) this.#startTimer();
    }
    const connection = new ClientConnection(this.#shared);
    this.#all.add(connection);
    return connection;
  }

  #closed(connection: ClientConnection): void {
    this.#paces.delete(connection);
    if (this.#left.delete(connection)) this.#endTurn(connection, true);
    if (!this.#all.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#endTurn(connection, true);
    this.#openForWaiting();
  }

  #openForWaiting(most = this.#limits.connections): void {
    if (this.#isLooking) return;
    while (!this.#isClosed && this.#waiting.size > 0 && this.#all.size < most)
      this.#lend(this.#open());
  }

  #free(connection: ClientConnection): void {
    if (this.#all.size > this.#limits.connections) connection.destroy();
    else if (this.#waiting.size > 0) this.#lend(connection);
    else if (this.#isClosed || this.#isRetired) connection.destroy();
    else this.#idle.push(connection);
  }

  #lend(connection: ClientConnection): void {
    const turn = this.#waiting.next()!;
    this.#leases.set(connection, { turn, since: performance.now() });
    turn.item.take(connection);
  }

  /** Without waiting nothing is measured. */
  #endTurn(connection: ClientConnection, isUsed: boolean): void {
    if (this.#leases.size === 0) return;
    const lease = this.#leases.get(connection);
    if (lease === undefined) return;
    this.#leases.delete(connection);
    this.#waiting.end(
      lease.turn,
      isUsed ? performance.now() - lease.since : null,
    );
  }

  #lookAtDeadlines(now: number): void {
    const before = this.#all.size;
    this.#isLooking = true;
    for (const connection of this.#all) connection.endIfLate(now);
    for (const connection of this.#left) connection.endIfLate(now);
    this.#isLooking = false;
    // The next check may find more late connections: a request placed now could wait for a hung
    // server.
    this.#openForWaiting(this.#limits.connections - (before - this.#all.size));
    if (this.#all.size + this.#left.size + this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (this.#waiting.size > 0) this.#refuseUntil(now, new PoolBusy(true));
    this.#endSlowClients(now);
  }

  /** The slowest first, as many as requests wait for. */
  #endSlowClients(now: number): void {
    const { minResponseRate = 0 } = this.#limits;
    const slow: {
      readonly connection: ClientConnection;
      readonly rate: number;
    }[] = [];
    for (const connection of this.#all) {
      const rate = this.#rateOf(connection, now);
      if (rate < minResponseRate) slow.push({ connection, rate });
    }
    if (this.#waiting.size === 0) return;
    slow.sort((one, other) => one.rate - other.rate);
    for (const { connection } of slow.slice(0, this.#waiting.size))
      connection.endSlowClient();
  }

  /** Bytes per second in the last whole span, in which the client was the slow side. */
  #rateOf(connection: ClientConnection, now: number): number {
    const { clientBytes } = connection;
    if (clientBytes === null) {
      this.#paces.delete(connection);
      return ALL;
    }
    const pace = this.#paces.get(connection);
    if (pace === undefined) {
      this.#paces.set(connection, { bytes: clientBytes, at: now, rate: ALL });
      return ALL;
    }
    const elapsed = now - pace.at;
    if (elapsed >= RATE_SPAN) {
      pace.rate = ((clientBytes - pace.bytes) * 1_000) / elapsed;
      pace.bytes = clientBytes;
      pace.at = now;
    }
    return pace.rate;
  }
}

/** Milliseconds. */
function lookFor({
  connectTimeout,
  headersTimeout,
  bodyTimeout,
}: ClientTimeouts): number {
  return Math.max(
    SHORTEST_LOOK,
    Math.min(
      LONGEST_LOOK,
      Math.min(connectTimeout, headersTimeout, bodyTimeout) / 20,
    ),
  );
}

/** Shared by all connections; a part that outlives its read is copied. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

export interface OpenerOptions {
  /** Connections may be upgraded, so each has its own buffer. */
  readonly tunnels?: boolean;
  /** While the same object is returned, connections resume earlier sessions. */
  readonly tls?: () => ClientTls;
  readonly lookup?: LookupFunction | undefined;
}

const USUAL: ClientTls = {};

export function openerTo(
  { protocol, hostname, port, host: named }: URL,
  { tunnels = false, tls = () => USUAL, lookup }: OpenerOptions = {},
): OpenSocket {
  const isTls = protocol === 'https:';
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const to = {
    host,
    port: Number(port) || (isTls ? 443 : 80),
    noDelay: true,
    ...(lookup && { lookup }),
  };
  const secure = isTls ? tlsTo(named, isIP(host) === 0 ? host : '', tls) : null;
  return (receive, connected): Duplex => {
    const onread = {
      buffer: READ_BUFFER,
      callback(size: number, buffer: Uint8Array) {
        receive((buffer as Buffer).subarray(0, size));
        return true;
      },
    };
    const options = tunnels ? to : { ...to, onread };
    const socket = secure === null ? connect(options) : secure(options);
    if (tunnels) socket.on('data', receive);
    return socket.once(isTls ? 'secureConnect' : 'connect', connected);
  };
}
