import type {
  IncomingMessage,
  ClientRequest as ProxyRequest,
  ServerResponse,
} from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { createPool } from '@storegate/http1';
import { Outage } from '../../common/errors/outage.ts';
import { backendLabel } from '../../config/upstreams.ts';
import { type Timeouts, tunnelLimitsOf, tunnelsTo } from './pools.ts';
import { soleUpstream, type Upstream } from './upstream.ts';

// Importing node:http loads undici, 14 MB.
const { Agent: HttpAgent, createServer } =
  process.getBuiltinModule('node:http');

/** Higher than the limit of packages/http1, which decides. */
const MOST_HEAD_BYTES = 128 * 1024;
/** With as many, Node.js may have dropped others. */
const TOO_MANY_FIELDS = 1_000;
/** No server has a reason to send more interim responses (RFC 9110 section 15.2). */
const MOST_INTERIM = 16;

/** A request that has a connection to the target. */
interface Attempt {
  readonly outgoing: ProxyRequest;
  readonly bytesBefore: number;
  isConnected: boolean;
  response: IncomingMessage | null;
}

/**
 * The server does not listen: the gateway calls it over pairs of streams, so one parser judges
 * every byte from outside, and http-proxy-middleware does the rest.
 */
export function createTargetProxy(
  target: string,
  timeouts: Timeouts,
): Upstream {
  const nearEnds = new WeakMap<object, Duplex>();
  const proxy = createProxy(target, timeouts, ({ socket }, error) => {
    nearEnds.get(socket)?.destroy(error);
  });
  const server = createServer({
    maxHeaderSize: MOST_HEAD_BYTES,
    joinDuplicateHeaders: true,
    requestTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 0,
  });
  server.maxHeadersCount = 0;
  server.on('clientError', (error, far) => far.destroy(error));
  server.on('request', async (request, response) => {
    response.sendDate = false;
    await (await proxy)(request, response);
  });
  const pool = createPool({
    ...tunnelLimitsOf(timeouts),
    host: new URL(target).host,
    open(receive, connected) {
      const [near, far] = duplexPair();
      // A head that Node.js sends before the body would otherwise be UTF-8.
      far.setDefaultEncoding('latin1');
      nearEnds.set(far, near);
      near.on('data', receive).once('close', () => far.destroy());
      far.once('close', () => near.destroy());
      server.emit('connection', far);
      process.nextTick(connected);
      return near;
    },
  });
  // The library needs methods of a socket for upgrades, which no end of a pair has.
  return soleUpstream(backendLabel(target), pool, tunnelsTo(target, timeouts));
}

/** `fail` ends the connection on which the request came. */
async function createProxy(
  target: string,
  { connectTimeout, keepAliveTimeout }: Timeouts,
  fail: (request: IncomingMessage, error: Error) => void,
) {
  const { protocol, origin, pathname } = new URL(target);
  const isTls = protocol === 'https:';
  const base = pathname.replace(/\/$/, '');
  const attempts = new WeakMap<IncomingMessage, Attempt>();
  // Loaded here, because most gateways have no target.
  const { createProxyMiddleware, debugProxyErrorsPlugin, proxyEventsPlugin } =
    await import('http-proxy-middleware');
  return createProxyMiddleware<IncomingMessage, ServerResponse>({
    // With the path of the target, the library sends `/base` for `/base/`.
    target: origin,
    pathRewrite: (path) => base + path,
    agent: agentFor(isTls, keepAliveTimeout),
    // All but the plugin that logs.
    ejectPlugins: true,
    plugins: [debugProxyErrorsPlugin, proxyEventsPlugin],
    on: {
      proxyReq(outgoing, request) {
        const attempt = attemptOf(outgoing, isTls, connectTimeout);
        attempts.set(request, attempt);
        // The library closes the connection after each body in chunks.
        outgoing.setHeader('Connection', 'keep-alive');
        let interim = 0;
        outgoing.on('information', () => {
          if (++interim > MOST_INTERIM)
            fail(request, brokenBy(new Error('There are too many 1xx.')));
        });
        // Node closes the connection after a 101 response without an error.
        outgoing.once('close', () => {
          if (attempt.response === null)
            fail(request, brokenBy(new Error('There was no response.')));
        });
      },
      proxyRes(incoming, request, response) {
        attempts.get(request)!.response = incoming;
        if (incoming.rawHeaders.length >= 2 * TOO_MANY_FIELDS)
          fail(request, brokenBy(new Error('There are too many fields.')));
        if (!isWritable(incoming)) {
          fail(request, brokenBy(new Error('The status line is not valid.')));
          Object.assign(incoming, { statusCode: 502, statusMessage: '' });
        }
        prepare(incoming.headers);
        // Node would wait for the body, but a head and a body that come together are sent as one.
        process.nextTick(() => {
          if (!incoming.readableDidRead) response.flushHeaders();
        });
      },
      error(error, request) {
        const attempt = attempts.get(request);
        // A response that is complete still passes.
        if (attempt?.response?.complete !== true)
          fail(request, judged(error, attempt));
      },
    },
  });
}

function agentFor(isTls: boolean, keepAliveTimeout: number) {
  const Agent = isTls
    ? process.getBuiltinModule('node:https').Agent
    : HttpAgent;
  return new Agent({ keepAlive: true, timeout: keepAliveTimeout });
}

function attemptOf(
  outgoing: ProxyRequest,
  isTls: boolean,
  connectTimeout: number,
): Attempt {
  const { reusedSocket } = outgoing;
  const socket = outgoing.socket!;
  const attempt: Attempt = {
    outgoing,
    bytesBefore: socket.bytesRead,
    isConnected: reusedSocket,
    response: null,
  };
  if (reusedSocket) return attempt;
  const timer = setTimeout(() => {
    outgoing.destroy(new Error(`no connection within ${connectTimeout} ms`));
  }, connectTimeout);
  socket
    .once(isTls ? 'secureConnect' : 'connect', () => {
      attempt.isConnected = true;
      clearTimeout(timer);
    })
    .once('close', () => clearTimeout(timer));
  return attempt;
}

/**
 * An Outage, but not for a kept connection that died before a byte of the response: `diedIdle`
 * covers it.
 */
function judged(error: Error, attempt: Attempt | undefined): Error {
  if (!attempt?.isConnected)
    return new Outage('upstream_unavailable', { cause: error });
  const { outgoing, bytesBefore } = attempt;
  const diedIdle =
    outgoing.reusedSocket && outgoing.socket?.bytesRead === bytesBefore;
  return diedIdle ? error : brokenBy(error);
}

const brokenBy = (error: Error): Outage =>
  new Outage('upstream_error', { cause: error });

/** Node's parser accepts more status lines than its server writes. */
function isWritable({ statusCode, statusMessage }: IncomingMessage): boolean {
  return (
    statusCode! >= 200 &&
    statusCode! < 600 &&
    /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage!)
  );
}

function prepare(headers: IncomingMessage['headers']): void {
  // Trailers are dropped, and Node.js throws if none can follow.
  delete headers.trailer;
  // Behind Content-Length, Node.js rewrites Content-Disposition.
  const length = headers['content-length'];
  delete headers['content-length'];
  if (length !== undefined) headers['content-length'] = length;
}
