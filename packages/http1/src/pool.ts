import { connect, isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { ClientConnection, type ClientShared, type OpenSocket } from './client-connection.ts';
import { FairQueue, type Party, type Turn } from './fair-queue.ts';
import type { ClientTls } from './tls/client.ts';
import { tlsTo } from './tls-client.ts';

/** What may change while a pool is in use. */
export interface PoolLimits {
  /** Open connections at most. */
  readonly connections: number;
  /** Questions that may wait for a connection; more would only wait until nobody wants their answers. */
  readonly mostWaiting: number;
  /** Milliseconds. For the last see ClientShared; a question waits for a connection as long as for an answer. */
  readonly connectTimeout: number;
  readonly headTimeout: number;
  readonly bodyTimeout: number;
  /** Bytes a second that the reader of an answer must take while other questions wait for a connection; none by default. */
  readonly minReadRate?: number;
}

export interface PoolOptions extends PoolLimits {
  /** The value of Host. */
  readonly host: string;
  /** What stands before the target of each question; usually empty. */
  readonly basePath?: string;
  readonly open: OpenSocket;
}

/** All connections are in use, and too many questions wait, or this one waited too long. */
export class PoolBusy extends Error {
  override name = 'PoolBusy';
  /** Whether it waited as long as it may. */
  readonly isLate: boolean;

  constructor(isLate = false) {
    super();
    this.isLate = isLate;
  }
}

/** Bytes of the head of an answer. */
const MOST_HEAD_BYTES = 64 * 1024;
/** Milliseconds for which an unused connection is kept: shorter than servers of our day keep it. */
const IDLE = 4_000;
const SHORTEST_LOOK = 10;
const LONGEST_LOOK = 250;

/** Milliseconds over which the rate of readers is measured. */
const RATE_SPAN = 2_000;

/** All deadlines are before it. */
const ALL = Number.POSITIVE_INFINITY;

/** Whoever takes a connection, as far as it is told of the waiting. */
export interface Waiter {
  /** There is none yet. `leave`: it wants none any more, and what waits behind it moves up; then it is told nothing. */
  waits(leave: () => void): void;
}

interface Waiting {
  take(connection: ClientConnection): void;
  refuse(reason?: Error): void;
}

/** A connection that somebody has who waited for it. */
interface Lent {
  readonly turn: Turn<Waiting>;
  readonly since: number;
}

/** For whom a question waits that says nothing about it. */
const ANYBODY: Party = { group: '', weight: 1, member: '' };

/** The connections to one server: kept alive, the one used last first, never more than allowed. One timer serves all. */
export class Pool {
  #limits: PoolLimits;
  readonly #shared: ClientShared;
  readonly #all = new Set<ClientConnection>();
  /** In use since before the server failed. They end with their question, and nobody waits for their place. */
  readonly #left = new Set<ClientConnection>();
  readonly #idle: ClientConnection[] = [];
  readonly #waiting: FairQueue<Waiting>;
  readonly #lent = new Map<ClientConnection, Lent>();
  /** While questions wait: the bytes that the readers of connections had taken, and when. */
  readonly #read = new Map<ClientConnection, { bytes: number; at: number }>();
  #look: number;
  /** Runs while there are connections, so that a pool that nobody uses is no burden. */
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Connections end with the question that they are used for. */
  #isRetired = false;
  /** While connections that are late fail, nobody gets their places. */
  #isLooking = false;

  constructor(options: PoolOptions) {
    const { connectTimeout, headTimeout, bodyTimeout, host, basePath = '', open } = options;
    this.#limits = options;
    this.#waiting = new FairQueue(options.mostWaiting);
    this.#look = lookFor(options);
    this.#shared = {
      now: performance.now() + this.#look,
      open,
      host,
      basePath,
      mostHeadBytes: MOST_HEAD_BYTES,
      connectTimeout,
      headTimeout,
      bodyTimeout,
      idleTimeout: IDLE,
      free: (connection) => {
        this.#endTurn(connection, true);
        this.#free(connection);
      },
      closed: (connection) => this.#closed(connection),
    };
  }

  /** Other limits from now on. Connections beyond the most that there may be end with their question, unused ones by themselves. */
  use(limits: PoolLimits): void {
    const { mostWaiting, connectTimeout, headTimeout, bodyTimeout } = limits;
    this.#limits = limits;
    this.#waiting.most = mostWaiting;
    Object.assign(this.#shared, { connectTimeout, headTimeout, bodyTimeout });
    this.#look = lookFor(limits);
    if (this.#timer !== undefined) this.#startTimer();
    this.#openForWaiting();
  }

  /** Connections to other addresses end: unused ones now, the others with their question. */
  keepOnly(addresses: ReadonlySet<string>): void {
    for (const connection of this.#all) {
      const { address } = connection;
      if (address !== undefined && !addresses.has(address)) connection.retire();
    }
  }

  /**
   * The server fails: questions that wait for a connection wait no longer, and no connection that there is, which may lead to a server
   * that is no more, is used for another one.
   */
  renew(reason: Error): void {
    const before = [...this.#all];
    this.#all.clear();
    this.#idle.length = 0;
    for (const connection of before) this.#left.add(connection);
    this.#dismiss(reason);
    for (const connection of before) connection.retire();
  }

  /** Nobody will need it for long: no unused connection is kept. */
  retire(): void {
    this.#isRetired = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  /** How many connections are open, how many of them are unused, how many questions wait for one, and the most there may be. */
  get status() {
    const { connections } = this.#limits;
    return {
      open: this.#all.size + this.#left.size,
      idle: this.#idle.length,
      waiting: this.#waiting.size,
      most: connections,
    };
  }

  /** Questions that are being answered or wait. */
  get load(): number {
    return this.#all.size - this.#idle.length + this.#waiting.size;
  }

  /**
   * A connection for one question, at once if one is free; else groups of parties share by weight the time of the connections. Rejects or
   * throws PoolBusy.
   */
  take(party: Party = ANYBODY, waiter?: Waiter): ClientConnection | Promise<ClientConnection> {
    if (this.#isClosed) throw new PoolBusy();
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#all.size < this.#limits.connections && this.#waiting.size === 0) return this.#open();
    return new Promise((resolve, reject) => {
      const waiting = { take: resolve, refuse: (reason = new PoolBusy()) => reject(reason) };
      waiter?.waits(() => this.#waiting.leave(waiting, party));
      this.#waiting.add(waiting, party, this.#shared.now + this.#limits.headTimeout)?.refuse();
    });
  }

  /** For a connection that was taken and asked nothing. */
  giveBack(connection: ClientConnection): void {
    this.#endTurn(connection, false);
    this.#free(connection);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const connection of [...this.#all, ...this.#left]) connection.destroy();
    this.#dismiss(new PoolBusy());
  }

  #dismiss(reason: Error): void {
    for (let one = this.#waiting.takeLate(ALL); one !== null; one = this.#waiting.takeLate(ALL)) one.refuse(reason);
  }

  #startTimer(): void {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#shared.now = now + this.#look;
      // This process may have stood still: first it reads the answers that have arrived meanwhile.
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
    this.#read.delete(connection);
    if (this.#left.delete(connection)) this.#endTurn(connection, true);
    if (!this.#all.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#endTurn(connection, true);
    this.#openForWaiting();
  }

  /** As many connections as there may be, for questions that wait. */
  #openForWaiting(most = this.#limits.connections): void {
    if (this.#isLooking) return;
    while (!this.#isClosed && this.#waiting.size > 0 && this.#all.size < most) this.#lend(this.#open());
  }

  #free(connection: ClientConnection): void {
    if (this.#all.size > this.#limits.connections) connection.destroy();
    else if (this.#waiting.size > 0) this.#lend(connection);
    else if (this.#isClosed || this.#isRetired) connection.destroy();
    else this.#idle.push(connection);
  }

  #lend(connection: ClientConnection): void {
    const turn = this.#waiting.next()!;
    this.#lent.set(connection, { turn, since: performance.now() });
    turn.item.take(connection);
  }

  /** Only connections that somebody waited for have a turn: without waiting nothing is measured. */
  #endTurn(connection: ClientConnection, isUsed: boolean): void {
    if (this.#lent.size === 0) return;
    const lent = this.#lent.get(connection);
    if (lent === undefined) return;
    this.#lent.delete(connection);
    this.#waiting.end(lent.turn, isUsed ? performance.now() - lent.since : null);
  }

  #lookAtDeadlines(now: number): void {
    const before = this.#all.size;
    this.#isLooking = true;
    for (const connection of this.#all) connection.endIfLate(now);
    for (const connection of this.#left) connection.endIfLate(now);
    this.#isLooking = false;
    // The next look may find more that are late: whoever got a place now would wait for a server that hangs.
    this.#openForWaiting(this.#limits.connections - (before - this.#all.size));
    if (this.#all.size + this.#left.size + this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#refuseLate(now);
    this.#endSlowReaders(now);
  }

  /** Frees connections that slow readers keep from questions that wait: the slowest first, as many as are wanted. */
  #endSlowReaders(now: number): void {
    const { minReadRate = 0 } = this.#limits;
    if (this.#waiting.size === 0 || minReadRate === 0) {
      this.#read.clear();
      return;
    }
    const slow: { connection: ClientConnection; bytes: number }[] = [];
    for (const connection of this.#all) {
      const { readBytes } = connection;
      const before = this.#read.get(connection);
      if (readBytes === null) this.#read.delete(connection);
      else if (before === undefined) this.#read.set(connection, { bytes: readBytes, at: now });
      else if (now - before.at >= RATE_SPAN) {
        this.#read.delete(connection);
        const bytes = readBytes - before.bytes;
        if (bytes < (minReadRate * (now - before.at)) / 1_000) slow.push({ connection, bytes });
      }
    }
    slow.sort((one, other) => one.bytes - other.bytes);
    for (const { connection } of slow.slice(0, this.#waiting.size)) connection.endReader();
  }

  #refuseLate(now: number): void {
    for (let late = this.#waiting.takeLate(now); late !== null; late = this.#waiting.takeLate(now))
      late.refuse(new PoolBusy(true));
  }
}

/** Milliseconds between two looks at the deadlines. */
function lookFor({ connectTimeout, headTimeout, bodyTimeout }: PoolLimits): number {
  return Math.max(SHORTEST_LOOK, Math.min(LONGEST_LOOK, Math.min(connectTimeout, headTimeout, bodyTimeout) / 20));
}

/** One buffer for the reads of all connections: a part that is kept longer than its read is copied. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

export interface OpenerOptions {
  /** Connections may change their protocol, and have a buffer of their own. */
  readonly tunnels?: boolean;
  /** For https, asked for each connection. As long as it is the same object, connections resume the session of those before. */
  readonly tls?: () => ClientTls;
  /** Finds the addresses of the host; the system does by default. */
  readonly lookup?: LookupFunction | undefined;
}

const USUAL: ClientTls = {};

/** Opens connections to an origin, http or https. */
export function openerTo(
  { protocol, hostname, port, host: named }: URL,
  { tunnels = false, tls = () => USUAL, lookup }: OpenerOptions = {},
): OpenSocket {
  const isTls = protocol === 'https:';
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const to = { host, port: Number(port) || (isTls ? 443 : 80), noDelay: true, ...(lookup && { lookup }) };
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
