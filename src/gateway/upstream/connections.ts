import type { Upstream as UpstreamSettings } from '../../config/config.ts';
import { openerTo, Pool } from '../../http1/pool.ts';
import type { ClientTls } from '../../tls/client.ts';

/** Requests that may wait for each allowed connection; more would only wait until their callers give up. */
const WAITING_PER_CONNECTION = 8;

/** The store, and the connections to it. */
export interface Upstream {
  /** The path of the store's base URL, without a trailing slash; usually empty. */
  readonly basePath: string;
  readonly pool: Pool;
  close(): void;
}

/** `url` of the store, http or https, with an optional base path. `tls` is asked for each connection. */
export function createUpstream(
  url: string,
  settings: Omit<UpstreamSettings, 'url' | 'tls'>,
  tls?: () => ClientTls,
): Upstream {
  const origin = new URL(url);
  const { connections, connectTimeout, headersTimeout, bodyTimeout } = settings;
  const pool = new Pool({
    connections,
    mostWaiting: connections * WAITING_PER_CONNECTION,
    connectTimeout,
    headTimeout: headersTimeout,
    bodyTimeout,
    host: origin.host,
    open: openerTo(origin, tls && { tls }),
  });
  return { basePath: origin.pathname.replace(/\/$/, ''), pool, close: () => pool.close() };
}
