import type * as Api from '@opentelemetry/api';
import type * as Resources from '@opentelemetry/resources';
import type * as Trace from '@opentelemetry/sdk-trace';

/** What is used of OpenTelemetry's own packages. */
export interface Sdk {
  readonly api: typeof Api;
  readonly trace: typeof Trace;
  readonly resources: typeof Resources;
}

/** Loads them, and nothing else does: a gateway without an endpoint has none of them in memory (a test holds it). */
export async function loadSdk(): Promise<Sdk> {
  const [api, trace, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  return { api, trace, resources };
}

/** The exporter of one protocol. */
export async function loadExporter(protocol: 'http/protobuf' | 'http/json') {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return OTLPTraceExporter;
}
