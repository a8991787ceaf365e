import { connect, isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  ClientConnection,
  type ClientShared,
  type ClientTimeouts,
  type OpenSocket,
} from './client-connection.ts';
import { createFairQueue, type QueueOwner, type Turn } from './fair-queue.ts';
import { PoolBusy, type Waiter } from './pool-busy.ts';
import type { ClientTls } from './tls/client.ts';
import { tlsTo } from './tls-client.ts';
import { createUploadSlots, type UploadSlot } from './upload-slots.ts';

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

/** Milliseconds. */
const SHORTEST_LOOK = 10;
const LONGEST_LOOK = 250;
const RATE_SPAN = 2_000;

const ALL = Number.POSITIVE_INFINITY;

type Waiting = Pick<
  PromiseWithResolvers<ClientConnection>,
  'resolve' | 'reject'
>;

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

export function createPool({
  host,
  basePath = '',
  open,
  ...initial
}: PoolOptions) {
  let limits: PoolLimits = initial;
  let look = lookFor(limits);
  const waiting = createFairQueue<Waiting>(limits.mostWaiting);
  const all = new Set<ClientConnection>();
  /** They close after their request, and their place is not refilled. */
  const remaining = new Set<ClientConnection>();
  const idle: ClientConnection[] = [];
  const leases = new Map<ClientConnection, Lease>();
  const slots = createUploadSlots(limits.connections, limits.mostWaiting);
  const uploads = new Map<ClientConnection, UploadSlot>();
  /** Of bodies that clients read or send slowly. */
  const paces = new Map<ClientConnection, Pace>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isRetired = false;
  /** Late connections are being failed; their places stay empty. */
  let isLooking = false;
  const shared: ClientShared = {
    now: performance.now() + look,
    open,
    host,
    basePath,
    timeouts: limits,
    free: (connection) => free(connection, true),
    closed,
  };

  return {
    /** Surplus connections close after their request. */
    use(next: PoolLimits): void {
      limits = next;
      shared.timeouts = limits;
      waiting.most = limits.mostWaiting;
      slots.use(limits.connections, limits.mostWaiting);
      look = lookFor(limits);
      if (timer !== undefined) startTimer();
      openForWaiting();
    },
    /** In-use connections close after their request. */
    keepOnly(addresses: ReadonlySet<string>): void {
      for (const connection of all) {
        const { address } = connection;
        if (address !== undefined && !addresses.has(address))
          connection.retire();
      }
    },
    /** The server failed: rejects waiting requests, and reuses no existing connection. */
    renew(reason: Error): void {
      const before = [...all];
      all.clear();
      idle.length = 0;
      for (const connection of before) remaining.add(connection);
      refuseUntil(ALL, reason);
      for (const connection of before) connection.retire();
    },
    retire(): void {
      isRetired = true;
      for (const connection of idle.splice(0)) connection.destroy();
    },
    get status() {
      return {
        open: all.size + remaining.size,
        idle: idle.length,
        waiting: waiting.size + slots.waiting,
        most: limits.connections,
      };
    },
    get load(): number {
      return all.size - idle.length + waiting.size + slots.waiting;
    },
    /**
     * For a request, whose body may be streamed. Groups share connection time by weight. Rejects or
     * throws PoolBusy.
     */
    take(
      owner: QueueOwner = NO_OWNER,
      waiter?: Waiter,
      streams = false,
    ): ClientConnection | Promise<ClientConnection> {
      if (isClosed) throw new PoolBusy();
      if (!streams) return takeAny(owner, waiter);
      const slot = slots.take(owner, lateAt(), waiter);
      return slot instanceof Promise
        ? slot.then((one) => takeFor(one, owner, waiter))
        : takeFor(slot, owner, waiter);
    },
    release: (connection: ClientConnection) => free(connection, false),
    close(): void {
      isClosed = true;
      clearInterval(timer);
      for (const connection of [...all, ...remaining]) connection.destroy();
      refuseUntil(ALL, new PoolBusy());
    },
  };

  function takeAny(
    owner: QueueOwner,
    waiter: Waiter | undefined,
  ): ClientConnection | Promise<ClientConnection> {
    const connection = takeIdle();
    if (connection !== undefined) return connection;
    if (all.size < limits.connections && waiting.size === 0) return add();
    const taken = Promise.withResolvers<ClientConnection>();
    waiter?.waits(() => waiting.leave(taken, owner));
    waiting.add(taken, owner, lateAt())?.reject(new PoolBusy());
    return taken.promise;
  }

  function takeFor(
    slot: UploadSlot,
    owner: QueueOwner,
    waiter: Waiter | undefined,
  ): ClientConnection | Promise<ClientConnection> {
    if (isClosed) {
      slot.free();
      throw new PoolBusy();
    }
    const taken = takeAny(owner, {
      waits: (leave) =>
        waiter?.waits(() => {
          leave();
          slot.free();
        }),
    });
    const hold = (connection: ClientConnection) => {
      if (connection.isOpen) uploads.set(connection, slot);
      else slot.free();
      return connection;
    };
    if (!(taken instanceof Promise)) return hold(taken);
    taken.catch(() => slot.free());
    return taken.then(hold);
  }

  function lateAt(): number {
    return shared.now + limits.headersTimeout;
  }

  function takeIdle(): ClientConnection | undefined {
    if (idle.length === 0) return undefined;
    const now = performance.now();
    for (;;) {
      const last = idle.pop();
      if (last === undefined || !last.isStale(now)) return last;
      last.destroy();
    }
  }

  /** Those whose deadline is not after `end`. */
  function refuseUntil(end: number, reason: Error): void {
    slots.refuseUntil(end, reason);
    for (
      let one = waiting.takeLate(end);
      one !== null;
      one = waiting.takeLate(end)
    )
      one.reject(reason);
  }

  function startTimer(): void {
    clearInterval(timer);
    timer = setInterval(() => {
      const now = performance.now();
      shared.now = now + look;
      // The process may have been blocked: first reads responses that have arrived meanwhile.
      setImmediate(() => lookAtDeadlines(now));
    }, look).unref();
  }

  function add(): ClientConnection {
    if (all.size === 0) {
      shared.now = performance.now() + look;
      if (timer === undefined) startTimer();
    }
    const connection = new ClientConnection(shared);
    all.add(connection);
    return connection;
  }

  function closed(connection: ClientConnection): void {
    paces.delete(connection);
    if (remaining.delete(connection)) endTurn(connection, true);
    if (!all.delete(connection)) return;
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    endTurn(connection, true);
    openForWaiting();
  }

  function openForWaiting(most = limits.connections): void {
    if (isLooking) return;
    while (!isClosed && waiting.size > 0 && all.size < most) lend(add());
  }

  function free(connection: ClientConnection, isUsed: boolean): void {
    endTurn(connection, isUsed);
    if (all.size > limits.connections) connection.destroy();
    else if (waiting.size > 0) lend(connection);
    else if (isClosed || isRetired) connection.destroy();
    else idle.push(connection);
  }

  function lend(connection: ClientConnection): void {
    const turn = waiting.next()!;
    leases.set(connection, { turn, since: performance.now() });
    turn.item.resolve(connection);
  }

  /** Without waiting nothing is measured. */
  function endTurn(connection: ClientConnection, isUsed: boolean): void {
    endUpload(connection);
    if (leases.size === 0) return;
    const lease = leases.get(connection);
    if (lease === undefined) return;
    leases.delete(connection);
    waiting.end(lease.turn, isUsed ? performance.now() - lease.since : null);
  }

  function endUpload(connection: ClientConnection): void {
    const slot = uploads.get(connection);
    if (slot === undefined) return;
    uploads.delete(connection);
    slot.free();
  }

  function lookAtDeadlines(now: number): void {
    const before = all.size;
    isLooking = true;
    for (const connection of all) connection.endIfLate(now);
    for (const connection of remaining) connection.endIfLate(now);
    isLooking = false;
    // The next check may find more late connections: a request placed now could wait for a hung
    // server.
    openForWaiting(limits.connections - (before - all.size));
    if (all.size + remaining.size + waiting.size + slots.waiting === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    if (waiting.size + slots.waiting > 0) refuseUntil(now, new PoolBusy(true));
    endSlowClients(now);
  }

  /** The slowest first, as many as requests wait for. */
  function endSlowClients(now: number): void {
    const { minResponseRate = 0 } = limits;
    const slow = [...all]
      .map((connection) => ({ connection, rate: rateOf(connection, now) }))
      .filter(({ rate }) => rate < minResponseRate)
      .sort((one, other) => one.rate - other.rate);
    const ended = slow.slice(0, waiting.size);
    const others = slow.slice(waiting.size);
    const uploading = others.filter(({ connection }) =>
      uploads.has(connection),
    );
    for (const { connection } of [
      ...ended,
      ...uploading.slice(0, slots.waiting),
    ])
      connection.endSlowClient();
  }

  /** Bytes per second in the last whole span, in which the client was the slow side. */
  function rateOf(connection: ClientConnection, now: number): number {
    const { clientBytes } = connection;
    if (clientBytes === null) {
      paces.delete(connection);
      return ALL;
    }
    const pace = paces.get(connection);
    if (pace === undefined) {
      paces.set(connection, { bytes: clientBytes, at: now, rate: ALL });
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

export type Pool = ReturnType<typeof createPool>;

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
