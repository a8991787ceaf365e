import type { StoreAddress, Upstream as UpstreamSettings } from '../../config/config.ts';
import { storeLabel } from '../../config/upstreams.ts';
import type { StoreStatus } from '../../fleet/status.ts';
import { type OpenerOptions, openerTo, Pool, type PoolLimits } from '../../http1/pool.ts';
import type { ClientTls } from '../../tls/client.ts';

/** Requests that may wait for each allowed connection; more would only wait until their callers give up. */
const WAITING_PER_CONNECTION = 8;

type Timeouts = Pick<UpstreamSettings, 'connectTimeout' | 'headersTimeout' | 'bodyTimeout'>;

/** One store, and the connections to it. */
export class Store {
  readonly url: string;
  /** Its host and port. */
  readonly name: string;
  readonly upstream: string;
  readonly pool: Pool;
  /** For WebSockets. */
  readonly tunnels: () => Pool;
  #weight: number;
  #settings: UpstreamSettings;
  #tls: ClientTls;
  #tunnels: Pool | null = null;
  readonly #since = Date.now();

  constructor(upstream: string, { url, weight }: StoreAddress, settings: UpstreamSettings, tls: ClientTls) {
    const origin = new URL(url);
    this.url = url;
    this.name = storeLabel(url);
    this.upstream = upstream;
    this.#weight = weight;
    this.#settings = settings;
    this.#tls = tls;
    const secure = { tls: () => this.#tls };
    this.pool = new Pool({ ...limitsOf(settings), ...addressOf(origin), open: openerTo(origin, secure) });
    this.tunnels = () => {
      this.#tunnels ??= tunnelsTo(url, this.#settings, secure);
      return this.#tunnels;
    };
  }

  get weight(): number {
    return this.#weight;
  }

  /** Requests that it has to answer. */
  get load(): number {
    return this.pool.load;
  }

  get status(): StoreStatus {
    const { name: store, upstream, weight } = this;
    const connections = this.pool.status;
    return {
      upstream,
      store,
      weight,
      state: 'up',
      since: this.#since,
      reason: null,
      inFlight: connections.open - connections.idle,
      ...connections,
      requests: 0,
      failures: 0,
      retries: 0,
    };
  }

  /** Other settings of the same store. */
  use({ weight }: StoreAddress, settings: UpstreamSettings, tls: ClientTls): void {
    this.#tls = tls;
    this.#weight = weight;
    this.#settings = settings;
    this.pool.use(limitsOf(settings));
    this.#tunnels?.use({ ...limitsOf(settings), ...UNLIMITED });
  }

  /** It is in no settings any more: requests that were given to it are finished. */
  retire(): void {
    this.pool.retire();
    this.#tunnels?.retire();
  }

  close(): void {
    this.pool.close();
    this.#tunnels?.close();
  }
}

const UNLIMITED = { connections: Number.POSITIVE_INFINITY, mostWaiting: 0 };

/** Connections that may change their protocol: as many as there are callers who want such. */
export function tunnelsTo(url: string, timeouts: Timeouts, secure: Pick<OpenerOptions, 'tls'> = {}): Pool {
  const origin = new URL(url);
  const limits = limitsOf({ ...timeouts, connections: 0 });
  return new Pool({
    ...limits,
    ...UNLIMITED,
    ...addressOf(origin),
    open: openerTo(origin, { ...secure, tunnels: true }),
  });
}

function limitsOf(settings: Timeouts & Pick<UpstreamSettings, 'connections'>): PoolLimits {
  const { connections, connectTimeout, headersTimeout, bodyTimeout } = settings;
  const mostWaiting = connections * WAITING_PER_CONNECTION;
  return { connections, mostWaiting, connectTimeout, headTimeout: headersTimeout, bodyTimeout };
}

function addressOf({ host, pathname }: URL): { host: string; basePath: string } {
  return { host, basePath: pathname.replace(/\/$/, '') };
}
