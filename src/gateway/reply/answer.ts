import type { Guard } from '../../callers/guard.ts';
import type { Eventually } from '../../common/eventually.ts';
import { Outage } from '../../errors/outage.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import { CallerLeft } from '../wire/caller-left.ts';
import { hasBody } from '../wire/head.ts';
import type { Cors } from './cors.ts';
import { failureFields, pushLimitHeaders } from './headers.ts';

/** The gateway reads and drops a refused body of at most this many bytes, to keep the connection; a larger one ends it. */
const DROPPABLE = 64 * 1024;

export interface Answer {
  /** The headers that every answer of the public listener carries: request id, limits, CORS, the operation's own. */
  headers(exchange: Exchange): string[];
  /** Sends a whole answer of the gateway's own. */
  send(exchange: Exchange, status: number, headers: readonly string[], body: string | Buffer): Eventually<void>;
  /** 304: the caller has the body already. */
  notModified(exchange: Exchange, headers: readonly string[]): Eventually<void>;
  /** The one place that turns a thrown error or a returned refusal into an answer. Never throws or rejects. */
  fail(exchange: Exchange, failure: unknown): Eventually<void>;
}

export function createAnswer({ cors, guard, observe }: { cors: Cors; guard: Guard; observe: Observe }): Answer {
  function headers(exchange: Exchange): string[] {
    const list = ['X-Request-Id', exchange.id];
    if (exchange.standing) pushLimitHeaders(list, exchange.standing);
    cors.push(list, exchange);
    if (exchange.operation) list.push(...exchange.operation.replyHeaders);
    const retiresAt = exchange.client?.retiresAt ?? null;
    if (retiresAt !== null) list.push('X-Key-Retires', new Date(retiresAt).toISOString());
    return list;
  }

  function send(exchange: Exchange, status: number, own: readonly string[], body: string | Buffer): Eventually<void> {
    if (exchange.standing !== null) return write(exchange, status, own, body);
    return guard.look(exchange.address).then((standing) => {
      exchange.standing = standing;
      write(exchange, status, own, body);
    });
  }

  function write(exchange: Exchange, status: number, own: readonly string[], body: string | Buffer): void {
    const { response } = exchange;
    const list = headers(exchange);
    list.push(...own);
    const length = Buffer.byteLength(body);
    if (status !== 204 && status !== 304) list.push('Content-Length', `${length}`);
    response.writeHead(status, list);
    if (exchange.method === 'HEAD') response.end();
    // As many bytes as characters: the body is ASCII, which is cheaper to write as latin1.
    else response.end(body, length === body.length ? 'latin1' : 'utf8');
  }

  function fail(exchange: Exchange, failure: unknown): Eventually<void> {
    const { response } = exchange;
    if (failure instanceof CallerLeft || response.destroyed) {
      exchange.code = 'caller_left';
      response.destroy();
      return;
    }
    const refusal = toRefusal(failure);
    exchange.code = refusal.code;
    if (failure instanceof Outage) observe({ type: 'outage', id: exchange.id, error: failure });
    else if (!(failure instanceof Refusal)) observe({ type: 'bug', id: exchange.id, error: failure });
    if (response.headersSent) return cutOff(exchange);
    return send(exchange, refusal.status, failureHeaders(exchange, refusal), refusal.body);
  }

  /** When even the answer to a failure fails, this request ends without an answer; all others go on. */
  function failSafely(exchange: Exchange, failure: unknown): Eventually<void> {
    const lastResort = (error: unknown) => {
      exchange.code = 'internal_error';
      observe({ type: 'bug', id: exchange.id, error });
      exchange.response.destroy();
    };
    try {
      return fail(exchange, failure)?.catch(lastResort);
    } catch (error) {
      lastResort(error);
    }
  }

  return { headers, send, notModified: (exchange, own) => send(exchange, 304, own, ''), fail: failSafely };
}

function failureHeaders(exchange: Exchange, refusal: Refusal): string[] {
  if (refusal.close || leavesMuchUnread(exchange)) exchange.response.shouldKeepAlive = false;
  return failureFields(refusal);
}

/**
 * Once an answer has begun, only a cut connection can show that it is incomplete. HTTP/1.0 takes the end of the connection
 * for the end of the body, so there it must be a reset.
 */
function cutOff({ request, response }: Exchange): void {
  if (request.httpVersionMinor === 0) request.socket.resetAndDestroy();
  response.destroy();
}

function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  if (thrown instanceof Outage) return new Refusal(thrown.code, { headers: thrown.headers });
  return new Refusal('internal_error');
}

function leavesMuchUnread({ request, head }: Exchange): boolean {
  if (!hasBody(head) || request.complete) return false;
  return head.contentLength === null || head.contentLength > DROPPABLE || head.expect !== undefined;
}
