import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Tracing as Settings } from '../../config/config.ts';
import type { Sdk } from './sdk.ts';

/** `parent`: the client's decision; `null`: none. */
export type Samples = (traceId: string, parent: boolean | null) => boolean;

/** The ratio sampler is the SDK's, so that all its users choose the same traces. */
export function createSamples({ api, trace }: Sdk, { sampler, ratio }: Pick<Settings, 'sampler' | 'ratio'>): Samples {
  switch (sampler) {
    case 'always_on':
      return () => true;
    case 'always_off':
      return () => false;
    case 'traceidratio':
      return decidedBy(new trace.TraceIdRatioBasedSampler(ratio));
    case 'parentbased_always_on':
      return (_traceId, parent) => parent ?? true;
    case 'parentbased_always_off':
      return (_traceId, parent) => parent ?? false;
    case 'parentbased_traceidratio': {
      const decide = decidedBy(new trace.TraceIdRatioBasedSampler(ratio));
      return (traceId, parent) => parent ?? decide(traceId);
    }
  }

  function decidedBy(own: Sampler): (traceId: string) => boolean {
    return (traceId) =>
      own.shouldSample(api.ROOT_CONTEXT, traceId, '', api.SpanKind.SERVER, {}, []).decision ===
      trace.SamplingDecision.RECORD_AND_SAMPLED;
  }
}
