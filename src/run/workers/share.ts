import type { ServedConfig } from '../../config/config.ts';
import { MIN_BODY_BUDGET } from '../../config/config.ts';
import { mostPerAddress } from '../../gateway/wire/connection-limits.ts';

export function shareOf(config: ServedConfig, workers: number): ServedConfig {
  const part = (whole: number) => Math.ceil(whole / workers);
  return {
    ...config,
    upstream: { ...config.upstream, connections: part(config.upstream.connections) },
    upstreams: Object.fromEntries(
      Object.entries(config.upstreams).map(([name, one]) => [name, { ...one, connections: part(one.connections) }]),
    ),
    http: {
      ...config.http,
      maxConnections: part(config.http.maxConnections),
      maxConnectionsPerAddress: part(mostPerAddress(config.http)),
      bodyBudget: Math.max(part(config.http.bodyBudget), MIN_BODY_BUDGET * config.http.maxBodyBytes),
    },
  };
}
