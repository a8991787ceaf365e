import type * as Api from '@opentelemetry/api';
import type * as Resources from '@opentelemetry/resources';
import type * as Trace from '@opentelemetry/sdk-trace';

export interface Sdk {
  readonly api: typeof Api;
  readonly trace: typeof Trace;
  readonly resources: typeof Resources;
}

/** Loaded on demand: a gateway without an endpoint has none of these packages in memory. */
export async function loadSdk(): Promise<Sdk> {
  const [api, trace, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  return { api, trace, resources };
}

export async function loadExporter(protocol: 'http/protobuf' | 'http/json') {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return OTLPTraceExporter;
}
