import {
  BodyStream,
  type ClientConnection,
  type ClientRequest,
  type FieldLines,
  oneByte,
  type ResponseReceiver,
} from '@storegate/http1';
import { Outage } from '../../common/errors/outage.ts';
import type { AttemptSpan, RequestSpan } from '../../observe/events.ts';
import {
  newSpanId,
  TRACE_FIELDS,
  traceparentAt,
} from '../../observe/tracing/request-span.ts';
import type { RequestFields } from './headers.ts';
import { type BackendHandle, outageOf } from './upstream.ts';

const [TRACEPARENT, TRACESTATE] = TRACE_FIELDS.map(oneByte);

export function tracedFields(requestFields: RequestFields): RequestFields {
  return (exchange, client, plain) => {
    const lines = requestFields(exchange, client, plain);
    const span = exchange.span!;
    const { id } = added(span);
    lines.addKnown(TRACEPARENT!, traceparentAt(span, id));
    if (span.state !== null) lines.addKnown(TRACESTATE!, span.state);
    return lines;
  };
}

export function watched(
  span: RequestSpan,
  fields: FieldLines,
  { identity }: BackendHandle,
  taker: ResponseReceiver,
): ResponseReceiver {
  const last = span.attempts.at(-1)!;
  const attempt = last.startedAt === 0 ? last : added(span);
  if (attempt !== last)
    fields.text = fields.text.replace(
      traceparentAt(span, last.id),
      traceparentAt(span, attempt.id),
    );
  attempt.startedAt = performance.now();
  attempt.backend = identity.backend;
  return {
    begun: () => taker.begun(),
    receive(response) {
      attempt.endedAt = performance.now();
      attempt.status = response.status;
      taker.receive(response);
    },
    fail(error) {
      const outage = outageOf(error);
      attempt.endedAt = performance.now();
      attempt.error = outage instanceof Outage ? outage.code : 'request_broken';
      taker.fail(error);
    },
  };
}

function added(span: RequestSpan): AttemptSpan {
  const attempt: AttemptSpan = {
    id: newSpanId(),
    backend: null,
    startedAt: 0,
    endedAt: 0,
    status: null,
    error: null,
  };
  span.attempts.push(attempt);
  return attempt;
}

/** Milliseconds. */
const TRIAL_TIMEOUT = 40;

interface Waiting extends ResponseReceiver {
  /** The response is discarded. */
  detach(): void;
}

interface HalfOpenParts {
  readonly backend: BackendHandle;
  readonly epoch: number;
  readonly connection: ClientConnection;
  readonly request: ClientRequest;
}

/**
 * If the backend still hangs, another one serves the client, and the request continues alone as a
 * probe. Only for safe requests.
 */
export function halfOpen(
  taker: Waiting,
  { backend, epoch, connection, request }: HalfOpenParts,
): ResponseReceiver {
  let begunAt = 0;
  let isAlone = false;
  const timer = setTimeout(() => {
    isAlone = true;
    taker.detach();
  }, TRIAL_TIMEOUT);
  return {
    begun() {
      begunAt = performance.now();
      if (!isAlone) taker.begun();
    },
    receive(response) {
      clearTimeout(timer);
      if (!isAlone) {
        taker.receive(response);
        return;
      }
      backend.responded(response.status, epoch, begunAt);
      if (response.body instanceof BodyStream) connection.cancel(request);
    },
    fail(error) {
      clearTimeout(timer);
      if (isAlone) backend.failed(error, epoch);
      else taker.fail(error);
    },
  };
}
