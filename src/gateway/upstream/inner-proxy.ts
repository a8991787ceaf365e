import type {
  IncomingMessage,
  ClientRequest as ProxyRequest,
  ServerResponse,
} from 'node:http';
import { createRequire } from 'node:module';
import { createPool, openerTo } from '@storegate/http1';
import { backendLabel } from '../../config/upstreams.ts';
import { type Timeouts, tunnelLimitsOf, tunnelsTo } from './pools.ts';
import {
  createTargetConnection,
  MOST_HEAD_BYTES,
  type TargetConnection,
} from './target-connection.ts';
import { soleUpstream, type Upstream } from './upstream.ts';

// Importing node:http loads undici, 14 MB.
const { createServer } = process.getBuiltinModule('node:http');

type ConnectionOf = (request: IncomingMessage) => TargetConnection;

/** No server has a reason to send more interim responses (RFC 9110 section 15.2). */
const MOST_INTERIM = 16;

/**
 * The server does not listen: the gateway calls it over pairs of streams, so one parser judges
 * every byte from outside. Each pair has a connection to the target of its own, so the pool applies
 * to a target what it applies to an upstream: deadlines, idle times, retries.
 */
export function createInnerProxy(target: string, timeouts: Timeouts): Upstream {
  const url = new URL(target);
  const connections = new WeakMap<object, TargetConnection>();
  const connectionOf: ConnectionOf = ({ socket }) => connections.get(socket)!;
  const proxy = createProxy(url, connectionOf);
  const server = createServer({
    maxHeaderSize: MOST_HEAD_BYTES,
    requestTimeout: 0,
    headersTimeout: 0,
  });
  server.maxHeadersCount = 0;
  server.on('clientError', (error, far) => connections.get(far)!.fail(error));
  server.on('request', (request, response) => {
    const connection = connectionOf(request);
    connection.begin(request, response);
    void proxy(request, response, (error) =>
      connection.fail(error as Error | undefined),
    );
  });
  const open = openerTo(url, { tunnels: true });
  const pool = createPool({
    ...tunnelLimitsOf(timeouts),
    host: url.host,
    basePath: url.pathname.replace(/\/$/, ''),
    open(receive, connected) {
      const connection = createTargetConnection({
        open,
        receive,
        connected(far) {
          connected();
          server.emit('connection', far);
        },
      });
      connections.set(connection.far, connection);
      return connection.near;
    },
  });
  return soleUpstream(backendLabel(target), pool, tunnelsTo(target, timeouts));
}

function createProxy({ host }: URL, connectionOf: ConnectionOf) {
  // Loaded here, because most gateways have no mount with a target.
  const { createProxyMiddleware } = createRequire(import.meta.url)(
    'http-proxy-middleware',
  ) as typeof import('http-proxy-middleware');
  return createProxyMiddleware<IncomingMessage, ServerResponse>({
    // The connection decides about TLS.
    target: `http://${host}`,
    router(request, _response, options) {
      options.agent = connectionOf(request).agent;
      return options.target!;
    },
    selfHandleResponse: true,
    // They write a log.
    ejectPlugins: true,
    plugins: [
      (events) => {
        events.on('proxyReq', (outgoing, request) => {
          const connection = connectionOf(request);
          connection.send(outgoing);
          listen(outgoing, connection);
        });
        events.on('proxyRes', (answer, request) => {
          const connection = connectionOf(request);
          try {
            connection.answered(answer);
          } catch (error) {
            // Node's parser accepts more than its server writes.
            connection.fail(error as Error);
          }
        });
        events.on('error', (error, request) =>
          connectionOf(request!).fail(error),
        );
      },
    ],
  });
}

/** To what the library does not listen to. */
function listen(outgoing: ProxyRequest, connection: TargetConnection): void {
  let interim = 0;
  outgoing.on('information', () => {
    if (++interim > MOST_INTERIM)
      connection.fail(new Error('There are too many interim answers.'));
  });
  outgoing.once('upgrade', () => {
    connection.fail(
      new Error('The response changes the protocol without a request.'),
    );
  });
}
