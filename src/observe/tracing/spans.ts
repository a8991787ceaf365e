import type { Attributes, Context, HrTime, Span, Tracer } from '@opentelemetry/api';
import type { AttemptSpan, Event, Observe, RequestEvent, RequestSpan, RequestTrace } from '../events.ts';
import type { Sdk } from './sdk.ts';

/** Hands the SDK the ids that were drawn when the request came, because the store has been told them. */
export class PresetIds {
  #trace = '';
  #span = '';

  give(trace: string, span: string): void {
    this.#trace = trace;
    this.#span = span;
  }

  generateTraceId(): string {
    return this.#trace;
  }

  generateSpanId(): string {
    return this.#span;
  }
}

export interface SpanMakerParts {
  readonly sdk: Sdk;
  readonly tracer: Tracer;
  readonly ids: PresetIds;
  /** Whether spans have the caller's address. */
  readonly clientAddress: boolean;
}

/** A request that has a span. */
interface Sampled {
  readonly event: RequestEvent;
  readonly trace: RequestTrace;
  readonly span: RequestSpan;
  /** On the clock of `performance.now()`. */
  readonly endedAt: number;
}

/** An attempt among those of its request. */
interface Place {
  readonly route: string | null;
  readonly index: number;
  readonly isLast: boolean;
}

/** Makes the spans of a request from its event: its own, with the steps as events, and one for each attempt at a store. */
export function createSpanMaker({ sdk, tracer, ids, clientAddress }: SpanMakerParts): Observe {
  const { api } = sdk;
  const clock = new Clock();

  function observe(event: Event): void {
    if (event.type !== 'request') return;
    const { trace, duration } = event;
    const span = trace?.span;
    if (trace === undefined || span === undefined || span === null || !span.sampled) return;
    make({ event, trace, span, endedAt: span.startedAt + duration });
  }

  function make(request: Sampled): void {
    const { event, trace, span, endedAt } = request;
    const { startedAt } = span;
    const route = routeOf(event, trace);
    clock.look();
    ids.give(span.traceId, span.id);
    const own = tracer.startSpan(
      nameOf(event, route),
      { kind: api.SpanKind.SERVER, startTime: clock.at(startedAt), attributes: attributesOf(event, route) },
      contextOf(span),
    );
    addSteps(own, event, trace, startedAt);
    if (event.status >= 500) own.setStatus({ code: api.SpanStatusCode.ERROR });
    const inside = api.trace.setSpan(api.ROOT_CONTEXT, own);
    const begun = span.attempts.filter((attempt) => attempt.startedAt > 0);
    begun.forEach((attempt, index) => {
      makeAttempt(request, attempt, { route, index, isLast: index === begun.length - 1 }, inside);
    });
    own.end(clock.at(endedAt));
  }

  function contextOf({ traceId, parentId, state }: RequestSpan): Context {
    if (parentId === null) return api.ROOT_CONTEXT;
    const traceFlags = api.TraceFlags.SAMPLED;
    const remote = { traceId, spanId: parentId, traceFlags, isRemote: true };
    return api.trace.setSpanContext(
      api.ROOT_CONTEXT,
      state === null ? remote : { ...remote, traceState: api.createTraceState(state) },
    );
  }

  function addSteps(own: Span, { upstream, verdict }: RequestEvent, trace: RequestTrace, startedAt: number): void {
    const { authenticated, admitted, forwarded } = trace;
    if (authenticated !== null) own.addEvent('authenticated', clock.at(startedAt + authenticated));
    if (admitted !== null)
      own.addEvent('admitted', { 'storegate.verdict': verdict ?? 'none' }, clock.at(startedAt + admitted));
    if (forwarded === null) return;
    own.addEvent('forwarded', clock.at(startedAt + forwarded));
    if (upstream !== null) own.addEvent('answered', clock.at(startedAt + forwarded + upstream));
  }

  function makeAttempt(
    { event, span, endedAt }: Sampled,
    attempt: AttemptSpan,
    { route, index, isLast }: Place,
    inside: Context,
  ) {
    const { method, status, code } = event;
    // A WebSocket has no answer but the switch.
    const answered = attempt.status ?? (status === 101 ? status : null);
    // What the caller was told of the last one is more exact.
    const failed = answered === null ? ((isLast ? code : null) ?? attempt.error ?? '_OTHER') : null;
    const error = failed ?? (answered !== null && answered >= 400 ? `${answered}` : null);
    ids.give(span.traceId, attempt.id);
    const made = tracer.startSpan(
      nameOf(event, route),
      {
        kind: api.SpanKind.CLIENT,
        startTime: clock.at(attempt.startedAt),
        attributes: {
          'http.request.method': method,
          ...serverIn(attempt.store),
          ...(route !== null && { 'url.template': route }),
          ...(answered !== null && { 'http.response.status_code': answered }),
          ...(error !== null && { 'error.type': error }),
          ...(index > 0 && { 'http.request.resend_count': index }),
        },
      },
      inside,
    );
    if (error !== null) made.setStatus({ code: api.SpanStatusCode.ERROR });
    made.end(clock.at(attempt.endedAt > 0 ? attempt.endedAt : endedAt));
  }

  /** By the semantic conventions for HTTP, and nothing that a caller sent: a path or a query may hold what is secret. */
  function attributesOf(event: RequestEvent, route: string | null): Attributes {
    const { id, method, operation, status, code, verdict, keyId, account, plan, address } = event;
    return {
      'http.request.method': method === 'other' ? '_OTHER' : method,
      ...(route !== null && { 'http.route': route }),
      ...(status !== NOT_ANSWERED && { 'http.response.status_code': status }),
      ...(status >= 500 && { 'error.type': code ?? `${status}` }),
      ...(clientAddress && { 'client.address': address }),
      'storegate.request_id': id,
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

/** The status of events about callers that left. */
const NOT_ANSWERED = 499;

/** The path as the contract or a mount has it; `null`: neither has it. */
function routeOf({ operation }: RequestEvent, { path }: RequestTrace): string | null {
  if (path !== null) return path;
  return operation.startsWith('mount ') ? `${operation.slice('mount '.length)}/*` : null;
}

function nameOf({ method }: RequestEvent, route: string | null): string {
  const verb = method === 'other' ? 'HTTP' : method;
  return route === null ? verb : `${verb} ${route}`;
}

/** `store`: host and port. */
function serverIn(store: string | null): Attributes {
  const at = store === null ? -1 : store.lastIndexOf(':');
  if (at < 0) return {};
  return { 'server.address': store!.slice(0, at), 'server.port': Number(store!.slice(at + 1)) };
}

/** Milliseconds by which the two clocks may differ before the newer difference counts: `Date.now()` has whole ones. */
const TOLERANCE = 2;

/** The time of day for times of `performance.now()`, which is finer, and knows nothing of clocks that are set. */
class Clock {
  #offset = performance.timeOrigin;

  look(): void {
    const offset = Date.now() - performance.now();
    if (Math.abs(offset - this.#offset) > TOLERANCE) this.#offset = offset;
  }

  at(time: number): HrTime {
    const milliseconds = this.#offset + time;
    const seconds = Math.floor(milliseconds / 1_000);
    return [seconds, Math.floor((milliseconds - seconds * 1_000) * 1e6)];
  }
}
