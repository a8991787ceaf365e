import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Refusal } from '../errors/refusals.ts';
import type { Exchange } from './exchange.ts';
import type { Pages } from './own/pages.ts';
import { USAGE_PATH, type Usage } from './own/usage.ts';
import type { Answer } from './reply/answer.ts';
import { type Cors, isPreflight } from './reply/cors.ts';
import type { Route } from './routes.ts';
import type { Admit } from './stages/admit.ts';
import type { Authenticate } from './stages/authenticate.ts';
import type { CheckContract } from './stages/contract.ts';
import type { Door } from './stages/door.ts';
import type { Forward } from './stages/forward.ts';
import type { Mounts } from './upstream/mounts.ts';
import { hasBody } from './wire/head.ts';

/** What the pipeline is made of: the stages in their order, and what answers beside them. */
export interface Parts {
  readonly door: Door;
  readonly authenticate: Authenticate;
  readonly usage: Usage;
  readonly admit: Admit;
  readonly contract: CheckContract;
  readonly forward: Forward;
  readonly mounts: Mounts;
  readonly pages: Pages;
  readonly cors: Cors;
  readonly answer: Answer;
  /** Notes on the exchange where the request goes, and tells it. */
  readonly route: (exchange: Exchange) => Route;
}

export interface Pipeline {
  /** Every request but upgrades. Whatever is thrown on the way is answered. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** A request to switch protocols, which only some mounts may. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/**
 * The way of a request: see `walk`. Each step takes the typed result of the one before, and whatever one throws is answered
 * below. Floods are cheap: a step that knows its result at once returns it at once, and is awaited only where it does not;
 * the refusals that a flood gets (no good key, limited, banned) are returned, because a throw costs as much as a whole stage.
 */
export function createPipeline(parts: Parts): Pipeline {
  const { door, authenticate, usage, admit, contract, forward, mounts, pages, cors, answer, route } = parts;

  async function walkUpgrade(exchange: Exchange, socket: Duplex, head: Buffer): Promise<void> {
    door.enter(exchange);
    // RFC 6455 section 4.1. A body behind it would be taken for the first bytes of the new protocol.
    if (exchange.method !== 'GET' || hasBody(exchange.head)) throw new Refusal('not_implemented', { close: true });
    const client = await authenticate(exchange);
    if (client instanceof Refusal) throw client;
    const way = route(exchange);
    const admission = await admit(exchange, client, 1);
    if (admission instanceof Refusal) throw admission;
    if (way.kind !== 'mount' || !way.mount.websocket) throw new Refusal('not_found', { close: true });
    mounts.upgrade(exchange, client, way.mount, socket, head);
  }

  /** Browsers ask before they send a key: answered for every path that exists, charged to nobody. */
  async function preflight(exchange: Exchange): Promise<void> {
    const way = route(exchange);
    const methods =
      way.kind === 'method_not_allowed'
        ? way.allow
        : way.kind === 'operation'
          ? [way.operation.method]
          : ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    await answer.send(exchange, 204, cors.preflight(exchange, methods), '');
  }

  async function walk(exchange: Exchange): Promise<void> {
    try {
      const target = door.enter(exchange);
      if (isPreflight(exchange)) return await preflight(exchange);
      if (pages.has(target.path)) return await pages.serve(exchange);

      const authenticated = authenticate(exchange);
      const client = authenticated instanceof Promise ? await authenticated : authenticated;
      if (client instanceof Refusal) return answer.fail(exchange, client);
      if (target.path === USAGE_PATH) return await usage.serve(exchange, client);

      const way = route(exchange);
      const admitted = admit(exchange, client, way.kind === 'operation' ? way.operation.cost : 1);
      const admission = admitted instanceof Promise ? await admitted : admitted;
      if (admission instanceof Refusal) return answer.fail(exchange, admission);
      if (way.kind === 'mount') return await mounts.forward(exchange, client, way.mount);

      const checking = contract(exchange, way);
      forward(exchange, client, checking instanceof Promise ? await checking : checking);
    } catch (error) {
      answer.fail(exchange, error);
    }
  }

  return {
    handle: (request, response) => void walk(door.open(request, response)),
    async upgrade(request, socket, head) {
      const response = new ServerResponse(request);
      response.assignSocket(socket as Socket);
      response.shouldKeepAlive = false;
      const exchange = door.open(request, response);
      try {
        await walkUpgrade(exchange, socket, head);
      } catch (error) {
        await answer.fail(exchange, error);
        socket.end();
      }
    },
  };
}
