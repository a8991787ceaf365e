import type {
  ClientError,
  ClientResponse,
  FieldLines,
  ResponseReceiver,
} from '@storegate/http1';
import { oneByte } from '@storegate/http1';
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
) {
  const last = span.attempts.at(-1)!;
  const attempt = last.startedAt === 0 ? last : added(span);
  if (attempt !== last)
    fields.text = fields.text.replace(
      traceparentAt(span, last.id),
      traceparentAt(span, attempt.id),
    );
  attempt.startedAt = performance.now();
  attempt.backend = identity.backend;
  return new Watched(attempt, taker);
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

class Watched implements ResponseReceiver {
  readonly #attempt: AttemptSpan;
  readonly #taker: ResponseReceiver;

  constructor(attempt: AttemptSpan, taker: ResponseReceiver) {
    this.#attempt = attempt;
    this.#taker = taker;
  }

  begun(): void {
    this.#taker.begun();
  }

  answer(answer: ClientResponse): void {
    this.#attempt.endedAt = performance.now();
    this.#attempt.status = answer.status;
    this.#taker.answer(answer);
  }

  fail(error: ClientError): void {
    const outage = outageOf(error);
    this.#attempt.endedAt = performance.now();
    this.#attempt.error =
      outage instanceof Outage ? outage.code : 'request_broken';
    this.#taker.fail(error);
  }
}
