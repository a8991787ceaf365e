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

/** A request that has a connection to the target. */
interface Attempt {
  readonly outgoing: ProxyRequest;
  readonly bytesBefore: number;
  isConnected: boolean;
  answer: IncomingMessage | null;
}

/**
 * The server does not listen: the gateway calls it over pairs of streams, so one parser judges
 * every byte from outside, and http-proxy-middleware does the rest.
 */
export function createTargetProxy(
  target: string,
  timeouts: Timeouts,
  pathRewrite?: (path: string) => string,
): Upstream {
  const nearEnds = new WeakMap<object, Duplex>();
  const proxy = createProxy(target, timeouts, {
    pathRewrite,
    fail({ socket }, error) {
      nearEnds.get(socket)?.destroy(error);
    },
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

interface ProxyParts {
  readonly pathRewrite: ((path: string) => string) | undefined;
  /** Ends the connection on which the request came. */
  readonly fail: (request: IncomingMessage, error: Error) => void;
}

async function createProxy(
  target: string,
  { connectTimeout, keepAliveTimeout }: Timeouts,
  { pathRewrite, fail }: ProxyParts,
) {
  const isTls = new URL(target).protocol === 'https:';
  const attempts = new WeakMap<IncomingMessage, Attempt>();
  // Loaded here, because most gateways have no mount with a target.
  const { createProxyMiddleware, debugProxyErrorsPlugin, proxyEventsPlugin } =
    await import('http-proxy-middleware');
  return createProxyMiddleware<IncomingMessage, ServerResponse>({
    target,
    ...(pathRewrite && { pathRewrite }),
    agent: agentFor(isTls, keepAliveTimeout),
    // All but the plugin that logs.
    ejectPlugins: true,
    plugins: [debugProxyErrorsPlugin, proxyEventsPlugin],
    on: {
      proxyReq(outgoing, request) {
        const attempt = attemptOf(outgoing, isTls, connectTimeout);
        attempts.set(request, attempt);
        // Node closes the connection after a 101 response without an error.
        outgoing.once('close', () => {
          if (attempt.answer === null)
            fail(request, brokenBy(new Error('There was no response.')));
        });
      },
      proxyRes(answer, request, response) {
        attempts.get(request)!.answer = answer;
        if (!isWritable(answer)) {
          fail(request, brokenBy(new Error('The status line is not valid.')));
          Object.assign(answer, { statusCode: 502, statusMessage: '' });
        }
        // Node would wait for the body, but a head and a body that come together are sent as one.
        process.nextTick(() => {
          if (!answer.readableDidRead) response.flushHeaders();
        });
      },
      error(error, request) {
        const attempt = attempts.get(request);
        // A response that is complete still passes.
        if (attempt?.answer?.complete !== true)
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
    answer: null,
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
