import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import { callerAddress, plainAddress, trustedProxies } from '../../callers/address.ts';
import type { Config } from '../../config/config.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import type { Target } from '../results.ts';
import { tooLarge } from '../wire/body.ts';
import { FieldNames } from '../wire/fields.ts';
import { type Head, readHead } from '../wire/head.ts';
import { requestIds } from '../wire/request-ids.ts';
import { parseTarget } from '../wire/target.ts';

export interface Door {
  /** Begins the exchange of a request: sets its id and caller, and emits one event at its end. Never throws. */
  open(request: IncomingMessage, response: ServerResponse): Exchange;
  /** Reads the request's target. Throws a Refusal for a request that two readers might read differently. */
  enter(exchange: Exchange): Target;
}

const KNOWN_METHODS = new Set(METHODS);
/** Methods that never reach a store: TRACE reflects secrets, CONNECT is for forward proxies. */
const REFUSED_METHODS = new Set(['TRACE', 'CONNECT']);

export function createDoor(config: Config['door'], observe: Observe): Door {
  const proxies = trustedProxies(config.trustedProxies);
  const names = new FieldNames(config.stripHeaders);
  const nextId = requestIds();

  function open(request: IncomingMessage, response: ServerResponse): Exchange {
    const head = readHead(request.rawHeaders, names);
    const peer = plainAddress(request.socket.remoteAddress);
    const behindProxy = proxies.has(peer);
    const exchange: Exchange = {
      id: nextId(),
      request,
      response,
      method: request.method ?? '',
      head,
      address: behindProxy ? callerAddress(peer, head.forwardedFor, proxies) : peer,
      behindProxy,
      startedAt: performance.now(),
      route: null,
      client: null,
      operation: null,
      standing: null,
      verdict: null,
      code: null,
      forwardedAt: 0,
      answeredAt: 0,
      cancel: null,
    };
    // Node's parser goes on as if the protocol had changed and loses the bytes after such a request, so the connection ends.
    if (head.upgrade) response.shouldKeepAlive = false;
    response.on('close', () => end(exchange));
    return exchange;
  }

  function end(exchange: Exchange): void {
    if (!isComplete(exchange.response)) {
      exchange.code ??= 'caller_left';
      exchange.cancel?.();
    }
    observe(toldBy(exchange));
  }

  function enter(exchange: Exchange): Target {
    const { request, head, method } = exchange;
    if (request.rawHeaders.length > 2 * config.maxHeaders) throw tooManyHeaders(config.maxHeaders);
    checkVersion(request);
    checkMethod(method);
    checkHost(head.hosts, request.httpVersionMinor);
    checkFraming(head, request.httpVersionMinor);
    if (head.expect !== undefined && head.expect.toLowerCase() !== '100-continue') {
      throw new Refusal('expectation_failed', { close: true });
    }
    if (head.contentTypes > 1) throw malformed('The request has more than one Content-Type.');
    if ((head.contentLength ?? 0) > config.maxBodyBytes) throw tooLarge(config.maxBodyBytes);
    const url = request.url ?? '';
    if (url.length > config.maxUrlBytes) {
      throw new Refusal('uri_too_long', { message: `The request target is longer than ${config.maxUrlBytes} bytes.` });
    }
    return parseTarget(url) as Target;
  }

  return { open, enter };
}

/** Node's parser accepts the versions HTTP/0.9 and HTTP/2.0, although it does not read their syntax. */
function checkVersion({ httpVersionMajor, httpVersionMinor }: IncomingMessage): void {
  if (httpVersionMajor !== 1 || httpVersionMinor > 1) throw new Refusal('http_version_not_supported', { close: true });
}

/**
 * RFC 9112 section 6.1: the gateway takes no transfer coding but `chunked`, and HTTP/1.0 has none. The parser has checked
 * that Content-Length is one whole number and does not come with Transfer-Encoding.
 */
function checkFraming({ transferEncoding }: Head, minor: number): void {
  if (transferEncoding === undefined) return;
  if (minor === 0) throw malformed('HTTP/1.0 has no Transfer-Encoding.');
  if (transferEncoding.toLowerCase() === 'chunked') return;
  throw new Refusal('not_implemented', { message: 'The only Transfer-Encoding is chunked, once.', close: true });
}

function checkMethod(method: string): void {
  if (REFUSED_METHODS.has(method)) throw new Refusal('method_not_allowed', { headers: ['Allow', ''], close: true });
  if (!KNOWN_METHODS.has(method)) throw new Refusal('not_implemented', { close: true });
}

/** RFC 9112 section 3.2: exactly one valid Host, which HTTP/1.0 may leave out. */
function checkHost(hosts: readonly string[], minor: number): void {
  if (hosts.length === 0 && minor === 0) return;
  if (hosts.length !== 1) throw malformed('The request must have exactly one Host header.');
  if (!/^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/.test(hosts[0]!)) {
    throw malformed('The Host header is not a host name with an optional port.');
  }
}

function malformed(message: string): Refusal {
  return new Refusal('malformed_request', { message, close: true });
}

function tooManyHeaders(most: number): Refusal {
  return new Refusal('headers_too_large', { message: `The request has more than ${most} header lines.`, close: true });
}

/** Whether the whole answer was sent. After a switch of protocols the gateway has nothing more to send. */
function isComplete(response: ServerResponse): boolean {
  return response.writableFinished || response.statusCode === 101;
}

/** The status nginx logs for callers that left; Node's default of 200 was never sent. */
const NOT_ANSWERED = 499;

function statusOf({ headersSent, statusCode }: ServerResponse): number {
  return headersSent || statusCode === 101 ? statusCode : NOT_ANSWERED;
}

function toldBy(exchange: Exchange) {
  const { id, method, response, client, verdict, code, address, startedAt, forwardedAt, answeredAt } = exchange;
  return {
    type: 'request',
    id,
    method: KNOWN_METHODS.has(method) ? method : 'other',
    operation: exchange.route ?? 'none',
    status: statusOf(response),
    complete: isComplete(response),
    code,
    verdict,
    keyId: client?.keyId ?? null,
    account: client?.account ?? null,
    plan: client?.plan ?? null,
    address,
    duration: performance.now() - startedAt,
    upstream: answeredAt > 0 ? answeredAt - forwardedAt : null,
  } as const;
}
