import { setTimeout as pause } from 'node:timers/promises';
import type { BrokenReply } from '@storegate/http1';
import { acceptAll, acceptWaiting, Server, socketOf, TlsServer } from '@storegate/http1';
import { type ServerMaterial, serverTls } from '@storegate/http1/tls';
import { plainAddress, trustedProxies } from '../../callers/address.ts';
import { listen as bind } from '../../common/listen.ts';
import type { Address, Config } from '../../config/config.ts';
import type { Refusal } from '../../errors/refusals.ts';
import type { Observe } from '../../observe/events.ts';
import type { Call } from './call.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { refusalOf } from './wire-refusals.ts';

export interface Listener {
  /** Called again, it keeps the port. Rejects with ListenError. */
  listen(options?: ListenOptions): Promise<number>;
  /**
   * Sends `Connection: close` for `http.drainDelay`, then stops accepting, lets idle connections end, and aborts the
   * rest after `http.drainTimeout`. Resolves with the number of aborted requests.
   */
  drain(options?: DrainOptions): Promise<number>;
  /** `tls`: `null` for none. `balancers` send a PROXY protocol header. */
  use(settings: { readonly tls: ServerMaterial | null; readonly balancers: readonly string[] }): void;
  readonly inFlight: number;
}

export interface ListenOptions {
  /** The system spreads connections over all processes that listen at the same address. */
  readonly beside?: boolean;
  /** An inherited socket: it stays open in the process that it comes from. */
  readonly fd?: number | undefined;
}

export interface DrainOptions {
  /** Others accept at the same address, so this listener stops without the delay. */
  readonly accepting?: boolean;
  /** Resolves after all connections that were handed over before. */
  readonly closeShared?: () => Promise<void>;
}

export interface ListenerOptions {
  readonly config: { readonly listen: Address; readonly http: Config['http'] };
  /** Never throws. */
  readonly handle: (call: Call) => void;
  readonly limits: ConnectionLimits;
  /** Never rejects. */
  readonly answerUnparsed: (refusal: Refusal, reply: BrokenReply) => Promise<void>;
  readonly ticketSecret: Uint8Array;
  readonly observe: Observe;
}

/** Milliseconds. */
const SWEEP = 25;

export function createListener({
  config: { listen, http: httpLimits },
  handle,
  limits,
  answerUnparsed,
  ticketSecret,
  observe,
}: ListenerOptions): Listener {
  let { port } = listen;
  let isBeside = false;
  let isInherited = false;
  let tls: TlsServer | null = null;

  const server = new Server({
    mostHeadBytes: httpLimits.maxHeaderBytes,
    headTimeout: httpLimits.headersTimeout,
    requestTimeout: httpLimits.requestTimeout,
    idleTimeout: httpLimits.keepAliveTimeout,
    mostRequests: httpLimits.maxRequestsPerConnection,
    stallTimeout: httpLimits.responseWriteTimeout,
    takes: (socket) => limits.take(socket),
    takesFrom: (socket, address) => limits.takeFrom(socket, address),
    openings: {
      secured: (socket) => {
        const version = socket.getProtocol() ?? 'none';
        observe({ type: 'tls.established', version, resumed: socket.isSessionReused() });
      },
      unsecured: ({ remoteAddress }, reason) =>
        observe({ type: 'tls.failed', reason, address: plainAddress(remoteAddress) }),
      unannounced: ({ remoteAddress }, reason) =>
        observe({ type: 'proxy.refused', reason, address: plainAddress(remoteAddress) }),
    },
    handle,
    refuse: (error, reply) => void answerUnparsed(refusalOf(error), reply),
  });
  const { listener } = server;

  return {
    get inFlight() {
      return server.inFlight;
    },
    use({ tls: material, balancers: blocks }) {
      tls = tlsWith(material);
      const balancers = blocks.length === 0 ? null : trustedProxies(blocks);
      server.use({ tls, announces: balancers && ((address) => balancers.has(plainAddress(address))) });
    },
    async listen({ beside = false, fd } = {}) {
      if (listener.listening && isBeside && beside) return port;
      if (listener.listening) void stopAccepting();
      isBeside = beside;
      isInherited = fd !== undefined;
      port = await bind(listener, { host: listen.host, port, reusePort: beside, fd });
      return port;
    },
    async drain({ accepting = true, closeShared } = {}) {
      server.leave();
      if (accepting) await pause(httpLimits.drainDelay);
      const socket = socketOf(listener);
      if (accepting && closeShared && !isBeside) await acceptWaiting(listener, closeShared);
      // The queue of an inherited socket waits for the next process.
      else if (accepting && socket && !isBeside && !isInherited) await acceptAll(socket);
      else await acceptWaiting(listener);
      const closed = stopAccepting();
      if (!accepting) await pause(httpLimits.drainDelay);
      const cutOff = await endConnections(closed);
      server.stop();
      tls?.stop();
      return cutOff;
    },
  };

  function tlsWith(material: ServerMaterial | null): TlsServer | null {
    if (material === null) {
      tls?.stop();
      return null;
    }
    const options = serverTls(material);
    tls?.use(options);
    return (
      tls ??
      new TlsServer(options, ticketSecret, {
        done: (accepted, secured) => server.handshaken(accepted, secured),
        failed: (accepted, why) => server.unshaken(accepted, why),
      })
    );
  }

  function stopAccepting(): Promise<void> {
    return new Promise((resolve) => listener.close(() => resolve()));
  }

  async function endConnections(closed: Promise<void>): Promise<number> {
    let cutOff = 0;
    // An immediate comes after the reads of its turn.
    const sweeps = setInterval(() => setImmediate(() => server.endQuiet()), SWEEP);
    server.endQuiet();
    const deadline = setTimeout(() => {
      cutOff = server.inFlight;
      server.destroyConnections();
    }, httpLimits.drainTimeout);
    await closed;
    clearInterval(sweeps);
    clearTimeout(deadline);
    return cutOff;
  }
}
