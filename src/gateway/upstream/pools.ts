import { type OpenerOptions, openerTo, Pool, type PoolLimits } from '@storegate/http1';
import type { Upstream } from '../../config/config.ts';

/** More would wait until their clients give up. */
const WAITING_PER_CONNECTION = 8;

type Timeouts = Pick<Upstream, 'connectTimeout' | 'headersTimeout' | 'bodyTimeout'>;
type Settings = Timeouts & Pick<Upstream, 'connections' | 'minResponseRate'>;

export function poolTo(url: string, limits: PoolLimits, options: OpenerOptions): Pool {
  const origin = new URL(url);
  const basePath = origin.pathname.replace(/\/$/, '');
  return new Pool({ ...limits, host: origin.host, basePath, open: openerTo(origin, options) });
}

export function tunnelsTo(url: string, timeouts: Timeouts, secure: Pick<OpenerOptions, 'tls' | 'lookup'> = {}): Pool {
  return poolTo(url, tunnelLimitsOf({ ...timeouts, minResponseRate: 0 }), { ...secure, tunnels: true });
}

export function limitsOf(settings: Settings): PoolLimits {
  const { connections, connectTimeout, headersTimeout, bodyTimeout, minResponseRate } = settings;
  return {
    connections,
    mostWaiting: connections * WAITING_PER_CONNECTION,
    connectTimeout,
    headTimeout: headersTimeout,
    bodyTimeout,
    minReadRate: minResponseRate,
  };
}

export function tunnelLimitsOf(settings: Omit<Settings, 'connections'>): PoolLimits {
  return { ...limitsOf({ ...settings, connections: Number.POSITIVE_INFINITY }), mostWaiting: 0 };
}
