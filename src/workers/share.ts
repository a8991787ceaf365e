import type { ServedConfig } from '../run/serving.ts';

/** One worker's share of the gateway's limits: connections from callers, and connections to the store. */
export function shareOf(config: ServedConfig, workers: number): ServedConfig {
  const part = (whole: number) => Math.ceil(whole / workers);
  return {
    ...config,
    upstream: { ...config.upstream, connections: part(config.upstream.connections) },
    door: { ...config.door, maxConnections: part(config.door.maxConnections) },
  };
}
