import type { Tracing as Settings } from '../../config/config.ts';

/** `null`: no tracing. */
export function tracesEndpointOf({ exporter, tracesEndpoint, endpoint }: Settings): string | null {
  if (exporter === 'none') return null;
  return tracesEndpoint ?? (endpoint === null ? null : `${endpoint.replace(/\/+$/, '')}/v1/traces`);
}
