import type { Tracing as Settings } from '../../config/config.ts';

/** The URL that spans go to; `null`: there are none. */
export function tracesEndpointOf({ exporter, tracesEndpoint, endpoint }: Settings): string | null {
  if (exporter === 'none') return null;
  return tracesEndpoint ?? (endpoint === null ? null : `${endpoint.replace(/\/+$/, '')}/v1/traces`);
}
