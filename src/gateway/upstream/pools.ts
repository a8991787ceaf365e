import {
  createPool,
  type OpenerOptions,
  openerTo,
  type Pool,
  type PoolLimits,
} from '@storegate/http1';
import type { Upstream } from '../../config/config.ts';

/** More would wait until their clients give up. */
const WAITING_PER_CONNECTION = 8;

export type Timeouts = Pick<
  Upstream,
  'connectTimeout' | 'headersTimeout' | 'bodyTimeout' | 'keepAliveTimeout'
>;

export function poolTo(
  url: string,
  limits: PoolLimits,
  options: OpenerOptions,
): Pool {
  const origin = new URL(url);
  const basePath = origin.pathname.replace(/\/$/, '');
  return createPool({
    ...limits,
    host: origin.host,
    basePath,
    open: openerTo(origin, options),
  });
}

export function tunnelsTo(
  url: string,
  timeouts: Timeouts,
  secure: Pick<OpenerOptions, 'tls' | 'lookup'> = {},
): Pool {
  return poolTo(url, tunnelLimitsOf(timeouts), { ...secure, tunnels: true });
}

export function limitsOf(settings: Upstream): PoolLimits {
  return {
    ...settings,
    mostWaiting: settings.connections * WAITING_PER_CONNECTION,
  };
}

export function tunnelLimitsOf(timeouts: Timeouts): PoolLimits {
  return { ...timeouts, connections: Number.POSITIVE_INFINITY, mostWaiting: 0 };
}
