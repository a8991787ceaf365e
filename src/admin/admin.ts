import type { IncomingMessage, RequestListener, Server } from 'node:http';
import {
  createServer as createTlsServer,
  type ServerOptions,
} from 'node:https';
import { ADMIN_HEADER, type Health } from '@storegate/admin-api';
import { type ServerMaterial, serverTls } from '@storegate/http1/tls';
import type { FindPage } from '@storegate/pages';
import express, {
  type NextFunction,
  type Request,
  type Response,
  Router,
} from 'express';
import { listen } from '../common/listen.ts';
import { HOUR } from '../common/time.ts';
import type { Config } from '../config/config.ts';
import type { Observe } from '../observe/events.ts';
import {
  expositionOf,
  OPEN_METRICS,
  prefersOpenMetrics,
  TEXT,
} from '../observe/exposition.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Readiness } from '../observe/peers/status.ts';
import { type AdminCode, AdminError, errorBody } from './admin-error.ts';
import { type AdminApi, createAdminApi, prepareAdminContract } from './api.ts';
import { consoleIsOff, consoleRoutes } from './console.ts';
import type { AdminContext } from './context.ts';
import { createGate, type Gate } from './gate.ts';
import { createSessions } from './sessions.ts';
import { sendStream } from './streaming.ts';

// Importing node:http loads undici, 14 MB.
const { createServer } = process.getBuiltinModule('node:http');

/** It shares no route with the public port. */
interface Admin {
  listen(fd?: number): Promise<number>;
  /** For commands in the data folder: each process that can connect is admitted as an admin. */
  readonly local: Server;
  /** Replaces certificates; whether it uses TLS is fixed at the start. */
  use(tls: ServerMaterial | null): void;
  close(): Promise<void>;
}

interface AdminOptions {
  readonly config: Config;
  /** `null`: plain HTTP. */
  readonly tls: ServerMaterial | null;
  readonly context: AdminContext;
  readonly metrics: Pick<Metrics, 'exemplars' | 'figures'>;
  readonly observe: Observe;
  readonly readiness: () => Readiness;
  readonly down: () => readonly string[];
  /** As this gateway sees itself. */
  readonly health: () => Promise<Health>;
  /** `null`: switched off. */
  readonly console: FindPage | null;
}

const MAX_BODY = '256kb';
const LIMITS = { requestTimeout: 30_000, headersTimeout: 10_000 };
/** Milliseconds for a handshake. */
const HANDSHAKE = 10_000;
/** Milliseconds until users must sign in again, even when active. */
const LONGEST_SESSION = 12 * HOUR;

/** Health needs no token; everything else does, see `createGate`. */
export function createAdmin(options: AdminOptions): Admin {
  const { config, context, metrics, observe, readiness, down, health } =
    options;
  const { console: find } = options;
  // Made at the first call: it reads the contract of the admin API.
  let made: AdminApi | null = null;
  const api = async () => {
    if (made === null) await prepareAdminContract();
    made ??= createAdminApi(context);
    return made;
  };
  const localRequests = new WeakSet<IncomingMessage>();
  const gate = createGate(config.admin, context.tokens, (request) =>
    localRequests.has(request),
  );
  const body = express.raw({
    type: () => true,
    limit: MAX_BODY,
    inflate: false,
  });
  const calls = [body, serveCall(api)];
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use((request, response, next) => {
    response.set({
      'X-Request-Id': crypto.randomUUID(),
      [ADMIN_HEADER]: 'admin',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    gate.checkOrigin(request);
    next();
  });
  // Without a token: only fixed words, no names.
  app.get('/health', async (_request, response) => {
    const { status, since, findings } = await health();
    response
      .status(status === 'down' ? 503 : 200)
      .json({ status, since, findings: findings.map(({ type }) => type) });
  });
  app.get(
    '/health/live',
    (_request, response) => void response.json({ status: 'live' }),
  );
  app.get('/health/ready', (_request, response) => {
    const status = readiness();
    const lacking = down();
    response
      .status(status === 'ready' ? 200 : 503)
      .json(lacking.length === 0 ? { status } : { status, down: lacking });
  });
  if (find) {
    const settings = () => context.config().console;
    const sessions = createSessions(
      () => ({ idle: settings().idleTimeout, longest: LONGEST_SESSION }),
      context.clock,
    );
    app.use(
      consoleRoutes({
        gate,
        sessions,
        settings,
        find,
        body,
        api: Router().use(...calls),
      }),
    );
  } else {
    app.use(consoleIsOff);
  }
  app.use(async (request, response, next) => {
    response.locals.operator = await gate.operator(request);
    next();
  });
  app.get('/metrics', async (request, response) => {
    const isOpen =
      metrics.exemplars && prefersOpenMetrics(request.get('Accept') ?? '');
    const type = isOpen ? OPEN_METRICS : TEXT;
    response
      .set('Content-Type', type)
      .send(await expositionOf(await metrics.figures(), type));
  });
  app.get('/openapi.json', async (_request, response) => {
    const { contract } = await api();
    response.type('application/json').send(contract.json);
  });
  app.use(...calls);
  app.use(
    (
      error: unknown,
      _request: Request,
      response: Response,
      _next: NextFunction,
    ) => {
      sendError(response, error, observe);
    },
  );
  const { server, use } = serverFor(options.tls, app);
  const local = createServer(LIMITS, (request, response) => {
    localRequests.add(request);
    app(request, response);
  });

  return {
    listen: (fd) => listen(server, { ...config.admin, fd }),
    local,
    use,
    async close() {
      await Promise.all([server, local].map(closed));
      await made?.close();
    },
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function serveCall(api: () => Promise<AdminApi>) {
  return async (request: Request, response: Response) => {
    const [path = '/', query = ''] = request.url.split(/\?(.*)/s);
    const { call } = await api();
    const result = await call({
      id: response.get('X-Request-Id')!,
      operator: response.locals.operator as Awaited<
        ReturnType<Gate['operator']>
      >,
      method: request.method,
      path,
      query,
      headers: request.rawHeaders,
      body:
        Buffer.isBuffer(request.body) && request.body.length > 0
          ? request.body
          : null,
    });
    if (result.stream)
      return await sendStream(
        request,
        response.set(result.headers ?? {}),
        result.stream,
      );
    response
      .status(result.status)
      .set(result.headers ?? {})
      .json(result.body);
  };
}

const INCOMPLETE = [
  'invalid_request',
  'The body did not arrive whole.',
] as const;
/** By the `type` of the errors of body-parser. */
const BODY_ERRORS: Readonly<Record<string, readonly [AdminCode, string]>> = {
  'entity.too.large': [
    'payload_too_large',
    `A body is at most ${MAX_BODY} large.`,
  ],
  'encoding.unsupported': [
    'unsupported_media_type',
    'Send the body without a Content-Encoding.',
  ],
  'request.aborted': INCOMPLETE,
  'request.size.invalid': INCOMPLETE,
};
const BUG = [
  'internal_error',
  'Something went wrong inside the gateway: see its log for the request id.',
] as const;

function sendError(
  response: Response,
  thrown: unknown,
  observe: Observe,
): void {
  const [code, message] =
    BODY_ERRORS[(thrown as { type?: string }).type ?? ''] ?? BUG;
  const error =
    thrown instanceof AdminError ? thrown : new AdminError(code, message);
  if (error.code === 'internal_error')
    observe({
      type: 'bug',
      id: response.get('X-Request-Id') ?? '',
      error: thrown,
    });
  if (response.headersSent) return;
  response.status(error.status).set(error.headers).json(errorBody(error));
}

/** `tls`: `null` for plain HTTP. */
function serverFor(
  tls: ServerMaterial | null,
  listener: RequestListener,
): { server: Server; use: Admin['use'] } {
  if (tls === null)
    return { server: createServer(LIMITS, listener), use: () => {} };
  let { usual, named } = serverTls(tls);
  const options: ServerOptions = {
    ...LIMITS,
    ...usual,
    handshakeTimeout: HANDSHAKE,
    ALPNProtocols: ['http/1.1'],
    SNICallback: (name, choose) => choose(null, named(name)),
    // Clients without a certificate fail in the handshake.
    requestCert: tls.clientCa !== null,
    rejectUnauthorized: true,
  };
  const server = createTlsServer(options, listener);
  return {
    server,
    use(next) {
      if (next === null) return;
      ({ usual, named } = serverTls(next));
      server.setSecureContext(usual);
    },
  };
}
