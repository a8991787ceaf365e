import { randomUUID } from 'node:crypto';
import { readVersion } from '../../common/version.ts';
import type { Tracing as Settings } from '../../config/config.ts';
import type { Observe } from '../events.ts';
import { createExporter, createOutbox } from './export.ts';
import { type BeginSpan, createBegin, createSamples } from './request-span.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { createPresetIds, createSpanMaker } from './spans.ts';

/** Milliseconds at shutdown for the last spans. */
const FLUSH = 2_000;

export interface Tracing {
  /** The endpoint is that of the start. */
  begin(settings: Pick<Settings, 'sampler' | 'ratio' | 'parents'>): BeginSpan;
  readonly observe: Observe;
  close(): Promise<void>;
}

/** `null`: no tracing. */
export function tracesEndpointOf({
  exporter,
  tracesEndpoint,
  endpoint,
}: Settings): string | null {
  if (exporter === 'none') return null;
  return (
    tracesEndpoint ??
    (endpoint === null ? null : `${endpoint.replace(/\/+$/, '')}/v1/traces`)
  );
}

/** Returns `null` without an endpoint. `worker` `null`: a gateway of one process. */
export async function openTracing(
  settings: Settings,
  {
    worker,
    observe,
  }: { readonly worker: number | null; readonly observe: Observe },
): Promise<Tracing | null> {
  const url = tracesEndpointOf(settings);
  if (url === null) return null;
  const sdk = await loadSdk();
  const stopped = new AbortController();
  const outbox = createOutbox(
    sdk,
    await createExporter(url, settings, stopped.signal),
    settings,
    observe,
  );
  const given = createPresetIds();
  const provider = new sdk.trace.TracerProvider({
    resource: resourceOf(sdk, settings, worker),
    idGenerator: given,
    // Sampling was decided at the start of the request.
    sampler: new sdk.trace.AlwaysOnSampler(),
    spanProcessors: [outbox.processor],
  });
  const tracer = provider.getTracer('storegate', readVersion());
  return {
    begin: (settings) =>
      createBegin(settings.parents, createSamples(sdk, settings)),
    observe: createSpanMaker(sdk, tracer, given, settings.clientAddress),
    async close() {
      if (!(await outbox.close(FLUSH))) stopped.abort();
    },
  };
}

function resourceOf(
  { resources }: Sdk,
  { serviceName: service, resourceAttributes: resource }: Settings,
  worker: number | null,
) {
  const instance = resource?.['service.instance.id'];
  return resources.defaultResource().merge(
    resources.resourceFromAttributes({
      'service.name': 'storegate',
      'service.version': readVersion(),
      ...resource,
      ...(service !== null && { 'service.name': service }),
      'service.instance.id':
        instance === undefined
          ? randomUUID()
          : worker === null
            ? instance
            : `${instance}-${worker}`,
    }),
  );
}
