import { randomFillSync } from 'node:crypto';
import type { Tracing as Settings } from '../../config/config.ts';
import type { RequestSpan } from '../events.ts';
import type { Sdk } from './sdk.ts';

/** Well-formed; see `gateway/wire/trace-context.ts`. */
interface ClientTrace {
  /** In the form of version 00, 55 characters. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/**
 * `isTrusted`: the request came through a trusted proxy. `startedAt`: on the clock of
 * `performance.now()`.
 */
export type BeginSpan = (
  parent: ClientTrace,
  isTrusted: boolean,
  startedAt: number,
) => RequestSpan;

export const TRACE_FIELDS = ['traceparent', 'tracestate'] as const;

export function traceparentAt(
  { traceId, flags }: RequestSpan,
  id: string,
): string {
  return `00-${traceId}-${id}-${flags}`;
}

/** `sampled`, and `random` of W3C Trace Context level 2. */
const SAMPLED = 1;
const RANDOM = 2;

/**
 * Requests without spans also have ids, so that the logs of the backend and the gateway name the
 * same trace.
 */
export function createBegin(
  parents: Settings['parents'],
  samples: Samples,
): BeginSpan {
  return ({ traceparent, tracestate }, isTrusted, startedAt) => {
    const isAccepted =
      parents === 'any' || (parents === 'proxies' && isTrusted);
    const parent = isAccepted && traceparent !== undefined ? traceparent : null;
    const traceId = parent === null ? newTraceId() : parent.slice(3, 35);
    const parentFlags =
      parent === null ? RANDOM : Number.parseInt(parent.slice(53), 16);
    const sampled = samples(
      traceId,
      parent === null ? null : (parentFlags & SAMPLED) !== 0,
    );
    const flags = `0${(parentFlags & RANDOM) | (sampled ? SAMPLED : 0)}`;
    const parentId = parent === null ? null : parent.slice(36, 52);
    const state =
      parent === null || tracestate === undefined
        ? null
        : limitedState(tracestate);
    return {
      traceId,
      id: newSpanId(),
      parentId,
      sampled,
      flags,
      startedAt,
      state,
      attempts: [],
    };
  };
}

/** `parent`: the client's decision; `null`: none. */
type Samples = (traceId: string, parent: boolean | null) => boolean;

/** The ratio sampler is the SDK's, so that all its users choose the same traces. */
export function createSamples(
  { api, trace }: Sdk,
  { sampler, ratio }: Pick<Settings, 'sampler' | 'ratio'>,
): Samples {
  const byRatio = new trace.TraceIdRatioBasedSampler(ratio);
  const always = ALWAYS[sampler.replace('parentbased_', '')];
  const own =
    always === undefined
      ? (traceId: string) =>
          byRatio.shouldSample(api.ROOT_CONTEXT, traceId).decision ===
          trace.SamplingDecision.RECORD_AND_SAMPLED
      : () => always;
  return sampler.startsWith('parentbased_')
    ? (traceId, parent) => parent ?? own(traceId)
    : own;
}

const ALWAYS: Readonly<Record<string, boolean>> = {
  always_on: true,
  always_off: false,
};

/** Characters. Limits of W3C Trace Context section 3.3.1.5. */
const ENOUGH = 512;
const LARGE = 128;

/** If a tracestate exceeds 512 characters, drops large members first, then the last. */
function limitedState(state: string): string {
  if (state.length <= ENOUGH) return state;
  let length = state.length;
  const members = state.split(',').filter((member) => {
    if (length <= ENOUGH || member.length <= LARGE) return true;
    length -= member.length + 1;
    return false;
  });
  while (length > ENOUGH) length -= members.pop()!.length + 1;
  return members.join(',');
}

/** Bytes drawn at once; single draws are much slower. */
const POOL = 4_096;

const pool = Buffer.allocUnsafe(POOL);
let at = POOL;

/** W3C Trace Context: random, lower-case hex, never only zeros. */
export const newTraceId = (): string => draw(16);
export const newSpanId = (): string => draw(8);

function draw(bytes: number): string {
  if (at + bytes > POOL) {
    randomFillSync(pool);
    at = 0;
  }
  const from = at;
  at += bytes;
  const id = pool.toString('hex', from, at);
  return /^0+$/.test(id) ? draw(bytes) : id;
}
