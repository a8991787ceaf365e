import { buildConnector, Client } from 'undici';
import type { Upstream as UpstreamSettings } from '../../config/config.ts';
import { Outage } from '../../errors/outage.ts';

/** Requests that may wait for each allowed connection; more would only wait until their callers give up. */
const WAITING_PER_CONNECTION = 8;

/** One connection to the store, held by one request until it gives it back. */
export interface Lease {
  readonly client: Client;
  giveBack(): void;
}

/** The connections to the store: kept alive, the most recently used first, never more than allowed. */
export interface Upstream {
  /** The path of the store's base URL, without a trailing slash; usually empty. */
  readonly basePath: string;
  /**
   * A connection for one request, at once if one is free. Fails with Outage `upstream_busy` if too many wait, or too long.
   */
  lease(): Lease | Promise<Lease>;
  /** Whether `error` ended a connection that had served before, as usually happens to an idle one. */
  diedReused(error: Error): boolean;
  close(): Promise<void>;
}

/** `url` of the store, http or https, with an optional base path. Undici's own pool would cost a tenth more CPU. */
export function createUpstream(url: string, settings: Omit<UpstreamSettings, 'url'>): Upstream {
  const { origin, pathname } = new URL(url);
  const { connect, diedReused } = watchedConnector(settings.connectTimeout);
  const options: Client.Options = {
    headersTimeout: settings.headersTimeout,
    bodyTimeout: settings.bodyTimeout,
    connect,
  };
  const leases: Lease[] = [];
  const idle: Lease[] = [];
  const waiting: Waiting[] = [];

  function open(): Lease {
    const lease: Lease = {
      client: new Client(origin, options),
      giveBack() {
        const next = waiting.shift();
        if (next) next.take(lease);
        else idle.push(lease);
      },
    };
    leases.push(lease);
    return lease;
  }

  function wait(): Promise<Lease> {
    if (waiting.length >= settings.connections * WAITING_PER_CONNECTION) throw busy();
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        waiting.splice(waiting.indexOf(place), 1);
        reject(busy());
      }, settings.headersTimeout);
      const place: Waiting = {
        take(lease) {
          clearTimeout(deadline);
          resolve(lease);
        },
      };
      waiting.push(place);
    });
  }

  return {
    basePath: pathname.replace(/\/$/, ''),
    lease: () => idle.pop() ?? (leases.length < settings.connections ? open() : wait()),
    diedReused,
    close: async () => void (await Promise.all(leases.map(({ client }) => client.destroy()))),
  };
}

interface Waiting {
  take(lease: Lease): void;
}

function busy(): Outage {
  return new Outage('upstream_busy', { headers: ['Retry-After', '1'] });
}

/** How the end of a connection shows: a reset, a write to a closed one, and undici's word for an orderly end. */
const CLOSED_BY_STORE = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Undici's connector, but listens to each socket first: undici does not tell which socket an error came from. */
function watchedConnector(timeout: number): { connect: buildConnector.connector; diedReused: Upstream['diedReused'] } {
  const connect = buildConnector({ timeout });
  const deathsOfReused = new WeakSet<Error>();
  return {
    connect(options, callback) {
      connect(options, (...result) => {
        const [, socket] = result;
        socket?.once('error', (error: Error) => {
          if (socket.bytesRead > 0) deathsOfReused.add(error);
        });
        callback(...result);
      });
    },
    diedReused(error) {
      const { code = '', socket } = error as NodeJS.ErrnoException & { socket?: { bytesRead?: number } };
      // Undici also reports its own timeouts on the socket: a store that hangs has the request, and must not get it again.
      if (!CLOSED_BY_STORE.has(code)) return false;
      return deathsOfReused.has(error) || (socket?.bytesRead ?? 0) > 0;
    },
  };
}
