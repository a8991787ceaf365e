import { setTimeout as pause } from 'node:timers/promises';
import {
  acceptAll,
  acceptWaiting,
  type BrokenReply,
  createServer,
  socketOf,
} from '@storegate/http1';
import { type ServerMaterial, serverTls } from '@storegate/http1/tls';
import { plainAddress, trustedProxies } from '../../common/clients/address.ts';
import type { Refusal } from '../../common/errors/refusals.ts';
import { listen as bind } from '../../common/listen.ts';
import type { Address, Config } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import type { Call } from './call.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { refusalOf } from './wire-refusals.ts';

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

interface ListenerOptions {
  readonly config: { readonly listen: Address; readonly http: Config['http'] };
  /** Never throws. */
  readonly handle: (call: Call) => void;
  readonly limits: ConnectionLimits;
  /** Never rejects. */
  readonly replyUnparsed: (
    refusal: Refusal,
    reply: BrokenReply,
  ) => Promise<void>;
  readonly ticketSecret: Uint8Array;
  readonly observe: Observe;
}

/** Milliseconds. */
const SWEEP = 25;

export function createListener(parts: ListenerOptions) {
  const { handle, limits, replyUnparsed, ticketSecret, observe } = parts;
  const { listen, http: httpLimits } = parts.config;
  let { port } = listen;
  let isBeside = false;
  let isInherited = false;

  const server = createServer({
    ...httpLimits,
    ticketSecret,
    handle,
    takes: limits.take,
    takesFrom: limits.takeFrom,
    openings: {
      secured: (socket) => {
        const version = socket.getProtocol() ?? 'none';
        observe({
          type: 'tls.established',
          version,
          resumed: socket.isSessionReused(),
        });
      },
      unsecured: ({ remoteAddress }, reason) =>
        observe({
          type: 'tls.failed',
          reason,
          address: plainAddress(remoteAddress),
        }),
      unannounced: ({ remoteAddress }, reason) =>
        observe({
          type: 'proxy.refused',
          reason,
          address: plainAddress(remoteAddress),
        }),
    },
    refuse: (error, reply) => void replyUnparsed(refusalOf(error), reply),
  });
  const { listener } = server;

  return {
    get inFlight() {
      return server.inFlight;
    },
    /** `material`: `null` for no TLS. `blocks`: of balancers that send a PROXY protocol header. */
    use(material: ServerMaterial | null, blocks: readonly string[]): void {
      const balancers = blocks.length === 0 ? null : trustedProxies(blocks);
      server.use({
        tls: material && serverTls(material),
        announces:
          balancers && ((address) => balancers.has(plainAddress(address))),
      });
    },
    /** Called again, it keeps the port. Rejects with ListenError. */
    async listen({ beside = false, fd }: ListenOptions = {}): Promise<number> {
      if (listener.listening && isBeside && beside) return port;
      if (listener.listening) void stopAccepting();
      isBeside = beside;
      isInherited = fd !== undefined;
      port = await bind(listener, {
        host: listen.host,
        port,
        reusePort: beside,
        fd,
      });
      return port;
    },
    /**
     * Sends `Connection: close` for `http.drainDelay`, then stops accepting, lets idle connections
     * end, and aborts the rest after `http.drainTimeout`. Resolves with the number of aborted
     * requests.
     */
    async drain({
      accepting = true,
      closeShared,
    }: DrainOptions = {}): Promise<number> {
      server.leave();
      if (accepting) await pause(httpLimits.drainDelay);
      const socket = socketOf(listener);
      if (accepting && closeShared && !isBeside)
        await acceptWaiting(listener, closeShared);
      // The queue of an inherited socket waits for the next process.
      else if (accepting && socket && !isBeside && !isInherited)
        await acceptAll(socket);
      else await acceptWaiting(listener);
      const closed = stopAccepting();
      if (!accepting) await pause(httpLimits.drainDelay);
      const cutOff = await endConnections(closed);
      server.stop();
      return cutOff;
    },
  };

  function stopAccepting(): Promise<void> {
    return new Promise((resolve) => listener.close(() => resolve()));
  }

  async function endConnections(closed: Promise<void>): Promise<number> {
    let cutOff = 0;
    // An immediate comes after the reads of its turn.
    const sweeps = setInterval(
      () => setImmediate(() => server.endQuiet()),
      SWEEP,
    );
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
