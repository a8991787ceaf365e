import type { ServedConfig } from '../run/serving.ts';

/** What one of several workers may take of what the whole gateway may: connections of callers, and to the store. */
export function shareOf(config: ServedConfig, workers: number): ServedConfig {
  const part = (whole: number) => Math.ceil(whole / workers);
  return {
    ...config,
    upstream: { ...config.upstream, connections: part(config.upstream.connections) },
    door: { ...config.door, maxConnections: part(config.door.maxConnections) },
  };
}
