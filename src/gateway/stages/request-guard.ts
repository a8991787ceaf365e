import { oneByte } from '@storegate/http1';
import { createCache } from '../../common/cache.ts';
import {
  clientAddress,
  plainAddress,
  trustedProxies,
} from '../../common/clients/address.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import type { Config } from '../../config/config.ts';
import {
  type Admission,
  isShown,
  remainingIn,
} from '../../limits/admission.ts';
import { countsIn, isOfApi, type Scopes } from '../../limits/scopes.ts';
import type {
  Observe,
  RequestEvent,
  RequestTrace,
} from '../../observe/events.ts';
import {
  type BeginSpan,
  traceparentAt,
} from '../../observe/tracing/request-span.ts';
import { isAnonymous } from '../../records/keys/key.ts';
import type { Exchange, ExchangeApi } from '../exchange.ts';
import type { Target } from '../results.ts';
import { seeDocument } from '../route-refusals.ts';
import type { Call } from '../wire/call.ts';
import type { FieldNames } from '../wire/fields.ts';
import { headOf } from '../wire/head.ts';
import { requestIds } from '../wire/request-ids.ts';
import {
  afterSegments,
  type PathRules,
  parseTarget,
  segmentsIn,
} from '../wire/target.ts';
import { tooLarge } from '../wire/wire-refusals.ts';

export type RequestGuard = ReturnType<typeof createRequestGuard>;

/** TRACE reflects secrets, CONNECT is for forward proxies. */
const REFUSED_METHODS = new Set(['TRACE', 'CONNECT']);

interface RequestGuardParts {
  readonly config: Config['http'];
  readonly paths: PathRules;
  readonly observe: Observe;
  /** Of requests whose API is not known yet. */
  readonly api: ExchangeApi;
  readonly names: FieldNames;
  /** `null`: the client's trace headers pass unchanged. */
  readonly beginSpan: BeginSpan | null;
}

interface Peer {
  readonly address: string;
  readonly isProxy: boolean;
}

/** Peers that are read once: at least so many, at most twice as many. */
const PEERS = 1_000;

export function createRequestGuard(parts: RequestGuardParts) {
  const { config, paths, observe, api, names, beginSpan } = parts;
  const proxies = trustedProxies(config.trustedProxies);
  const spanOf = beginSpan ?? (() => null);
  const nextId = requestIds();
  const peers = createCache<Peer>(PEERS);

  function peerOf(name: string): Peer {
    const cached = peers.get(name);
    if (cached !== undefined) return cached;
    const address = plainAddress(name);
    const peer = { address, isProxy: proxies.has(address) };
    peers.set(name, peer);
    return peer;
  }

  /** Emits one event at the end. Never throws. */
  function open(call: Call): Exchange {
    const head = headOf(call.fields, names);
    const { address: peer, isProxy: behindProxy } = peerOf(call.peer);
    const startedAt = performance.now();
    const exchange: Exchange = {
      id: nextId(),
      call,
      head,
      api,
      // A part of the headers would keep them in memory.
      address: behindProxy
        ? oneByte(clientAddress(peer, head.forwardedFor, proxies))
        : peer,
      behindProxy,
      span: spanOf(head, behindProxy, startedAt),
      startedAt,
      authenticatedAt: 0,
      admittedAt: 0,
      step: 'http',
      route: null,
      client: null,
      operation: null,
      usage: null,
      deciding: null,
      admission: null,
      cost: 0,
      scopes: api.scopes,
      code: null,
      refusal: null,
      reported: null,
      forwardedAt: 0,
      respondedAt: 0,
      backend: null,
      cancel: null,
    };
    // What follows may already belong to the other protocol, except behind h2c, which Java's
    // HttpClient offers with every request. HTTP/1.0 has no Upgrade (RFC 9110 section 7.8).
    if (head.upgrade !== undefined && head.upgrade !== 'h2c' && call.minor > 0)
      call.keepAlive = false;
    call.whenEnded(() => end(exchange));
    return exchange;
  }

  function end(exchange: Exchange): void {
    if (!isComplete(exchange.call)) {
      exchange.code ??= 'client_closed_request';
      exchange.cancel?.();
      // The state may charge a request whose client has left.
      if (exchange.deciding !== null && exchange.admission === null) {
        const decided = () => observe(requestEventOf(exchange));
        exchange.deciding.then(decided, decided);
        return;
      }
    }
    observe(requestEventOf(exchange));
  }

  /** Throws a Refusal if two readers could read the target differently. */
  function enter(exchange: Exchange): Target {
    const { call, head } = exchange;
    if (call.fields.list.length > 2 * config.maxHeaders) {
      throw new Refusal('headers_too_large', {
        message: `The request has more than ${config.maxHeaders} header lines. Send fewer.`,
        close: true,
      });
    }
    if (REFUSED_METHODS.has(call.method)) {
      throw new Refusal('method_not_allowed', {
        message: `${call.method} is not allowed for any path.${seeDocument(exchange.api)}`,
        headers: ['Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
        close: true,
      });
    }
    if (
      head.expect !== undefined &&
      head.expect.toLowerCase() !== '100-continue'
    ) {
      throw new Refusal('expectation_failed', { close: true });
    }
    if (head.contentTypes > 1)
      throw new Refusal('malformed_request', {
        message: 'The request has more than one Content-Type. Send one.',
        close: true,
      });
    if (call.framing !== 'chunked' && call.framing > config.maxBodyBytes)
      throw tooLarge(config.maxBodyBytes);
    if (call.target.length > config.maxUrlBytes) {
      throw new Refusal('uri_too_long', {
        message: `The request target exceeds ${config.maxUrlBytes} bytes. Shorten the path or the query.`,
      });
    }
    return parseTarget(call.target, paths) as Target;
  }

  return { open, enter };
}

function isComplete({ left, status }: Call): boolean {
  return !left || status === 101;
}

/** The status nginx logs for clients that disconnected. */
const NO_RESPONSE = 499;

const NEAR = 0.2;

/** What remains of a gateway's share during an outage does not show the use. */
function isNearLimit(
  { verdict, by, readings }: Admission,
  scopes: Scopes,
): boolean {
  if (verdict !== 'admitted' || by === 'local') return false;
  for (const reading of readings) {
    const { window } = reading;
    if (
      remainingIn(reading) <= NEAR * window.limit &&
      countsIn(window, scopes) &&
      isShown(window)
    )
      return true;
  }
  return false;
}

function isUnheeding({ verdict, strikes }: Admission): boolean {
  return verdict === 'banned' || (verdict === 'limited' && strikes > 0);
}

function requestEventOf(exchange: Exchange): RequestEvent {
  const {
    id,
    call,
    client,
    admission,
    code,
    address,
    startedAt,
    forwardedAt,
    respondedAt,
  } = exchange;
  const { name, none } = exchange.api;
  const operation = exchange.route ?? none;
  const status = call.begun ? call.status : NO_RESPONSE;
  const owner = client === null || isAnonymous(client) ? null : client;
  return {
    type: 'request',
    id,
    method: call.method,
    // Paths of the gateway, such as `usage`, belong to no API.
    api: name !== null && isOfApi(name, operation) ? name : null,
    operation,
    status,
    complete: isComplete(call),
    code,
    step: code === null && status < 500 ? null : exchange.step,
    verdict: admission === null ? null : admission.verdict,
    nearLimit: admission !== null && isNearLimit(admission, exchange.scopes),
    unheeding: admission !== null && isUnheeding(admission),
    deprecated: exchange.operation?.deprecated ?? false,
    keyId: owner?.keyId ?? null,
    account: owner?.account ?? null,
    plan: client?.plan ?? null,
    address,
    duration: performance.now() - startedAt,
    upstream: respondedAt > 0 ? respondedAt - forwardedAt : null,
    trace: traceOf(exchange),
  };
}

/** The path template. */
function pathOf({ api, operation, route }: Exchange): string | null {
  if (operation !== null) return api.stripped + operation.path;
  return route === api.undescribed.name ? api.undescribed.path : null;
}

function traceOf(exchange: Exchange): RequestTrace {
  const {
    call,
    head,
    client,
    refusal,
    usage,
    admission,
    cost,
    scopes,
    startedAt,
    span,
  } = exchange;
  const details = refusal === null ? null : refusal.details;
  const since = (at: number) => (at > 0 ? at - startedAt : null);
  return {
    target: call.target,
    path: pathOf(exchange),
    subject: client === null ? null : client.subject,
    message: refusal === null ? null : refusal.recorded,
    reason: refusal === null ? null : refusal.reason,
    faults: details === null ? null : exchange.api.report(details),
    faultCount: details === null ? 0 : details.length,
    reported: exchange.reported,
    usage,
    admission,
    escalation: client?.limits?.escalation ?? null,
    cost,
    scopes,
    declared: call.framing === 'chunked' ? null : call.framing,
    received: call.bodyBytes,
    sent: call.sentBytes,
    authenticated: since(exchange.authenticatedAt),
    admitted: since(exchange.admittedAt),
    forwarded: since(exchange.forwardedAt),
    backend: exchange.backend,
    traceparent:
      span === null ? (head.traceparent ?? null) : traceparentAt(span, span.id),
    span,
  };
}

/** Without the path of an API, which it begins with. */
export function targetBelow(target: Target, prefix: string): Target {
  const count = segmentsIn(prefix);
  const rest = (text: string) => {
    const below = afterSegments(text, count);
    return below.startsWith('/') ? below : `/${below}`;
  };
  return {
    raw: rest(target.raw),
    path: rest(target.path),
    written: rest(target.written),
    query: target.query,
  } as Target;
}
