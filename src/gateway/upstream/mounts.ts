import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyMiddleware, type RequestHandler } from 'http-proxy-middleware';
import type { Mount, Upstream } from '../../config/config.ts';
import { Outage } from '../../errors/outage.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Exchange } from '../exchange.ts';
import type { Answer } from '../reply/answer.ts';
import type { Admitted, Target } from '../results.ts';
import { tooLarge } from '../wire/body.ts';
import { CallerLeft } from '../wire/caller-left.ts';
import { isReturned, NOT_SHARED, optionsOf } from '../wire/fields.ts';
import { interruptionOf } from '../wire/interruption.ts';
import { requestHeaders } from './headers.ts';
import { outageOf } from './outages.ts';

/** Path prefixes outside the contract that go to a target as they are, such as streams and WebSockets. */
export interface Mounts {
  forward(exchange: Exchange, client: Admitted, target: Target, mount: Mount): Promise<void>;
  /** Hands the connection over for good. Only for mounts that allow WebSockets. */
  upgrade(exchange: Exchange, client: Admitted, target: Target, mount: Mount, connection: Upgrading): void;
}

/** A connection about to change its protocol; `head` holds the bytes read after the request. */
export interface Upgrading {
  readonly socket: Duplex;
  readonly head: Buffer;
}

export interface MountsOptions {
  readonly mounts: readonly Mount[];
  readonly timeouts: Pick<Upstream, 'connectTimeout' | 'headersTimeout' | 'bodyTimeout'>;
  readonly maxBodyBytes: number;
  readonly answer: Answer;
}

type Proxy = RequestHandler<IncomingMessage, ServerResponse>;

/** A request on its way through a proxy. */
interface Passage {
  readonly exchange: Exchange;
  outgoing: ClientRequest | null;
  /** The target was silent for too long; the proxy reports this as a hang-up. */
  tooSlow: boolean;
  /** It has failed and was answered; later errors of the proxy follow from that. */
  failed: boolean;
}

export function createMounts({ mounts, timeouts, maxBodyBytes, answer }: MountsOptions): Mounts {
  const passages = new WeakMap<IncomingMessage, Passage>();
  const proxies = new Map<Mount, Proxy>(mounts.map((mount) => [mount, createProxy(mount)]));

  function createProxy(mount: Mount): Proxy {
    return createProxyMiddleware({
      target: mount.target,
      changeOrigin: true,
      proxyTimeout: timeouts.bodyTimeout,
      upgradeTimeout: timeouts.headersTimeout,
      on: {
        proxyReq(outgoing, request) {
          const passage = passages.get(request)!;
          watchConnecting(passage, outgoing);
          outgoing.prependOnceListener('timeout', () => {
            passage.tooSlow = true;
          });
          if (passage.failed) outgoing.destroy();
        },
        proxyRes(proxyRes, request) {
          const { exchange } = passages.get(request)!;
          // Without one the proxy writes its own, even where the connection is about to end.
          const connection = exchange.response.shouldKeepAlive ? 'keep-alive' : 'close';
          const headers = { ...returned(proxyRes.headers), connection };
          proxyRes.headers = withVary(headers, exchange.response.getHeader('vary'));
          exchange.answeredAt = performance.now();
        },
        proxyReqWs(outgoing, request) {
          const passage = passages.get(request)!;
          const { exchange } = passage;
          watchConnecting(passage, outgoing);
          // Listens first: the proxy has no hook for the answer to an upgrade.
          const reshape = (answered: IncomingMessage) => {
            answered.headers = { ...returned(answered.headers), ...toObject(answer.headers(exchange)) };
          };
          outgoing.prependOnceListener('upgrade', (answered) => {
            const { connection, upgrade } = answered.headers;
            reshape(answered);
            Object.assign(answered.headers, { connection, upgrade });
          });
          outgoing.prependOnceListener('response', reshape);
        },
        error: (error, request) => fail(passages.get(request)!, error),
      },
    });
  }

  /** The proxy's own timeouts begin once it is connected; the system would try to connect for minutes. */
  function watchConnecting(passage: Passage, outgoing: ClientRequest): void {
    passage.outgoing = outgoing;
    const { connectTimeout } = timeouts;
    const watch = (socket: Socket) => {
      if (!socket.connecting) return;
      const cause = new Error(`no connection within ${connectTimeout} ms`);
      const giveUp = () => fail(passage, new Outage('upstream_unavailable', { cause }));
      const timer = setTimeout(giveUp, connectTimeout);
      const stop = () => clearTimeout(timer);
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop).once('close', stop);
    };
    if (outgoing.socket) watch(outgoing.socket);
    else outgoing.once('socket', watch);
  }

  function fail(passage: Passage, error: unknown): void {
    if (passage.failed) return;
    passage.failed = true;
    passage.outgoing?.destroy();
    const { exchange } = passage;
    void answer.fail(exchange, exchange.response.destroyed ? new CallerLeft() : reasonOf(error, passage.tooSlow));
  }

  function prepare(exchange: Exchange, client: Admitted, { path, query }: Target): Passage {
    const { request, head } = exchange;
    const passage: Passage = { exchange, outgoing: null, tooSlow: false, failed: false };
    passages.set(request, passage);
    exchange.forwardedAt = performance.now();
    // Built here, because the proxy skips its own hook for a request with Expect.
    request.headers = toObject(requestHeaders(exchange, client));
    if (head.contentLength !== null) request.headers['content-length'] = `${head.contentLength}`;
    if (head.transferEncoding !== undefined) request.headers['transfer-encoding'] = 'chunked';
    request.url = query === '' ? path : `${path}?${query}`;
    return passage;
  }

  /** Only for chunked bodies: the door has already checked a declared length. */
  function limitChunkedBody(passage: Passage): void {
    const { request, head } = passage.exchange;
    if (head.transferEncoding === undefined) return;
    let size = 0;
    // Paused, so that this listener does not start reading before the proxy does.
    request.pause();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes || passage.failed) return;
      request.unpipe();
      fail(passage, tooLarge(maxBodyBytes));
    });
  }

  return {
    async forward(exchange, client, target, mount) {
      const { request, response, head } = exchange;
      const interruption = interruptionOf(request);
      if (interruption) throw interruption;
      limitChunkedBody(prepare(exchange, client, target));
      const ours = answer.headers(exchange);
      for (let i = 0; i < ours.length; i += 2) response.setHeader(ours[i]!, ours[i + 1]!);
      if (head.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();
      await proxies.get(mount)!(request, response);
    },
    upgrade(exchange, client, target, mount, { socket, head }) {
      prepare(exchange, client, target);
      const { request, response } = exchange;
      request.headers.connection = 'Upgrade';
      request.headers.upgrade = 'websocket';
      response.statusCode = 101;
      proxies.get(mount)!.upgrade(request, socket as Socket, head);
    },
  };
}

function reasonOf(error: unknown, tooSlow: boolean): unknown {
  if (error instanceof Refusal) return error;
  return tooSlow ? new Outage('upstream_timeout', { cause: error }) : outageOf(error as Error);
}

function toObject(headers: readonly string[]): Record<string, string> {
  const object: Record<string, string> = Object.create(null);
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    object[name] =
      name in object ? `${object[name]}${name === 'cookie' ? '; ' : ', '}${headers[i + 1]!}` : headers[i + 1]!;
  }
  return object;
}

function returned<H extends NodeJS.Dict<string | string[]>>(headers: H): H {
  const options = optionsOf(`${headers.connection ?? ''}`);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => isReturned(name) && !options.includes(name)),
  ) as H;
}

/** The proxy replaces headers that are set already; Vary must name the target's reasons and ours (`own`). */
function withVary<H extends NodeJS.Dict<string | string[]>>(
  headers: H,
  own: number | string | string[] | undefined,
): H {
  const apart = headers['cache-control'] === undefined ? NOT_SHARED : null;
  const vary = [own, headers.vary, apart?.vary].filter((names) => names !== undefined).join(', ');
  return { ...headers, ...apart, ...(vary !== '' && { vary }) };
}
