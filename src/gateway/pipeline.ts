import { WEBSOCKET_KEY } from '@storegate/http1';
import { Refusal } from '../common/errors/refusals.ts';
import { fieldIn } from '../common/field-list.ts';
import type { Exchange } from './exchange.ts';
import type { Pages } from './own/pages.ts';
import type { Usage } from './own/usage.ts';
import type { Cors } from './reply/cors.ts';
import type { Relay } from './reply/relay.ts';
import type { Reply } from './reply/reply.ts';
import type { Target } from './results.ts';
import { noWebSocket } from './route-refusals.ts';
import type { RouteMatch } from './routes.ts';
import type { CheckAddress } from './stages/addresses.ts';
import type { Admit } from './stages/admit.ts';
import type { Authenticate } from './stages/authenticate.ts';
import type { CheckContract } from './stages/contract.ts';
import type { Forward, ForwardTunnel } from './stages/forward.ts';
import type { RequestGuard } from './stages/request-guard.ts';
import type { Inspect } from './upstream/inspection.ts';
import type { Call } from './wire/call.ts';

/** Common to all APIs. */
export interface Front {
  readonly guard: RequestGuard;
  readonly addresses: CheckAddress | null;
  readonly reply: Reply;
  /** Hands the request to its API. */
  readonly enterApi: Steps;
}

/** Of one API. */
export interface ApiParts {
  /** Its own lists. */
  readonly addresses: CheckAddress | null;
  readonly authenticate: Authenticate;
  /**
   * `createAdmit` in `createInFlight`, the limit of open requests; and in `admitPreflights`, if
   * the backend responds to preflights.
   */
  readonly admit: Admit;
  readonly contract: CheckContract;
  /** With `tunnel` and `reply` in `withSettlement`: charges the cost that a response reports. */
  readonly forward: Forward;
  readonly tunnel: ForwardTunnel;
  readonly inspect: Inspect;
  readonly relay: Relay;
  readonly usage: Usage;
  /** Empty: these paths belong to the API. */
  readonly usagePaths: readonly string[];
  readonly pages: Pages;
  readonly cors: Cors;
  readonly reply: Reply;
  readonly route: (exchange: Exchange, target: Target) => RouteMatch;
  readonly takesTunnel: (exchange: Exchange) => boolean;
}

/** Also responds to every error thrown on the way. */
export type Pipeline = (call: Call) => void;
export type Steps = (exchange: Exchange, target: Target) => void;

export function createPipeline(front: Front): Pipeline {
  const { guard, addresses, reply, enterApi } = front;
  return (call) => {
    const exchange = guard.open(call);
    const refusal = addresses === null ? null : addresses(exchange);
    if (refusal !== null) return void reply.fail(exchange, refusal);
    let target: Target;
    try {
      target = guard.enter(exchange);
    } catch (error) {
      return void reply.fail(exchange, error);
    }
    enterApi(exchange, target);
  };
}

/**
 * Each step of `handle` takes the result that only the previous step creates (results.ts), so another
 * order does not compile. Frequent refusals (no valid key, limited, banned) are returned without a
 * promise, because a throw costs as much as a whole stage.
 */
export function createSteps(parts: ApiParts): Steps {
  const { addresses, authenticate, admit, contract, forward, inspect, relay } =
    parts;
  const { tunnel, usage, usagePaths, pages, cors, reply, route, takesTunnel } =
    parts;

  async function handle(exchange: Exchange, target: Target): Promise<void> {
    try {
      if (cors.handles(exchange)) return await preflight(exchange, target);
      if (pages.has(target.path, exchange)) {
        exchange.step = 'pages';
        return await pages.serve(exchange, target);
      }

      exchange.step = 'authenticate';
      const authenticated = authenticate(exchange, target);
      const client =
        authenticated instanceof Promise ? await authenticated : authenticated;
      if (client instanceof Refusal) return reply.fail(exchange, client);
      if (usagePaths.includes(target.path)) {
        exchange.step = 'usage';
        return await usage(exchange, client);
      }

      exchange.step = 'admit';
      const match = route(exchange, target);
      const cost = match.kind === 'route' ? match.route.cost : 1;
      const admitting = admit(exchange, client, cost);
      const admitted =
        admitting instanceof Promise ? await admitting : admitting;
      if (admitted instanceof Refusal) return reply.fail(exchange, admitted);

      exchange.step = 'contract';
      const checking = contract(exchange, admitted, target, match);
      const checked = checking instanceof Promise ? await checking : checking;
      exchange.step = 'backend';
      const stored = await forward(exchange, checked);
      const inspected = inspect(exchange, checked, stored);
      relay(
        exchange,
        inspected instanceof Promise ? await inspected : inspected,
      );
    } catch (error) {
      void reply.fail(exchange, error);
    }
  }

  async function openTunnel(exchange: Exchange, target: Target) {
    // RFC 6455 section 4.1. The target would read a body as the first bytes of the new protocol.
    if (exchange.call.method !== 'GET' || exchange.call.hasBody) {
      throw new Refusal('not_implemented', {
        message: 'A WebSocket request must be GET without a body.',
        close: true,
      });
    }
    const key = fieldIn(exchange.head.forwardable, 'sec-websocket-key') ?? '';
    if (!WEBSOCKET_KEY.test(key))
      throw new Refusal('malformed_request', {
        message:
          'A WebSocket request needs one Sec-WebSocket-Key. Send 16 random bytes in base64.',
        close: true,
      });
    exchange.step = 'authenticate';
    const client = await authenticate(exchange, target);
    if (client instanceof Refusal) throw client;
    exchange.step = 'admit';
    const match = route(exchange, target);
    const admitted = await admit(exchange, client, 1);
    if (admitted instanceof Refusal) throw admitted;
    exchange.step = 'contract';
    if (match.kind !== 'route' || !match.route.websocket)
      throw noWebSocket(exchange);
    const checked = await contract(exchange, admitted, target, match);
    exchange.step = 'backend';
    const response = await tunnel(exchange, checked);
    if (response !== null) relay(exchange, response);
  }

  /** Browsers send preflights without a key. */
  async function preflight(exchange: Exchange, target: Target): Promise<void> {
    const methods = methodsOf(route(exchange, target));
    await reply.send(exchange, 204, cors.preflight(exchange, methods), '');
  }

  function begin(exchange: Exchange, target: Target): void {
    if (!takesTunnel(exchange)) void handle(exchange, target);
    else
      openTunnel(exchange, target).catch((error) =>
        reply.fail(exchange, error),
      );
  }

  if (addresses === null) return begin;
  return (exchange, target) => {
    const refusal = addresses(exchange);
    if (refusal === null) begin(exchange, target);
    else void reply.fail(exchange, refusal);
  };
}

const ANY: readonly string[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
];

function methodsOf(match: RouteMatch): readonly string[] {
  if (match.kind === 'method_not_allowed') return match.allow;
  const operation = match.kind === 'route' ? match.route.operation : null;
  return operation === null ? ANY : [operation.method];
}
