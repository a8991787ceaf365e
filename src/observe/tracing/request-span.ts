import type { Tracing as Settings } from '../../config/config.ts';
import type { RequestSpan } from '../events.ts';
import { newSpanId, newTraceId } from './ids.ts';
import type { Samples } from './sampling.ts';
import { limitedState } from './state.ts';

/** Well-formed; see `gateway/wire/trace-context.ts`. */
export interface ClientTrace {
  /** In the form of version 00, 55 characters. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** `isTrusted`: the request came through a trusted proxy. `startedAt`: on the clock of `performance.now()`. */
export type BeginSpan = (caller: ClientTrace, isTrusted: boolean, startedAt: number) => RequestSpan;

export const TRACE_FIELDS = ['traceparent', 'tracestate'] as const;

export function traceparentAt({ traceId, flags }: RequestSpan, id: string): string {
  return `00-${traceId}-${id}-${flags}`;
}

/** `sampled`, and `random` of W3C Trace Context level 2. */
const SAMPLED = 1;
const RANDOM = 2;

/** Requests without spans also have ids, so that the logs of the backend and the gateway name the same trace. */
export function createBegin(parents: Settings['parents'], samples: Samples): BeginSpan {
  return ({ traceparent, tracestate }, isTrusted, startedAt) => {
    const accepted = traceparent !== undefined && (parents === 'any' || (parents === 'proxies' && isTrusted));
    if (!accepted) {
      const traceId = newTraceId();
      return spanOf(traceId, null, samples(traceId, null), RANDOM, null, startedAt);
    }
    const traceId = traceparent.slice(3, 35);
    const flags = Number.parseInt(traceparent.slice(53), 16);
    const sampled = samples(traceId, (flags & SAMPLED) !== 0);
    const state = tracestate === undefined ? null : limitedState(tracestate);
    return spanOf(traceId, traceparent.slice(36, 52), sampled, flags & RANDOM, state, startedAt);
  };
}

function spanOf(
  traceId: string,
  parentId: string | null,
  sampled: boolean,
  random: number,
  state: string | null,
  startedAt: number,
): RequestSpan {
  const flags = `0${random | (sampled ? SAMPLED : 0)}`;
  return { traceId, id: newSpanId(), parentId, sampled, flags, startedAt, state, attempts: [] };
}
