import type {
  Attributes,
  Context,
  HrTime,
  Span,
  Tracer,
} from '@opentelemetry/api';
import type {
  AttemptSpan,
  Event,
  Observe,
  RequestEvent,
  RequestSpan,
  RequestTrace,
} from '../events.ts';
import type { Sdk } from './sdk.ts';

/** The ids were already sent to the backend. */
export function createPresetIds() {
  let [traceId, spanId] = ['', ''];
  return {
    give(trace: string, span: string): void {
      traceId = trace;
      spanId = span;
    },
    generateTraceId: () => traceId,
    generateSpanId: () => spanId,
  };
}

interface Place {
  readonly route: string | null;
  readonly index: number;
  readonly isLast: boolean;
  /** On the clock of `performance.now()`. */
  readonly endedAt: number;
}

export function createSpanMaker(
  { api }: Sdk,
  tracer: Tracer,
  ids: ReturnType<typeof createPresetIds>,
  clientAddress: boolean,
): Observe {
  const clock = createClock();

  function observe(event: Event): void {
    if (event.type !== 'request') return;
    const { trace } = event;
    if (trace?.span?.sampled) make(event, trace, trace.span);
  }

  function make(
    event: RequestEvent,
    trace: RequestTrace,
    span: RequestSpan,
  ): void {
    const { startedAt } = span;
    const endedAt = startedAt + event.duration;
    const route = trace.path;
    clock.look();
    ids.give(span.traceId, span.id);
    const own = tracer.startSpan(
      nameOf(event, route),
      {
        kind: api.SpanKind.SERVER,
        startTime: clock.at(startedAt),
        attributes: attributesOf(event, route),
      },
      contextOf(span),
    );
    addSteps(own, event, trace, startedAt);
    if (event.status >= 500) own.setStatus({ code: api.SpanStatusCode.ERROR });
    const inside = api.trace.setSpan(api.ROOT_CONTEXT, own);
    const begun = span.attempts.filter((attempt) => attempt.startedAt > 0);
    begun.forEach((attempt, index) => {
      const place = {
        route,
        index,
        isLast: index === begun.length - 1,
        endedAt,
      };
      makeAttempt(event, span.traceId, attempt, place, inside);
    });
    own.end(clock.at(endedAt));
  }

  function contextOf({ traceId, parentId, state }: RequestSpan): Context {
    if (parentId === null) return api.ROOT_CONTEXT;
    const traceFlags = api.TraceFlags.SAMPLED;
    const remote = { traceId, spanId: parentId, traceFlags, isRemote: true };
    return api.trace.setSpanContext(
      api.ROOT_CONTEXT,
      state === null
        ? remote
        : { ...remote, traceState: api.createTraceState(state) },
    );
  }

  function addSteps(
    own: Span,
    { upstream, verdict }: RequestEvent,
    trace: RequestTrace,
    startedAt: number,
  ): void {
    const { authenticated, admitted, forwarded } = trace;
    if (authenticated !== null)
      own.addEvent('authenticated', clock.at(startedAt + authenticated));
    if (admitted !== null)
      own.addEvent(
        'admitted',
        { 'storegate.verdict': verdict ?? 'none' },
        clock.at(startedAt + admitted),
      );
    if (forwarded === null) return;
    own.addEvent('forwarded', clock.at(startedAt + forwarded));
    if (upstream !== null)
      own.addEvent('answered', clock.at(startedAt + forwarded + upstream));
  }

  function makeAttempt(
    event: RequestEvent,
    traceId: string,
    attempt: AttemptSpan,
    { route, index, isLast, endedAt }: Place,
    inside: Context,
  ) {
    const { method, status, code } = event;
    // A WebSocket has only the 101.
    const responseStatus = attempt.status ?? (status === 101 ? status : null);
    // The code of the response is more exact for the last attempt.
    const failed =
      responseStatus === null
        ? ((isLast ? code : null) ?? attempt.error ?? '_OTHER')
        : null;
    const error =
      failed ??
      (responseStatus !== null && responseStatus >= 400
        ? `${responseStatus}`
        : null);
    ids.give(traceId, attempt.id);
    const made = tracer.startSpan(
      nameOf(event, route),
      {
        kind: api.SpanKind.CLIENT,
        startTime: clock.at(attempt.startedAt),
        attributes: {
          'http.request.method': method,
          ...serverIn(attempt.backend),
          ...(route !== null && { 'url.template': route }),
          ...(responseStatus !== null && {
            'http.response.status_code': responseStatus,
          }),
          ...(error !== null && { 'error.type': error }),
          ...(index > 0 && { 'http.request.resend_count': index }),
        },
      },
      inside,
    );
    if (error !== null) made.setStatus({ code: api.SpanStatusCode.ERROR });
    made.end(clock.at(attempt.endedAt > 0 ? attempt.endedAt : endedAt));
  }

  /**
   * Semantic conventions for HTTP, without values that a client sent: a path or query may hold
   * secrets.
   */
  function attributesOf(event: RequestEvent, route: string | null): Attributes {
    const {
      id,
      method,
      api: apiName,
      operation,
      status,
      code,
      verdict,
      keyId,
      account,
      plan,
      address,
    } = event;
    return {
      'http.request.method': method === 'other' ? '_OTHER' : method,
      ...(route !== null && { 'http.route': route }),
      ...(status !== NO_RESPONSE && { 'http.response.status_code': status }),
      ...(status >= 500 && { 'error.type': code ?? `${status}` }),
      ...(clientAddress && { 'client.address': address }),
      'storegate.request_id': id,
      ...(apiName !== null && { 'storegate.api': apiName }),
      'storegate.operation': operation,
      ...(code !== null && { 'storegate.code': code }),
      ...(verdict !== null && { 'storegate.verdict': verdict }),
      ...(keyId !== null && { 'storegate.key_id': keyId }),
      ...(account !== null && { 'storegate.account': account }),
      ...(plan !== null && { 'storegate.plan': plan }),
    };
  }

  return observe;
}

/** The status of aborted requests. */
const NO_RESPONSE = 499;

function nameOf({ method }: RequestEvent, route: string | null): string {
  const verb = method === 'other' ? 'HTTP' : method;
  return route === null ? verb : `${verb} ${route}`;
}

/** `backend`: host and port. */
function serverIn(backend: string | null): Attributes {
  const at = backend === null ? -1 : backend.lastIndexOf(':');
  if (at < 0) return {};
  return {
    'server.address': backend!.slice(0, at),
    'server.port': Number(backend!.slice(at + 1)),
  };
}

/** Milliseconds; `Date.now()` has whole ones. */
const TOLERANCE = 2;

/** Converts `performance.now()`, which ignores clock changes, to the time of day. */
function createClock() {
  let offset = performance.timeOrigin;
  return {
    look(): void {
      const latest = Date.now() - performance.now();
      if (Math.abs(latest - offset) > TOLERANCE) offset = latest;
    },
    at(time: number): HrTime {
      const milliseconds = offset + time;
      const seconds = Math.floor(milliseconds / 1_000);
      return [seconds, Math.floor((milliseconds - seconds * 1_000) * 1e6)];
    },
  };
}
