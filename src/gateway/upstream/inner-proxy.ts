import { type ClientRequest, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import type { Question } from '@storegate/http1';
import { Pool, VALUE } from '@storegate/http1';
import type { Upstream } from '../../config/config.ts';
import { storeLabel } from '../../config/upstreams.ts';
import { Outage } from '../../errors/outage.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import { ask } from './question.ts';
import type { StoreAnswer } from './store-answer.ts';
import { soleUpstream } from './upstream.ts';

/** The proxy of one mount. */
export interface InnerProxy {
  /** Resolves with the answer of the mount's target. Rejects with Outage, Refusal or CallerLeft. */
  forward(exchange: Exchange, asked: Question, observe: Observe): Promise<StoreAnswer>;
}

/** For what most gateways do without: the first mount with a target loads it. */
const load = createRequire(import.meta.url);

/** Bytes of a head inside: those of the door, and our own headers. */
const MOST_HEAD_BYTES = 128 * 1024;
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** A request on its way through the proxy. */
interface Passage {
  outgoing: ClientRequest | null;
  /** The target was silent for too long; the proxy reports this as a hang-up. */
  tooSlow: boolean;
  /** Why there is no answer. */
  failure: Outage | null;
}

/**
 * Requests for a mount go through http-proxy-middleware on a server of Node's own that does not listen: the gateway asks it over
 * a pair of streams as it asks a store. So one reader judges every byte that comes from outside, whoever answers it.
 */
export function createInnerProxy(
  target: string,
  timeouts: Pick<Upstream, 'connectTimeout' | 'headersTimeout' | 'bodyTimeout'>,
): InnerProxy {
  const passages = new Map<string, Passage>();
  const passageOf = (request: IncomingMessage) => passages.get(`${request.headers['x-request-id']}`);
  const server = createServer({ maxHeaderSize: MOST_HEAD_BYTES, requestTimeout: 0, headersTimeout: 0 });
  server.maxHeadersCount = 0;
  const { createProxyMiddleware } = load('http-proxy-middleware') as typeof import('http-proxy-middleware');
  const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target,
    changeOrigin: true,
    proxyTimeout: timeouts.bodyTimeout,
    on: {
      proxyReq(outgoing, request) {
        const passage = passageOf(request);
        if (passage === undefined) return void outgoing.destroy();
        watchConnecting(passage, outgoing);
        outgoing.prependOnceListener('timeout', () => {
          passage.tooSlow = true;
        });
      },
      // Node's parser lets such a reason phrase through; its server throws when it writes it, outside of any handler.
      proxyRes(answer, request, response) {
        if (VALUE.test(answer.statusMessage ?? '')) return;
        const passage = passageOf(request);
        const cause = new Error('the reason phrase of the answer is not valid');
        if (passage !== undefined) passage.failure ??= new Outage('upstream_error', { cause });
        answer.statusMessage = '';
        response.destroy();
      },
      error(error, request, response) {
        const passage = passageOf(request);
        if (passage !== undefined) passage.failure ??= outageOf(error, passage.tooSlow);
        response.destroy();
      },
    },
  });
  server.on('request', (request, response) => void proxy(request, response));
  const pool = new Pool({
    connections: Number.POSITIVE_INFINITY,
    mostWaiting: 0,
    connectTimeout: timeouts.connectTimeout,
    // The proxy has the deadlines.
    headTimeout: Number.POSITIVE_INFINITY,
    bodyTimeout: Number.POSITIVE_INFINITY,
    host: 'mount',
    open(receive, connected): Duplex {
      const [near, far] = duplexPair();
      near.on('data', receive);
      near.once('close', () => far.destroy());
      far.once('close', () => near.destroy());
      server.emit('connection', far);
      queueMicrotask(connected);
      return near;
    },
  });

  const upstream = soleUpstream(storeLabel(target), pool);

  /** The proxy's own timeouts begin once it is connected; the system would try to connect for minutes. */
  function watchConnecting(passage: Passage, outgoing: ClientRequest): void {
    passage.outgoing = outgoing;
    const { connectTimeout } = timeouts;
    const watch = (socket: Socket) => {
      if (!socket.connecting) return;
      const cause = new Error(`no connection within ${connectTimeout} ms`);
      const timer = setTimeout(() => {
        passage.failure ??= new Outage('upstream_unavailable', { cause });
        outgoing.destroy();
      }, connectTimeout);
      const stop = () => clearTimeout(timer);
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop).once('close', stop);
    };
    if (outgoing.socket) watch(outgoing.socket);
    else outgoing.once('socket', watch);
  }

  return {
    async forward(exchange, asked, observe) {
      const passage: Passage = { outgoing: null, tooSlow: false, failure: null };
      const { id, call } = exchange;
      passages.set(id, passage);
      call.whenEnded(() => {
        passages.delete(id);
        // An answer that the caller does not want any more must not go on.
        if (call.left) passage.outgoing?.destroy();
      });
      try {
        // A connection inside ends early if the target fails, and the body is gone: neither is a reason to ask again.
        return await ask({ upstream, observe, exchange, asked, once: true });
      } catch (error) {
        passage.outgoing?.destroy();
        throw passage.failure ?? error;
      }
    },
  };
}

function outageOf(cause: Error, tooSlow: boolean): Outage {
  if (tooSlow) return new Outage('upstream_timeout', { cause });
  const { code = '' } = cause as NodeJS.ErrnoException;
  return new Outage(UNREACHABLE.has(code) ? 'upstream_unavailable' : 'upstream_error', { cause });
}
