import {
  type CheckedLines,
  checkedLines,
  FieldLines,
  oneByte,
} from '@storegate/http1';
import type { Guard } from '../../common/clients/guard.ts';
import { Outage } from '../../common/errors/outage.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { remembered } from '../../common/remembered.ts';
import type { Operation } from '../../config/contract/contract.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import { ClientAbort } from '../wire/client-abort.ts';
import type { Cors } from './cors.ts';
import {
  addLimitHeaders,
  failureFields,
  type OwnFields,
  type RuledLines,
} from './headers.ts';
import { PROBLEM, prefersProblem } from './problem.ts';
import type { AddTiming } from './server-timing.ts';

const REQUEST_ID = oneByte('X-Request-Id');

/** Bytes that are read to keep the connection; a larger body closes it. */
const DROPPABLE = 64 * 1024;

export type Reply = ReturnType<typeof createReply>;

interface ReplyParts {
  readonly cors: Cors;
  readonly guard: Guard;
  readonly observe: Observe;
  readonly hasReference: boolean;
  readonly timing?: AddTiming | null;
  readonly ruled?: RuledLines | null;
}

export function createReply({
  cors,
  guard,
  observe,
  hasReference,
  timing = null,
  ruled = null,
}: ReplyParts) {
  const linesOf = remembered(({ replyHeaders }: Operation) =>
    checkedLines(replyHeaders),
  );
  /** A flood repeats it. */
  let lastRefusal: {
    readonly refusal: Refusal;
    readonly lines: CheckedLines;
  } | null = null;

  /** `own`: further fields of the gateway, `null` beside those of a backend. */
  function fields(
    exchange: Exchange,
    own: OwnFields | null = null,
  ): FieldLines {
    const lines = new FieldLines();
    lines.addKnown(REQUEST_ID, exchange.id);
    if (exchange.usage)
      addLimitHeaders(
        lines,
        exchange.usage,
        exchange.scopes,
        exchange.admission?.violated,
      );
    cors.add(lines, exchange);
    if (
      exchange.operation !== null &&
      exchange.operation.replyHeaders.length > 0
    )
      lines.addLines(linesOf(exchange.operation));
    const retiresAt = exchange.client?.retiresAt ?? null;
    if (retiresAt !== null)
      lines.add('X-Key-Retires', new Date(retiresAt).toISOString());
    if (timing !== null) timing(lines, exchange);
    if (ruled !== null) lines.addLines(ruled(own));
    return lines;
  }

  function send(
    exchange: Exchange,
    status: number,
    own: OwnFields,
    body: string | Buffer,
  ): MaybePromise<void> {
    if (exchange.usage !== null) return write(exchange, status, own, body);
    return guard.look(exchange.address).then((usage) => {
      exchange.usage = usage;
      write(exchange, status, own, body);
    });
  }

  function write(
    exchange: Exchange,
    status: number,
    own: OwnFields,
    body: string | Buffer,
  ): void {
    const lines = fields(exchange, own);
    if (typeof own === 'string') lines.addLines(own);
    else lines.addAll(own);
    const length = Buffer.byteLength(body);
    if (status !== 204 && status !== 304) lines.addLength(length);
    // It has as many bytes as characters.
    exchange.call.respond(
      status,
      '',
      lines,
      length === body.length ? body : Buffer.from(body),
    );
  }

  function fail(exchange: Exchange, failure: unknown): MaybePromise<void> {
    const { call } = exchange;
    if (failure instanceof ClientAbort || call.left) {
      exchange.code =
        failure instanceof ClientAbort ? failure.code : 'client_closed_request';
      call.cutOff();
      return;
    }
    const refusal = toRefusal(failure);
    exchange.code = refusal.code;
    exchange.refusal = refusal;
    if (failure instanceof Outage)
      observe({ type: 'outage', id: exchange.id, error: failure });
    else if (!(failure instanceof Refusal))
      observe({ type: 'bug', id: exchange.id, error: failure });
    // Only an aborted connection can show that the response is incomplete.
    if (call.begun) return call.cutOff();
    if (refusal.close || leavesMuchUnread(exchange)) call.keepAlive = false;
    if (prefersProblem(exchange.head.accept))
      return send(
        exchange,
        refusal.status,
        failureFields(refusal, hasReference, PROBLEM),
        refusal.problem,
      );
    return send(
      exchange,
      refusal.status,
      linesOfRefusal(refusal),
      refusal.body,
    );
  }

  function linesOfRefusal(refusal: Refusal): CheckedLines {
    if (lastRefusal?.refusal !== refusal)
      lastRefusal = {
        refusal,
        lines: checkedLines(failureFields(refusal, hasReference)),
      };
    return lastRefusal.lines;
  }

  /**
   * The only place that turns a thrown error or a returned refusal into a response. Never throws or
   * rejects: all other requests continue.
   */
  function failSafely(
    exchange: Exchange,
    failure: unknown,
  ): MaybePromise<void> {
    const lastResort = (error: unknown) => {
      exchange.code = 'internal_error';
      observe({ type: 'bug', id: exchange.id, error });
      exchange.call.cutOff();
    };
    try {
      return fail(exchange, failure)?.catch(lastResort);
    } catch (error) {
      lastResort(error);
    }
  }

  return { fields, send, fail: failSafely };
}

export function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  if (thrown instanceof Outage) return new Refusal(thrown.code);
  return new Refusal('internal_error');
}

function leavesMuchUnread({ call, head }: Exchange): boolean {
  if (call.bodyWhole || !call.hasBody) return false;
  return (
    call.framing === 'chunked' ||
    call.framing > DROPPABLE ||
    head.expect !== undefined
  );
}
