import type { IncomingMessage, ClientRequest as ProxyRequest, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { type Duplex, duplexPair } from 'node:stream';
import { Pool, VALUE } from '@storegate/http1';
import { storeLabel } from '../../config/upstreams.ts';
import type { Code } from '../../errors/catalogue.ts';
import { Outage } from '../../errors/outage.ts';
import type { Observe } from '../../observe/events.ts';
import type { ReturnedNames } from '../wire/fields.ts';
import { type Timeouts, tunnelsTo } from './pools.ts';
import { soleUpstream } from './upstream.ts';
import { type Send, sendUpstream } from './upstream-request.ts';

// Importing node:http loads undici, 14 MB.
const { createServer } = process.getBuiltinModule('node:http');

export interface InnerProxyParts {
  readonly timeouts: Timeouts;
  readonly observe: Observe;
  readonly returned: ReturnedNames;
}

const MOST_HEAD_BYTES = 128 * 1024;
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * The server does not listen: the gateway calls it over a pair of streams, so one parser judges every byte from
 * outside.
 */
export function createInnerProxy(target: string, { timeouts, observe, returned }: InnerProxyParts): Send {
  const waiting = new Map<string, Outage | null>();
  const end = (error: Error, request: IncomingMessage, response: { destroy(): unknown }) => {
    const id = `${request.headers['x-request-id']}`;
    if (waiting.get(id) === null) waiting.set(id, outageOf(error));
    response.destroy();
  };
  // Loaded here, because most gateways have no mount with a target.
  const { createProxyMiddleware } = createRequire(import.meta.url)(
    'http-proxy-middleware',
  ) as typeof import('http-proxy-middleware');
  const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target,
    changeOrigin: true,
    proxyTimeout: timeouts.bodyTimeout,
    on: {
      proxyReq: (outgoing) => limitTimes(outgoing, timeouts.connectTimeout),
      // Node's parser accepts this reason phrase, but its server throws on writing it, outside any handler.
      proxyRes(answer, request, response) {
        if (VALUE.test(answer.statusMessage ?? '')) return;
        answer.statusMessage = '';
        end(new Error('the reason phrase of the answer is not valid'), request, response);
      },
      error: end,
    },
  });
  const server = createServer({ maxHeaderSize: MOST_HEAD_BYTES, requestTimeout: 0, headersTimeout: 0 });
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => void proxy(request, response));
  const pool = new Pool({
    connections: Number.POSITIVE_INFINITY,
    mostWaiting: 0,
    connectTimeout: timeouts.connectTimeout,
    // The proxy has the deadlines.
    headersTimeout: Number.POSITIVE_INFINITY,
    bodyTimeout: Number.POSITIVE_INFINITY,
    keepAliveTimeout: server.keepAliveTimeout - 1_000,
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
  const upstream = soleUpstream(storeLabel(target), pool, tunnelsTo(target, timeouts));
  return async (exchange, asked) => {
    // The library needs socket methods that a pair of streams lacks.
    if (asked.upgraded !== undefined) return sendUpstream({ upstream, observe, returned, exchange, asked });
    const { id } = exchange;
    waiting.set(id, null);
    try {
      // A connection inside ends early if the target fails, and the body is gone: neither is a reason to retry.
      return await sendUpstream({ upstream, observe, returned, exchange, asked, once: true });
    } catch (error) {
      throw waiting.get(id) ?? error;
    } finally {
      waiting.delete(id);
    }
  };
}

/** Its own timeout begins after it has connected. */
function limitTimes(outgoing: ProxyRequest, connectTimeout: number): void {
  const end = (code: Code, reason: string) => outgoing.destroy(new Outage(code, { cause: new Error(reason) }));
  outgoing.prependOnceListener('timeout', () => end('upstream_timeout', 'the target was silent for too long'));
  const socket = outgoing.socket!;
  if (!socket.connecting) return;
  const late = () => end('upstream_unavailable', `no connection within ${connectTimeout} ms`);
  const timer = setTimeout(late, connectTimeout);
  const stop = () => clearTimeout(timer);
  socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop).once('close', stop);
}

function outageOf(cause: Error): Outage {
  if (cause instanceof Outage) return cause;
  const { code = '' } = cause as NodeJS.ErrnoException;
  return new Outage(UNREACHABLE.has(code) ? 'upstream_unavailable' : 'upstream_error', { cause });
}
